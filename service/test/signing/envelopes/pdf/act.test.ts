import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { buildManifest } from "@signsealship/evidence/manifest";
import { roomDocumentClaim, sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { snapshot } from "../../../../../packages/evidence/test/manifest/manifests.ts";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import type { PlannedField } from "../../../../src/signing/envelopes/pdf/fields.ts";
import { UnfitField } from "../../../../src/signing/envelopes/pdf/prepare.ts";
import { mutoolOpens, pdfsig, qpdfAccepts, run } from "../../../evidence/seals/pdf/oracles.ts";
import { memoryKey, selfSigned } from "../../../evidence/seals/signers.ts";
import { inkOn, penInk } from "./pixels.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "act-"));

const signing = await openSigning();
after(() => rmSync(folder, { recursive: true }));

const place = (x: number, y: number, width = 180, height = 48) => ({ x, y, width, height });
const at = (bytes: Buffer, name: string) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

const twoSigners: PlannedField[] = [
  { kind: "signature", signer: 1, page: 0, place: place(72, 600) },
  { kind: "date", signer: 1, page: 0, place: place(72, 660, 120, 20) },
  { kind: "signature", signer: 2, page: 1, place: place(320, 600) },
  { kind: "name", signer: 2, page: 1, place: place(320, 660, 180, 20) },
  { kind: "signature", signer: 1, page: 1, place: place(72, 600) },
];
const jane = { name: "Jane Doe", values: { date: "2026-01-15" } };
const drawn = {
  kind: "drawn",
  width: 300,
  height: 100,
  strokes: [
    [
      [10, 80],
      [90, 10],
      [160, 90],
    ],
    [[200, 50]],
  ],
} as const;

async function signedByTwo() {
  const original = makePdf({ pages: 2 });
  const { bytes, fields } = await signing.prepare(original, twoSigners, ["Jane Doe", "王小明"]);
  const first = await signing.act(bytes, fields, 1, { ...jane, mark: drawn });
  const second = await signing.act(first, fields, 2, { name: "王小明", values: { name: "王小明" } });
  return { original, bytes, fields, first, second };
}

async function sealed(bytes: Buffer) {
  const key = memoryKey("p-256");
  const certificate = await selfSigned(key, Date.now());
  const identity = { key, chain: [certificate], chainPem: "" } as const;
  const clock = () => new Date();
  const seal = createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp: null });
  return { certificate, bytes: (await seal({ bytes, reason: sealReasons.proof.test })).bytes };
}

test("a closing's manifest that lists an original calls no state of its signing changed", async () => {
  const { original, bytes, first, second } = await signedByTwo();
  const originalSha256 = hash("sha256", original);
  const documents = [{ orderCode: "a".repeat(40), label: null, status: "EsignPending", originalSha256 }];
  const manifests = [buildManifest(snapshot({ documents }))];
  const stateOf = async (file: Uint8Array) => {
    const trust = { sealAnchors: [], tsaAnchors: [] };
    const verification = await verifyProof(file, trust, Date.now(), { crypto: createNodeCrypto() });
    return (await roomDocumentClaim(file, verification, { manifests, unnamed: "It is not listed." })).state;
  };
  assert.equal(await stateOf(original), "holds");
  for (const state of [bytes, first, second]) assert.equal(await stateOf(state), "unchecked");
  const painted = Buffer.from(appendRevision(original.toString("latin1"), [[9, "<< >>"]]), "latin1");
  assert.equal(await stateOf(painted), "fails");
});

