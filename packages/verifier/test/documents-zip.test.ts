import assert from "node:assert/strict";
import { Hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseEnvelope, readCustodyCertificate } from "@signsealship/evidence/envelope";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { verifyDocumentsZip } from "../src/files/documents-zip.ts";
import { createNodeCrypto } from "../src/node-crypto.ts";

const vectors = join(import.meta.dirname, "../../evidence/vectors/whole/custody");
const vector = (name: string) => Uint8Array.from(readFileSync(join(vectors, name)));
const certificate = vector("signed-by-two-certificate.pdf");
const document = vector("signed-by-two.pdf");
const other = Uint8Array.from(makePdf({ bytes: 2 * document.length, text: "Other" }));

/**
 * The files of a zip: two documents and several custody certificates. Each certificate differs from the others in one
 * byte of the comment at its start.
 */
const zipWith = (certificates: number) =>
  new Map([
    ["a.pdf", other],
    ["b.pdf", document],
    ...Array.from({ length: certificates }, (_, i) => {
      return [`c${i}.pdf`, certificate.with(12, 128 + i)] as const;
    }),
  ]);

const context = {
  trust: { sealAnchors: [], tsaAnchors: [] },
  at: Date.UTC(2026, 5, 1),
  crypto: createNodeCrypto(),
  doc: null,
  trustPath: null,
  tsaTrustPath: null,
};

test("each custody certificate of a zip is compared with its document", async () => {
  const { checks } = await verifyDocumentsZip(zipWith(2), "", context);
  const compared = checks.filter(({ claim, result }) => claim === "document_hash" && result === "holds");
  assert.deepEqual(
    compared.map(({ target }) => target),
    ["c0.pdf", "c1.pdf"],
  );
});

test("a custody certificate is compared with the signed document rather than with its notarized form", async () => {
  const custody = vector("a-document-with-another-letter-certificate.pdf");
  const notarized = vector("a-notarized-document-that-continues-the-signed-one.pdf");
  const { envelope } = await readCustodyCertificate(custody);
  const signed = notarized.slice(0, parseEnvelope(envelope ?? assert.fail()).document.bytes);
  const at = notarized.length - 10;
  const changed = notarized.with(at, (notarized[at] ?? 0) ^ 1);
  const files = new Map([
    ["a.pdf", changed],
    ["b.pdf", signed],
    ["c.pdf", custody],
  ]);
  const { checks } = await verifyDocumentsZip(files, "", context);
  const failing = new Set(checks.filter(({ result }) => result === "fails").map(({ target }) => target));
  assert.deepEqual([...failing], ["a.pdf"]);
});

test("each document of a zip is hashed once, however many custody certificates are compared with it", async (t) => {
  const { update } = Hash.prototype;
  let bytes = 0;
  t.mock.method(Hash.prototype, "update", function (this: Hash, data: string | Uint8Array) {
    if (typeof data !== "string" && data.buffer === other.buffer) bytes += data.byteLength;
    return update.call(this, data as string, "utf8");
  });
  const hashed = async (certificates: number) => {
    bytes = 0;
    await verifyDocumentsZip(zipWith(certificates), "", context);
    return bytes;
  };
  const [one, many] = [await hashed(1), await hashed(20)];
  assert.ok(one > other.length);
  assert.equal(many, one);
});
