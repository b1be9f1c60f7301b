import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import fc from "fast-check";
import {
  completeSeal,
  type PreparedSeal,
  prepareSeal,
  ReserveTooSmall,
  sealPdf,
} from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";

const at = new Date("2026-03-04T05:06:07.890Z");
const sha256 = (...parts: Buffer[]) => parts.reduce((hash, part) => hash.update(part), createHash("sha256"));

describe("a seal", () => {
  test("returns the digests of the original, of the covered bytes and of the whole", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 1, max: 600 }),
        fc.uint8Array({ maxLength: 600 }),
        fc.constantFrom("table", "stream"),
        (pages, bytes, reserve, cms, kind) => {
          fc.pre(cms.length <= reserve);
          const original = kind === "table" ? makePdf({ pages, bytes }) : zooBytes("catalog-in-object-stream.pdf");
          const prepared = prepareSeal({ original, at, reserve });
          const { docSha256, sealedSha256, tail, byteRange } = completeSeal(prepared, cms);
          const sealed = Buffer.concat([original, tail]);
          const [, length, second, rest] = byteRange;
          const covered = [sealed.subarray(0, length), sealed.subarray(second, second + rest)];
          assert.equal(second + rest, sealed.length);
          assert.equal(docSha256, sha256(original).digest("hex"));
          assert.equal(sealedSha256, sha256(sealed).digest("hex"));
          assert.deepEqual(prepared.messageDigest, sha256(...covered).digest());
          const contents = sealed.toString("latin1", length, second);
          assert.equal(
            contents,
            `<${Buffer.from(cms)
              .toString("hex")
              .padEnd(2 * reserve, "0")}>`,
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  test("states in its dictionary the time, the sealer, the reason, and the length of the original", () => {
    const original = makePdf({ pages: 2 });
    const { tail } = prepareSeal({ original, at, reserve: 16, name: "A (b) \\", reason: "Prüfung €" });
    const text = tail.toString("latin1");
    assert.ok(text.includes("/SubFilter/ETSI.CAdES.detached"));
    assert.ok(text.includes("/M(D:20260304050607Z)"));
    assert.ok(text.includes("/Name(A \\(b\\) \\\\)"));
    assert.ok(text.includes("/Reason<FEFF0050007200fc00660075006e0067002020ac>"));
    assert.ok(text.includes(`/SSSOriginalLength ${original.length}/`));
  });

  test("omits a name or reason that was not given", () => {
    const text = prepareSeal({ original: makePdf(), at, reserve: 16 }).tail.toString("latin1");
    assert.ok(!/\/Name|\/Reason/.test(text));
  });

  test("accepts a hash state of the original, and leaves it unchanged", () => {
    const original = makePdf({ pages: 2 });
    const docHash = createHash("sha256").update(original);
    const given = completeSeal(prepareSeal({ original, docHash, at, reserve: 16 }), Buffer.from([1]));
    const own = completeSeal(prepareSeal({ original, at, reserve: 16 }), Buffer.from([1]));
    assert.deepEqual(given, own);
    assert.equal(docHash.digest("hex"), own.docSha256);
  });

  test("requests the signature over the message digest, at once or later", async () => {
    const original = makePdf();
    const asked: Buffer[] = [];
    const sign = ({ messageDigest }: PreparedSeal) => {
      asked.push(messageDigest);
      return Buffer.from([0xab]);
    };
    const now = await sealPdf({ original, at, reserve: 16, sign });
    const later = await sealPdf({ original, at, reserve: 16, sign: async (prepared) => sign(prepared) });
    assert.deepEqual(now, later);
    const { messageDigest } = prepareSeal({ original, at, reserve: 16 });
    assert.deepEqual(asked, [messageDigest, messageDigest]);
  });

  test("is not made when the CMS is longer than its place, and reports the needed length", async () => {
    const request = { original: makePdf(), at, reserve: 16 };
    const fits = await sealPdf({ ...request, sign: () => new Uint8Array(16) });
    assert.equal(fits.docSha256.length, 64);
    await assert.rejects(
      sealPdf({ ...request, sign: () => new Uint8Array(17) }),
      (error) => error instanceof ReserveTooSmall && error.needed === 17,
    );
  });

  test("passes on the signer's error", async () => {
    const failure = new Error("the key is gone");
    const sign = () => {
      throw failure;
    };
    await assert.rejects(sealPdf({ original: makePdf(), at, reserve: 16, sign }), failure);
  });

  test("of 34 MB needs no copy of the original", () => {
    const original = makePdf({ bytes: 34_000_000 });
    const before = process.memoryUsage().arrayBuffers;
    completeSeal(prepareSeal({ original, at, reserve: 8192 }), Buffer.alloc(2000));
    assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
  });
});

describe("the appended revision", () => {
  const revision = (name: string) => {
    const original = zooBytes(name);
    const { tail } = prepareSeal({ original, at, reserve: 16 });
    return { text: tail.toString("latin1"), look: lookUpPdf(Buffer.concat([original, tail])) };
  };

  test("begins with a line break only if the original does not end in one", () => {
    assert.ok(revision("no-final-newline.pdf").text.startsWith("\n"));
    assert.ok(/^\d+ 0 obj/.test(revision("gs.pdf").text));
  });

  test("has a cross-reference of the same kind as the original's newest", () => {
    assert.ok(revision("gs.pdf").text.includes("\nxref\n"));
    assert.ok(revision("hybrid.pdf").text.includes("\nxref\n"));
    assert.ok(!revision("hybrid.pdf").text.includes("/XRefStm"));
    assert.ok(revision("incremental-mixed.pdf").text.includes("/Type/XRef"));
    assert.ok(!revision("incremental-mixed.pdf").text.includes("\nxref\n"));
  });

  test("keeps Root, Info and the first ID, and changes the second", () => {
    const { text, look } = revision("gs.pdf");
    const before = lookUpPdf(zooBytes("gs.pdf"));
    assert.deepEqual(look.info, before.info);
    assert.notEqual(look.info, null);
    assert.deepEqual(look.root.ref, before.root.ref);
    const id = (value: typeof before) =>
      value.firstId?.bytes.toString("latin1", value.firstId.start, value.firstId.end);
    assert.equal(id(look), id(before));
    assert.match(text, /\/ID\[<[0-9A-F]{32}><[0-9a-f]{32}>\]/);
  });

  test("keeps every other entry of the form", () => {
    for (const name of ["form-direct.pdf", "form-indirect.pdf", "form-indirect-arrays.pdf", "hybrid.pdf"]) {
      const keys = [...(lookUpPdf(zooBytes(name)).acroForm?.dict.entries.keys() ?? [])];
      const after = [...(revision(name).look.acroForm?.dict.entries.keys() ?? [])];
      assert.deepEqual(new Set(after), new Set([...keys, "SigFlags"]), name);
    }
  });

  test("leaves the form's dictionary unchanged when only its Fields array changes", () => {
    const sealed = Buffer.concat([
      zooBytes("form-indirect-arrays.pdf"),
      prepareSeal({ original: zooBytes("form-indirect-arrays.pdf"), at, reserve: 16 }).tail,
    ]);
    const { num } = lookUpPdf(sealed).acroForm?.ref ?? { num: 0 };
    assert.ok(!prepareSeal({ original: sealed, at, reserve: 16 }).tail.includes(`\n${num} 0 obj`));
  });

  test("changes an array that is both Annots and Fields only once", () => {
    assert.equal(revision("form-shared-array.pdf").text.match(/^8 0 obj$/gm)?.length, 1);
  });

  test("gives the field a unique name in every seal", () => {
    const original = makePdf();
    const once = Buffer.concat([original, prepareSeal({ original, at, reserve: 16 }).tail]);
    const twice = prepareSeal({ original: once, at, reserve: 16 }).tail;
    const names = [
      ...Buffer.concat([once, twice])
        .toString("latin1")
        .matchAll(/\/T\((SignSealShip-Seal-[0-9a-f]{32})\)/g),
    ];
    assert.equal(new Set(names.map(([, name]) => name)).size, 2);
  });
});