test(
  "two signers' acts stay valid for pyHanko, pdfsig, mutool and qpdf, also after the seal",
  needs("pyhanko", "poppler", "mupdf", "qpdf"),
  async () => {
    const { original, bytes, first, second } = await signedByTwo();
    for (const earlier of [original, bytes, first]) assert.ok(second.subarray(0, earlier.length).equals(earlier));
    const { certificate, bytes: whole } = await sealed(second);
    for (const [name, file, acts] of [
      ["acts.pdf", second, [false, true]],
      ["sealed.pdf", whole, [false, false, true]],
    ] as const) {
      const path = at(file, name);
      assert.deepEqual(
        await pdfsig(path),
        acts.map((isLast) => ({ valid: true, whole: isLast })),
      );
      assert.ok(await mutoolOpens(path));
      assert.ok(await qpdfAccepts(path));
      const [answer] = askPyHanko([{ judge: file }]);
      assert.deepEqual(
        answer?.signatures?.map(({ permitted }) => permitted),
        acts.map(() => true),
        JSON.stringify(answer),
      );
    }
    const trust = { sealAnchors: [certificate], tsaAnchors: [] };
    const verdict = await verifyProof(whole, trust, Date.now(), { crypto: createNodeCrypto() });
    assert.equal(verdict.verdict, "verified");
    assert.equal(verdict.earlierSignatures.length, 2);
    for (const { claims, laterChanges } of verdict.earlierSignatures) {
      assert.ok(
        claims.every(({ state }) => state === "holds"),
        JSON.stringify(claims),
      );
      assert.ok(laterChanges === "forms" || laterChanges === "signatures" || laterChanges === "validation");
    }
  },
);

test(
  "signed content is locked: a date that is rewritten later breaks the signature, for pyHanko and for us",
  needs("pyhanko"),
  async () => {
    const { fields, second } = await signedByTwo();
    const date = fields.find(({ kind }) => kind === "date");
    assert.ok(date);
    const body = bodyOf(second.toString("latin1"), date.object).replace(/\/V \(2026-01-15\)/, "/V (2025-12-31)");
    assert.match(body, /2025-12-31/);
    const changed = Buffer.from(appendRevision(second.toString("latin1"), [[date.object, body]]), "latin1");
    const [answer] = askPyHanko([{ judge: changed }]);
    assert.equal(answer?.signatures?.[0]?.permitted, false, JSON.stringify(answer));
    await assert.rejects(
      sealed(changed),
      /changed the field "SignSealShip-[0-9a-f]+-1-2-date", which the signature locks/,
    );
  },
);

/** A document whose page has further entries. */
const pageWith = (entries: string): Buffer =>
  Buffer.from(
    appendRevision(makePdf().toString("latin1"), [
      [5, bodyOf(makePdf().toString("latin1"), 5).replace(/>>\s*$/, `${entries}>>`)],
    ]),
    "latin1",
  );

for (const rotate of [0, 90, 180, 270])
  test(
    `a picture is upright, and transparent where it has no color: /Rotate ${rotate}`,
    needs("mupdf", "poppler"),
    async () => {
      const wanted = place(20, 30, 100, 40);
      const planned = [wanted, place(20, 100, 100, 40)].map(
        (one): PlannedField => ({ kind: "signature", signer: 1, page: 0, place: one }),
      );
      const { bytes, fields } = await signing.prepare(pageWith(`/Rotate ${rotate}/CropBox [36 72 500 700]`), planned, [
        "J",
      ]);
      // Dark blue ink in the upper left quarter. Everything else is transparent red, which must stay invisible.
      const [width, height] = [100, 30];
      const isInk = (pixel: number) => pixel % width < width / 2 && pixel < (width * height) / 2;
      const all = Array.from({ length: width * height }, (_, pixel) => isInk(pixel));
      const rgb = Uint8Array.from(all.flatMap((ink) => (ink ? [16, 48, 122] : [255, 0, 0])));
      const mark = {
        kind: "uploaded",
        width,
        height,
        rgb,
        alpha: Uint8Array.from(all, (ink) => (ink ? 255 : 0)),
      } as const;
      const signed = await signing.act(bytes, fields, 1, { name: "J", mark });
      assert.equal(
        signed.toString("latin1").split("/Subtype/Image").length - 1,
        2,
        "one picture and its mask, shown twice",
      );
      const path = at(signed, `picture${rotate}.pdf`);
      assert.deepEqual((await inkOn(path, (r, g) => r > 200 && g < 100))[2], 0);
      // The ink is lightened, so that text below it stays readable.
      const lightened = (r: number, g: number, b: number) => r < 110 && g < 130 && b > 150;
      const [left = 0, top = 0, right = 0, bottom = 0] = await inkOn(path, lightened);
      assert.ok(Math.abs(left - 20) < 2 && Math.abs(right - 70) < 2, `${left} to ${right}`);
      assert.ok(Math.abs(top - 30) < 3 && Math.abs(bottom - 115) < 4, `${top} to ${bottom}`);
      assert.deepEqual(await pdfsig(path), [{ valid: true, whole: true }]);
      assert.ok(await mutoolOpens(path));
    },
  );

