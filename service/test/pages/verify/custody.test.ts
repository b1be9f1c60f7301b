import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEnvelope, readCustodyCertificate } from "@signsealship/evidence/envelope";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { wholeCases, wholeFile } from "../../../../packages/evidence/test/whole-cases.ts";
import { render } from "../../../src/pages/ui/render.ts";
import { checkFiles } from "../../../src/pages/verify/browser/check.ts";
import type { NamedBytes } from "../../../src/pages/verify/browser/files.ts";
import type { ProofOutcome } from "../../../src/pages/verify/browser/outcome.ts";
import { bannerOf } from "../../../src/pages/verify/browser/outcome-banner.ts";
import { outcomesView } from "../../../src/pages/verify/browser/outcome-view.ts";

const notarizedCase =
  wholeCases.find(({ name }) => name === "a notarized document that continues the signed one") ?? assert.fail();
const pem = (files: readonly string[]) => files.map((file) => Buffer.from(wholeFile(file)).toString()).join("");
const custodyFile = (name: string): Uint8Array => Uint8Array.from(wholeFile(`custody/${name}.pdf`));

const certificate = { name: "certificate.pdf", bytes: custodyFile("a-document-with-another-letter-certificate") };
const notarized = {
  name: "notarized.pdf",
  bytes: custodyFile("a-notarized-document-that-continues-the-signed-one"),
};
const changed = { name: "changed.pdf", bytes: custodyFile("a-document-with-another-letter") };
const { envelope } = await readCustodyCertificate(certificate.bytes);
const { bytes: signedLength } = parseEnvelope(envelope ?? assert.fail()).document;
const signed = { name: "signed.pdf", bytes: notarized.bytes.slice(0, signedLength) };
const another = {
  document: { name: "another.pdf", bytes: custodyFile("signed-by-two") },
  certificate: { name: "another certificate.pdf", bytes: custodyFile("signed-by-two-certificate") },
};

async function check(files: readonly NamedBytes[], sealCertificates = pem(notarizedCase.trust)) {
  const outcomes = await checkFiles({
    files: files.map((file) => ({ ...file })),
    config: { sealCertificates, firm: null, proof: null, closing: null },
    trust: { seal: "", timeStamping: pem(notarizedCase.tsaTrust) },
    at: Date.parse(notarizedCase.at),
    subtle: crypto.subtle,
  });
  return (name: string): ProofOutcome => {
    const outcome = outcomes.find((one) => one.kind === "proof" && one.name === name);
    return outcome?.kind === "proof" ? outcome : assert.fail(name);
  };
}
const titleOf = (outcome: ProofOutcome) => bannerOf(outcome).title;
const failed = "This document failed the check";
const unmatched = "This certificate is unchanged, but its document does not match";

test("a changed document fails, and its custody certificate is unchanged and names that document", async () => {
  const of = await check([certificate, changed]);
  assert.equal(titleOf(of("changed.pdf")), failed);
  const card = of("certificate.pdf");
  assert.equal(titleOf(card), unmatched);
  assert.match(bannerOf(card).text, /“changed\.pdf” is not the document that it names/);
  assert.doesNotMatch(render(outcomesView([card])), /Not confirmed/);
});

test("among several documents, the changed one is found by its length", async () => {
  const of = await check([certificate, changed, another.certificate, another.document]);
  assert.match(bannerOf(of("certificate.pdf")).text, /“changed\.pdf”/);
  assert.equal(of("another certificate.pdf").verdict, "verified");
  const plain = { name: "plain.pdf", bytes: Uint8Array.from(makePdf({ text: "Terms" })) };
  const without = await check([certificate, another.certificate, another.document, plain]);
  assert.equal(without("certificate.pdf").verdict, "verified");
});

test("a custody certificate that is itself changed, incomplete or of an unknown sealer is not called unchanged", async () => {
  const flipped = { ...certificate, bytes: certificate.bytes.with(12, certificate.bytes[12] === 128 ? 129 : 128) };
  const incomplete = { ...certificate, bytes: custodyFile("an-act-left-out-certificate") };
  for (const bad of [flipped, incomplete]) {
    const of = await check([bad, changed]);
    assert.equal(titleOf(of("certificate.pdf")), failed);
  }
  const untrusted = await check([certificate, changed], "");
  assert.equal(titleOf(untrusted("certificate.pdf")), failed);
});

test("finds the custody certificate of a signed document and of its notarized form, in any order", async () => {
  for (const files of [
    [certificate, signed, notarized],
    [notarized, signed, certificate],
  ]) {
    const of = await check(files);
    for (const name of ["signed.pdf", "notarized.pdf"]) {
      assert.equal(of(name).hasCustody, true, name);
      assert.doesNotMatch(render(outcomesView([of(name)])), /Choose the custody certificate/);
    }
  }
  const alone = await check([signed]);
  assert.match(render(outcomesView([alone("signed.pdf")])), /Choose the custody certificate/);
});

test("calls only documents genuine that the service wrote", async () => {
  const outcome = (await check([signed, certificate]))("signed.pdf");
  const titleFor = (kind: NonNullable<ProofOutcome["purpose"]>["kind"]) =>
    titleOf({ ...outcome, purpose: { kind, environment: "live" } });
  const unchanged = "This document is unchanged since it was sealed";
  for (const kind of ["proof", "signed", "notarized", "signed_elsewhere", "notarized_elsewhere"] as const)
    assert.equal(titleFor(kind), unchanged, kind);
  for (const kind of ["journal", "receipt"] as const) assert.equal(titleFor(kind), "This document is genuine", kind);
});

test("compares a custody certificate with the signed document rather than with a changed notarized one", async () => {
  const at = notarized.bytes.length - 10;
  const tampered = { ...notarized, bytes: notarized.bytes.with(at, (notarized.bytes[at] ?? 0) ^ 1) };
  const of = await check([tampered, signed, certificate]);
  assert.equal(of("notarized.pdf").verdict, "not_verified");
  assert.deepEqual([of("certificate.pdf").verdict, of("signed.pdf").hasCustody], ["verified", true]);
});

test("hashes a document as often with many custody certificates of different lengths as with one", async (t) => {
  const other = { name: "other.pdf", bytes: Uint8Array.from(makePdf({ bytes: 200_000, text: "Other" })) };
  const names = new Set(
    wholeCases.flatMap(({ kind, files }) => (kind === "custody_set" ? [files["certificate"]].flat() : [])),
  );
  const certificates = [...names].flatMap((name) =>
    name === undefined ? [] : [{ name, bytes: Uint8Array.from(wholeFile(name)) }],
  );
  const { digest } = crypto.subtle;
  let hashed = 0;
  t.mock.method(crypto.subtle, "digest", (algorithm: "SHA-256", data: Uint8Array<ArrayBuffer>) => {
    if (data.buffer === other.bytes.buffer && data.byteOffset === other.bytes.byteOffset) hashed++;
    return digest.call(crypto.subtle, algorithm, data);
  });
  const digests = async (files: readonly NamedBytes[]) => {
    hashed = 0;
    await check([...files, signed, other]);
    return hashed;
  };
  const [one, many] = [await digests([certificate]), await digests(certificates)];
  assert.ok(one > 0 && certificates.length > 20);
  assert.equal(many, one);
});
