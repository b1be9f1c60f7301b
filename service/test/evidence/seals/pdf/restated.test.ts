import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { verifyProof } from "@signsealship/evidence/seal";
import { parseCertificate } from "@signsealship/evidence/x509";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { pageCount } from "../../../../src/kernel/pdf/pages/page-count.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { memoryKey, selfSigned } from "../signers.ts";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
const objects = (...more: string[]): string =>
  [
    "%PDF-1.7",
    "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj",
    "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj",
    "3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R>>\nendobj",
    "4 0 obj\n<</Length 8>>\nstream\n0 0 m\nf\n\nendstream\nendobj",
    ...more,
    "",
  ].join("\n");
const TRAILER = "trailer\n<</Size 5/Root 1 0 R>>\n";
const broken = (...more: string[]): Buffer => latin1(`${objects(...more)}${TRAILER}startxref\n7\n%%EOF\n`);

const instant = new Date("2026-06-01T12:00:00Z");
async function sealer() {
  const key = memoryKey("p-256");
  const certificate = await selfSigned(key, instant.getTime());
  const chainPem = sealChainPem([certificate]);
  const identity = { key, chain: [certificate] as const, chainPem };
  const seal = createSealer({
    workers: inlineWorkers,
    random: systemRandom,
    identity,
    clock: () => instant,
    stamp: null,
  });
  return { seal, anchor: parseCertificate(certificate.der) };
}

describe("a document whose cross-reference can't be read", () => {
  test("is sealed with a table of all its objects, and its bytes stay unchanged", async () => {
    const { seal, anchor } = await sealer();
    const original = broken();
    const { bytes } = await seal({ bytes: original, reason: "Proof passport (test environment)" });
    assert.deepEqual(bytes.subarray(0, original.length), original);
    const tail = bytes.subarray(original.length).toString("latin1");
    assert.match(tail, /xref\n0 1\n0000000000 65535 f \n1 \d+\n/);
    assert.doesNotMatch(tail, /\/Prev/);
    const docSha256 = createHash("sha256").update(original).digest("hex");
    const trust = { sealAnchors: [anchor], tsaAnchors: [] };
    const verification = { crypto: createNodeCrypto(), detached: { docSha256 } };
    const { verdict, claims } = await verifyProof(bytes, trust, instant.getTime(), verification);
    assert.equal(verdict, "verified", JSON.stringify(claims.filter(({ state }) => state === "fails")));
    assert.ok(claims.some(({ name, state }) => name === "document_hash_as_expected" && state === "holds"));

    const twice = await seal({ bytes, reason: "Proof passport (test environment)" });
    assert.match(twice.bytes.subarray(bytes.length).toString("latin1"), /\/Prev/, "the next seal continues the table");
    assert.equal((await verifyProof(twice.bytes, trust, instant.getTime(), verification)).verdict, "not_verified");
    const second = { crypto: createNodeCrypto() };
    assert.equal((await verifyProof(twice.bytes, trust, instant.getTime(), second)).verdict, "verified");
  });

  test("is not verified once its table names another place, or lacks an object's header", async () => {
    const { seal, anchor } = await sealer();
    const original = broken();
    const { bytes } = await seal({ bytes: original, reason: "Proof passport (test environment)" });
    const place = String(original.indexOf("2 0 obj")).padStart(10, "0");
    const moved = latin1(bytes.toString("latin1").replace(`${place} 00000 n`, `${"1".padStart(10, "0")} 00000 n`));
    const trust = { sealAnchors: [anchor], tsaAnchors: [] };
    const { claims } = await verifyProof(moved, trust, instant.getTime(), { crypto: createNodeCrypto() });
    const failed = claims.filter(({ state }) => state === "fails").map(({ name }) => name);
    assert.ok(failed.includes("signature_structure") || failed.includes("pdf_readable"), failed.join());
  });

  test("has its pages counted", () => {
    assert.equal(pageCount(broken()), 1);
  });

  const accepted: [string, Buffer][] = [
    ["with no startxref", latin1(objects() + TRAILER)],
    ["with a table that is not one", latin1(`${objects()}xref\n0 9\nnothing\n${TRAILER}startxref\n400\n%%EOF`)],
    ["with no trailer and one catalog", latin1(objects())],
    ["with a trailer that can't be read", latin1(`${objects()}trailer\n<</Size 5/Root !>>\n`)],
    ["with words between its objects", broken("lost words", "5 0 obj\n(x)\nendobj")],
    ["with junk before its header", Buffer.concat([latin1("junk\n"), broken()])],
    ["cut behind its objects", makePdf().subarray(0, makePdf().indexOf("\nxref"))],
  ];
  for (const [what, document] of accepted)
    test(`is read ${what}`, () => {
      const { file, nextObject } = lookUpPdf(document);
      assert.ok(file.restated !== null && nextObject > file.restated.length);
    });

  const refused: [string, Buffer][] = [
    ["uses a number twice", broken("4 0 obj\n<<>>\nendobj")],
    [
      "has an object in the data of a stream",
      broken("5 0 obj\n<</Length 30>>\nstream\n9 0 obj\n()\nendobj\nendstream\nendobj"),
    ],
    ["has an object stream", broken("5 0 obj\n<</Type/ObjStm/N 0/First 0/Length 0>>\nstream\n\nendstream\nendobj")],
    ["has two trailers that differ", latin1(`${objects()}${TRAILER}trailer\n<</Root 2 0 R>>\n`)],
    ["has no trailer and two catalogs", latin1(objects("5 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj"))],
    ["has an object number 0", broken("0 0 obj\n<<>>\nendobj")],
    ["has a stream without an end", broken("5 0 obj\n<</Length 3>>\nstream\nabc")],
    [
      "is signed",
      latin1(
        objects(
          "5 0 obj\n<</Fields[6 0 R]>>\nendobj",
          "6 0 obj\n<</FT/Sig/T(a)/V<</ByteRange[0 1 2 3]/Contents<00>>>>>\nendobj",
        ).replace("/Pages 2 0 R>>", "/Pages 2 0 R/AcroForm 5 0 R>>") + TRAILER,
      ),
    ],
    ["lost the section of its last revision", Buffer.concat([makePdf(), latin1("90 0 obj\n<<>>\nendobj\n")])],
    [
      "has a section that knows of fewer objects",
      Buffer.concat([makePdf().subarray(0, -6), latin1("90 0 obj\n<<>>\nendobj\n")]),
    ],
  ];
  for (const [what, document] of refused)
    test(`is refused when it ${what}`, () => {
      assert.throws(
        () => lookUpPdf(document),
        (error) => error instanceof PdfRefusal && error.reason === "needs_repair",
      );
    });

  test("is refused as encrypted when it names an encryption", () => {
    const document = latin1(`${objects()}trailer\n<</Size 5/Root 1 0 R/Encrypt 5 0 R>>\n`);
    assert.throws(
      () => lookUpPdf(document),
      (error) => error instanceof PdfRefusal && error.reason === "encrypted",
    );
  });
});