for (const rotate of [0, 90, 180, 270, -90])
  for (const more of ["", "/CropBox [36 72 500 700]", "/UserUnit 2", "/CropBox [-10 -10 400 300]/UserUnit 0.5"])
    test(`a mark is at its requested place: /Rotate ${rotate} ${more}`, needs("mupdf", "poppler"), async () => {
      const original = pageWith(`/Rotate ${rotate}${more}`);
      const wanted = place(20, 30, 100, 40);
      const { bytes, fields } = await signing.prepare(
        original,
        [{ kind: "signature", signer: 1, page: 0, place: wanted }],
        ["J"],
      );
      // The drawing is scaled to the height of the area above the caption. With this aspect ratio, it then has the full
      // width of its place.
      const frame = {
        kind: "drawn",
        width: 100,
        height: 30,
        strokes: [
          [
            [1, 1],
            [99, 1],
            [99, 29],
            [1, 29],
            [1, 1],
          ],
        ],
      } as const;
      const path = at(await signing.act(bytes, fields, 1, { name: "J", mark: frame }), `turned${rotate}.pdf`);
      const [left = 0, top = 0, right = 0, bottom = 0] = await inkOn(path, penInk);
      assert.ok(Math.abs(left - 20) < 3 && Math.abs(right - 120) < 3, `${left} to ${right}`);
      assert.ok(Math.abs(top - 30) < 4 && bottom > 55 && bottom <= 71, `${top} to ${bottom}`);
      assert.deepEqual(await pdfsig(path), [{ valid: true, whole: true }]);
    });

for (const rotate of [0, 90, 180, 270])
  for (const more of ["", "/CropBox [36 72 500 700]", "/UserUnit 2", "/CropBox [-10 -10 400 300]/UserUnit 0.5"])
    test(
      `an empty place is within half a point of its request: /Rotate ${rotate} ${more}`,
      needs("mupdf"),
      async () => {
        const { bytes } = await signing.prepare(
          pageWith(`/Rotate ${rotate}${more}`),
          [
            { kind: "text", signer: 1, page: 0, place: place(20.3, 30.6, 100, 40), label: "Parcel" },
            { kind: "signature", signer: 1, page: 0, place: place(20, 100, 100, 40) },
          ],
          ["J"],
        );
        const border = await inkOn(at(bytes, `place${rotate}.pdf`), (r, _, b) => r < 200 && r - b > 60, 2);
        for (const [side, wanted] of [20.3, 30.6, 120.3, 70.6].entries())
          assert.ok(Math.abs((border[side] ?? 0) - wanted) <= 0.5, `the border is at ${border.join(", ")}`);
      },
    );

test(
  "every sample document is signed and its earlier signatures stay as valid as they were, or it is refused by name",
  needs("pyhanko", "poppler"),
  async () => {
    const judge: { name: string; before: Buffer; after: Buffer }[] = [];
    for (const { name } of zooFiles()) {
      const original = zooBytes(name);
      try {
        const planned: PlannedField[] = [{ kind: "signature", signer: 1, page: 0, place: place(5, 5, 40, 20) }];
        const { bytes, fields } = await signing.prepare(original, planned, ["Zoë"]);
        judge.push({ name, before: original, after: await signing.act(bytes, fields, 1, { name: "Zoë" }) });
      } catch (error) {
        assert.ok(error instanceof PdfRefusal || error instanceof UnfitField, `${name}: ${error}`);
      }
    }
    assert.ok(judge.length > 80, String(judge.length));
    for (const { name, before, after: signed } of judge) {
      const [earlier, now] = [await pdfsig(at(before, `before-${name}`)), await pdfsig(at(signed, name))];
      assert.equal(now.length, earlier.length + 1, name);
      assert.ok(
        now.every(({ valid }, index) => valid || earlier[index]?.valid === false),
        name,
      );
    }
  },
);

test("a field that is on no page is named", async () => {
  const planned = (page: number, x: number): PlannedField[] => [
    { kind: "signature", signer: 1, page, place: place(x, 600) },
  ];
  await assert.rejects(
    signing.prepare(makePdf(), planned(0, 600), ["Jane"]),
    (error) => error instanceof UnfitField && error.field === 0 && /612 by 792/.test(error.message),
  );
  await assert.rejects(signing.prepare(makePdf(), planned(3, 10), ["Jane"]), /page 4 of a document with one page/);
});

test("prepared places are named by number, because a signer may still be replaced", needs("poppler"), async () => {
  const textOf = async (names: string[], planned: readonly PlannedField[] = []) => {
    const { bytes } = await signing.prepare(makePdf(), planned, names);
    return Buffer.from((await run("pdftotext", [at(bytes, "waiting.pdf"), "-"])).output, "latin1").toString();
  };
  const two = await textOf(["Jane Doe", "Ada"]);
  for (const n of [1, 2]) assert.ok(two.includes(`Signature, signer ${n}`), two);
  assert.doesNotMatch(two, /Jane|Ada/);
  const place = { x: 20, y: 20, width: 200, height: 40 };
  const alone = await textOf(["Jane Doe"], [{ kind: "signature", signer: 1, page: 0, place, label: "签名" }]);
  assert.match(alone, /签名/);
  assert.doesNotMatch(alone, /signer|Jane/);
});

test(
  "without a place, each of ten signers gets one on a page that is added to the end",
  needs("pyhanko", "poppler", "qpdf"),
  async () => {
    const names = ["Jane Doe", "王小明", "Zoë Łuczak", "محمد علي", "Иван Петров", "Ada", "Bo", "Cy", "Di", "Eve"];
    const { bytes, fields } = await signing.prepare(makePdf({ pages: 2 }), [], names);
    let signed: Buffer = bytes;
    for (const [index, name] of names.entries())
      signed = await signing.act(signed, fields, index + 1, { name, values: { date: "2026-01-15" } });
    const path = at(signed, "ten.pdf");
    assert.match((await run("pdfinfo", [path])).output, /Pages:\s+3/);
    assert.ok(await qpdfAccepts(path));
    const text = Buffer.from((await run("pdftotext", ["-f", "3", path, "-"])).output, "latin1").toString();
    for (const name of ["Jane Doe", "王小明", "Zoë Łuczak", "Иван Петров"]) assert.ok(text.includes(name), name);
    const signatures = await pdfsig(path);
    assert.deepEqual([signatures.length, signatures.every(({ valid }) => valid)], [10, true]);
    const [answer] = askPyHanko([{ judge: signed }]);
    assert.ok(
      answer?.signatures?.every(({ permitted }) => permitted),
      JSON.stringify(answer),
    );
    if (process.env["KEEP"]) writeFileSync(process.env["KEEP"], signed);
  },
);

test("a signed document accepts signatures, but no text fields; a certified one accepts no field", async () => {
  const text: PlannedField[] = [{ kind: "date", signer: 1, page: 0, place: place(5, 5, 40, 20) }];
  await assert.rejects(signing.prepare(zooBytes("signed-once.pdf"), text, ["J"]), /is signed, and allows no new text/);
  const signature: PlannedField[] = [{ kind: "signature", signer: 1, page: 0, place: place(5, 5, 40, 20) }];
  await assert.rejects(signing.prepare(zooBytes("certified-p2.pdf"), signature, ["J"]), /is certified/);
  await assert.rejects(signing.prepare(zooBytes("signed-once.pdf"), [], ["J"]), /allows no new pages/);
});

test("a signature page has room for ten signers, and gets no more", async () => {
  await assert.rejects(signing.prepare(makePdf(), [], Array(11).fill("J")), /room for 10 signers, not 11/);
});

test("a field can be filled only once", async () => {
  const { fields, first } = await signedByTwo();
  await assert.rejects(signing.act(first, fields, 1, jane), /is filled already/);
});
