import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import type { EvidenceCrypto } from "../../src/crypto-port.ts";
import { sealReasons } from "../../src/seal/purpose.ts";
import { type ProofTrust, type ProofVerification, verifyProof } from "../../src/seal/verify-proof.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { cmsOver, testSigner, tokenOver } from "../signer.ts";
import { appendRevision, bodyOf, bytesOf, latin1, type SignOptions, signPdf } from "./signed-pdf.ts";

const seal = testSigner("seal");
const tsa = testSigner("tsa");
const stranger = testSigner("stranger");
const crypto: EvidenceCrypto = createWebCrypto(globalThis.crypto.subtle);
const at = Date.UTC(2026, 5, 1);
const stampedAt = Date.UTC(2026, 0, 2);
const trust: ProofTrust = { sealAnchors: [seal.certificate], tsaAnchors: [tsa.certificate] };
const noTrust: ProofTrust = { sealAnchors: [], tsaAnchors: [] };
const original = Uint8Array.from(makePdf({ text: "Contract" }));
const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const stamp = (signature: Uint8Array) => tokenOver(signature, tsa, stampedAt);
const sealed = (options: Partial<SignOptions> = {}, document: Uint8Array = original) =>
  signPdf(document, { signer: seal, ...options });
const state = (result: ProofVerification, name: string) => result.claims.find((one) => one.name === name)?.state;
const failing = (result: ProofVerification) =>
  result.claims.filter((one) => one.state === "fails").map((one) => one.name);

test("verifies a stamped seal and names both hashes", async () => {
  const bytes = sealed({ stamp });
  const result = await verifyProof(bytes, trust, at, { crypto });
  assert.equal(result.verdict, "verified");
  assert.deepEqual([...new Set(result.claims.map((one) => one.state))], ["holds"]);
  assert.equal(result.sealedSha256, hex(bytes));
  assert.equal(result.docSha256, hex(original));
  assert.equal(result.seal?.pades.level, "B-T");
  assert.equal(result.seal?.provenTime, stampedAt);
  assert.deepEqual(result.earlierSignatures, []);
  assert.ok(result.statement.proven.length >= 5);
  assert.deepEqual(result.statement.attested, []);
});

test("verifies a seal without a time stamp and calls its time attested", async () => {
  const result = await verifyProof(sealed(), trust, at, { crypto });
  assert.equal(result.verdict, "verified");
  assert.equal(state(result, "time_stamp_valid"), "unchecked");
  assert.equal(result.seal?.pades.level, "B-B");
  assert.equal(result.statement.attested.length, 2);
});

test("counts a line feed before the seal to the tail, not to the document", async () => {
  const bare = original.subarray(0, original.length - 1);
  const result = await verifyProof(sealed({}, bare), trust, at, { crypto });
  assert.equal(result.verdict, "verified");
  assert.equal(result.docSha256, hex(bare));
});

test("without trusted certificates a seal is intact and never verified", async () => {
  const result = await verifyProof(sealed({ stamp }), noTrust, at, { crypto });
  assert.equal(result.verdict, "intact");
  assert.equal(state(result, "seal_certificate_trusted"), "unchecked");
  assert.equal(state(result, "time_stamp_valid"), "unchecked");
  assert.equal(result.seal?.provenTime, null);
});

test("a seal that states no purpose, or an unknown one, is intact and never verified", async () => {
  for (const reason of [null, "", "Proof passport ", "proof passport", "Something else"]) {
    const result = await verifyProof(sealed({ reason }), trust, at, { crypto });
    assert.equal(result.verdict, "intact", String(reason));
    assert.equal(state(result, "seal_purpose"), "fails");
  }
  for (const { live, test } of Object.values(sealReasons)) {
    for (const reason of [live, test]) {
      assert.equal((await verifyProof(sealed({ reason }), trust, at, { crypto })).verdict, "verified", reason);
    }
  }
});

test("refuses a seal by a certificate that is not trusted", async () => {
  const result = await verifyProof(sealed({ signer: stranger }), trust, at, { crypto });
  assert.equal(result.verdict, "not_verified");
  assert.deepEqual(failing(result), ["seal_certificate_trusted"]);
});

test("judges the certificate at the proven time, or else at the instant given", async () => {
  const later = Date.UTC(2036, 0, 1);
  assert.equal((await verifyProof(sealed({ stamp }), trust, at, { crypto })).verdict, "verified");
  const brief = testSigner("seal", Date.UTC(2025, 0, 1), Date.UTC(2026, 2, 1));
  const briefTrust = { ...trust, sealAnchors: [brief.certificate] };
  const stamped = signPdf(original, { signer: brief, stamp });
  assert.equal((await verifyProof(stamped, briefTrust, at, { crypto })).verdict, "verified");
  const unstamped = await verifyProof(signPdf(original, { signer: brief }), briefTrust, at, { crypto });
  assert.equal(unstamped.verdict, "not_verified");
  assert.ok(failing(unstamped).includes("seal_certificate_valid_at_time"));
  assert.equal((await verifyProof(sealed(), trust, later, { crypto })).verdict, "not_verified");
});

test("both claims accept a certificate through the whole second that its notAfter names", async () => {
  const end = Date.UTC(2026, 2, 1);
  const brief = testSigner("seal", Date.UTC(2025, 0, 1), end);
  const briefTrust = { ...trust, sealAnchors: [brief.certificate] };
  const both = async (instant: number) => {
    const result = await verifyProof(signPdf(original, { signer: brief }), briefTrust, instant, { crypto });
    return [state(result, "seal_certificate_valid_at_time"), state(result, "seal_certificate_trusted")];
  };
  assert.deepEqual(await both(end + 999), ["holds", "holds"]);
  assert.deepEqual(await both(end + 1000), ["fails", "unchecked"]);
});

test("refuses a seal whose time stamp is over something else, or by a certificate without the usage", async () => {
  const wrong = { stamp: () => tokenOver(Uint8Array.of(1), tsa, stampedAt) };
  const unfit = { stamp: (signature: Uint8Array) => tokenOver(signature, stranger, stampedAt) };
  const untrusted = { stamp: (signature: Uint8Array) => tokenOver(signature, testSigner("tsa"), stampedAt) };
  const broken = { stamp: (signature: Uint8Array) => stamp(signature).subarray(0, 200) };
  for (const options of [wrong, unfit, untrusted]) {
    const result = await verifyProof(sealed(options), trust, at, { crypto });
    assert.equal(result.verdict, "not_verified");
    assert.ok(failing(result).includes("time_stamp_valid"), JSON.stringify(result.claims));
  }
  assert.notEqual((await verifyProof(sealed(broken), trust, at, { crypto })).verdict, "verified");
});

test("refuses signatures that are weaker than the PAdES baseline", async () => {
  for (const options of [
    { subFilter: "adbe.pkcs7.detached" },
    { subFilter: "adbe.x509.rsa_sha1" },
    { withoutSigningCertificate: true },
    { signingTime: stampedAt },
  ]) {
    const result = await verifyProof(sealed(options), trust, at, { crypto });
    assert.equal(result.verdict, "not_verified", JSON.stringify(options));
    assert.ok(failing(result).includes("seal_signature_valid"));
  }
});

test("accepts no foreign signature as a seal, leaves the document's hash unchecked there, and refuses a wrong length", async () => {
  const foreign = await verifyProof(sealed({ originalLength: "absent" }), trust, at, { crypto });
  assert.equal(foreign.verdict, "not_verified");
  assert.deepEqual(failing(foreign), ["signature_structure", "seal_place", "seal_purpose"]);
  assert.equal(foreign.docSha256, null);
  assert.equal(state(foreign, "original_document_hash"), "unchecked");
  for (const originalLength of [0, 1, original.length - 2, original.length + 1, 9_999_999]) {
    const result = await verifyProof(sealed({ originalLength }), trust, at, { crypto });
    assert.equal(result.verdict, "not_verified", String(originalLength));
    assert.deepEqual(failing(result), ["original_document_hash"]);
    assert.equal(result.docSha256, null);
  }
});

test("compares the expected hashes, and a detached token and proof", async () => {
  const bytes = sealed({ stamp });
  const right = { sealedSha256: hex(bytes), docSha256: hex(original) };
  const good = await verifyProof(bytes, trust, at, { crypto, detached: right });
  assert.equal(good.verdict, "verified");
  assert.equal(state(good, "sealed_hash_as_expected"), "holds");
  assert.equal(state(good, "document_hash_as_expected"), "holds");
  for (const beside of [
    { ...right, sealedSha256: hex(original) },
    { ...right, docSha256: hex(bytes) },
  ]) {
    assert.equal((await verifyProof(bytes, trust, at, { crypto, detached: beside })).verdict, "not_verified");
  }
  const digest = Uint8Array.from(Buffer.from(hex(bytes), "hex"));
  const overFile = tokenOver(bytes, tsa, stampedAt);
  const overSignature = stamp(good.seal?.pades.signatureValue ?? new Uint8Array(0));
  for (const timeStampToken of [overFile, overSignature]) {
    const result = await verifyProof(bytes, trust, at, { crypto, detached: { timeStampToken } });
    assert.equal(state(result, "separate_time_stamp_valid"), "holds");
  }
  for (const timeStampToken of [tokenOver(digest, tsa, stampedAt), overFile.subarray(0, 99)]) {
    const result = await verifyProof(bytes, trust, at, { crypto, detached: { timeStampToken } });
    assert.equal(result.verdict, "not_verified");
  }
  const notAProof = await verifyProof(bytes, trust, at, { crypto, detached: { otsProof: Uint8Array.of(1, 2) } });
  assert.deepEqual(failing(notAProof), ["anchored_in_block"]);
});

test("reports a PDF without signatures as unsigned, and other files as not a PDF", async () => {
  assert.equal((await verifyProof(original, trust, at, { crypto })).verdict, "unsigned");
  assert.equal((await verifyProof(new Uint8Array(0), trust, at, { crypto })).verdict, "not_a_pdf");
  assert.equal((await verifyProof(bytesOf("hello"), trust, at, { crypto })).verdict, "not_a_pdf");
  const broken = await verifyProof(bytesOf("%PDF-1.7\nhello"), trust, at, { crypto });
  assert.equal(broken.verdict, "not_verified");
  assert.deepEqual(failing(broken), ["pdf_readable"]);
});

test("lists earlier signatures, each over its own revision", async () => {
  const once = signPdf(original, { signer: stranger, originalLength: "absent" });
  const result = await verifyProof(sealed({}, once), trust, at, { crypto });
  assert.equal(result.verdict, "verified");
  assert.equal(result.docSha256, hex(once));
  const [earlier] = result.earlierSignatures;
  assert.equal(earlier?.revisionEnd, once.length);
  assert.equal(earlier?.laterChanges, "signatures");
  assert.deepEqual(
    earlier?.claims.map((one) => one.state),
    ["holds", "holds", "holds"],
  );
});

test("reads earlier PKCS#7 signatures and document time stamps, and accepts neither as a seal", async () => {
  const pkcs7 = { signer: stranger, originalLength: "absent", subFilter: "adbe.pkcs7.detached" } as const;
  const contents = (signed: Uint8Array) => tokenOver(signed, tsa, stampedAt);
  const stampOnly = { signer: tsa, originalLength: "absent", subFilter: "ETSI.RFC3161", contents } as const;
  const wrongStamp = { ...stampOnly, contents: () => tokenOver(original, tsa, stampedAt) };
  const cases = [
    [{ ...pkcs7, withoutSigningCertificate: true }, "pkcs7", "holds"],
    [stampOnly, "document-time-stamp", "holds"],
    [wrongStamp, "document-time-stamp", "fails"],
    [{ ...pkcs7, subFilter: "adbe.x509.rsa_sha1" }, "x509-rsa-sha1", "unchecked"],
    [{ ...pkcs7, subFilter: "adbe.pkcs7.sha1" }, "pkcs7-sha1", "unchecked"],
    [{ ...pkcs7, subFilter: "none.such" }, "unknown", "fails"],
  ] as const;
  for (const [options, format, expected] of cases) {
    const once = signPdf(original, options);
    const alone = await verifyProof(once, { ...trust, sealAnchors: [stranger.certificate] }, at, { crypto });
    assert.equal(alone.verdict, "not_verified", format);
    const result = await verifyProof(sealed({}, once), trust, at, { crypto });
    assert.equal(result.verdict, "verified", format);
    assert.equal(result.earlierSignatures[0]?.pades?.format, format);
    assert.equal(result.earlierSignatures[0]?.claims[1]?.state, expected, format);
  }
});

test("verifies an earlier signature over the content itself, and does not accept it as PAdES", async () => {
  const bare = (content: Uint8Array) =>
    cmsOver(createHash("sha256").update(content).digest(), stranger, { bare: content });
  const signed = (subFilter: string, contents: (content: Uint8Array) => Uint8Array) =>
    signPdf(original, { signer: stranger, originalLength: "absent", subFilter, contents });
  const valid = async (once: Uint8Array) => {
    const result = await verifyProof(sealed({}, once), trust, at, { crypto });
    assert.equal(result.verdict, "verified");
    return result.earlierSignatures[0]?.claims[1]?.state;
  };
  assert.equal(await valid(signed("adbe.pkcs7.detached", bare)), "holds");
  assert.equal(await valid(signed("adbe.pkcs7.detached", () => bare(original))), "fails");
  assert.equal(await valid(signed("ETSI.CAdES.detached", bare)), "fails");
});

test("reports an earlier signature that depends on SHA-1 as old, and does not judge it", async () => {
  for (const subFilter of ["adbe.pkcs7.detached", "ETSI.CAdES.detached"]) {
    const once = signPdf(original, { signer: stranger, originalLength: "absent", subFilter, sha1: true });
    const result = await verifyProof(sealed({}, once), trust, at, { crypto });
    const claim = result.earlierSignatures[0]?.claims.find(({ name }) => name === "signature_valid");
    assert.equal(claim?.state, "unchecked");
    assert.match(claim?.why ?? "", /SHA-1, which is old/);
  }
  assert.equal((await verifyProof(sealed({ sha1: true }), trust, at, { crypto })).verdict, "not_verified");
});

test("names a document time stamp over the whole file as such, and does not report the document as changed", async () => {
  const contents = (signed: Uint8Array) => tokenOver(signed, tsa, stampedAt);
  const stampOver = (document: Uint8Array, make = contents) =>
    signPdf(document, { signer: tsa, originalLength: "absent", subFilter: "ETSI.RFC3161", contents: make });
  for (const document of [original, sealed()]) {
    const result = await verifyProof(stampOver(document), trust, at, { crypto });
    assert.equal(result.verdict, "not_verified");
    const unchanged = result.claims.find(({ name }) => name === "document_unchanged_since_seal");
    assert.equal(unchanged?.state, "unchecked");
    assert.match(unchanged?.why ?? "", /document time stamp/);
    assert.equal(state(result, "seal_signature_valid"), "fails");
    assert.equal(result.seal?.pades.certificate, null);
  }
  const wrong = await verifyProof(
    stampOver(original, () => contents(original)),
    trust,
    at,
    { crypto },
  );
  assert.equal(state(wrong, "document_unchanged_since_seal"), "fails");
});

test("fails by name when there are more signatures than it judges", async () => {
  let once: Uint8Array = original;
  for (let count = 0; count < 64; count++) {
    once = signPdf(once, { signer: stranger, originalLength: "absent", reserve: 1024 });
  }
  const withField = /\/AcroForm << .*? >>/s;
  const emptied = bytesOf(appendRevision(latin1(once), [[1, bodyOf(latin1(once), 1).replace(withField, "")]]));
  for (const [document, name] of [
    [once, "pdf_readable"],
    [signPdf(emptied, { signer: stranger, originalLength: "absent", reserve: 1024 }), "certification_respected"],
  ] as const) {
    const result = await verifyProof(sealed({}, document), trust, at, { crypto });
    assert.equal(result.verdict, "not_verified");
    assert.deepEqual(failing(result), [name]);
    assert.match(result.claims.find((one) => one.name === name)?.why ?? "", /more than 64 signatures/);
  }
});

test("reports the changes between an earlier signature and the seal", async () => {
  const once = signPdf(original, { signer: stranger, originalLength: "absent" });
  const changed = bytesOf(appendRevision(latin1(once), [[3, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"]]));
  const result = await verifyProof(sealed({}, changed), trust, at, { crypto });
  assert.equal(result.earlierSignatures[0]?.laterChanges, "other");
  assert.equal(result.earlierSignatures[0]?.claims.at(-1)?.state, "fails");
  assert.equal(result.verdict, "verified");
  const broken = bytesOf(latin1(once).replace("(Contract 1 of 1)", "(Contrast 1 of 1)"));
  const overBroken = await verifyProof(sealed({}, broken), trust, at, { crypto });
  assert.equal(overBroken.earlierSignatures[0]?.claims[1]?.state, "fails");
});

test("refuses a seal over a certified document that was changed more than its certification allows", async () => {
  const page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>";
  for (const certify of [1, 2, 3] as const) {
    const certified = signPdf(original, { signer: stranger, originalLength: "absent", certify });
    const result = await verifyProof(sealed({}, certified), trust, at, { crypto });
    assert.equal(result.verdict, certify === 1 ? "not_verified" : "verified", `P ${certify}`);
    assert.equal(result.earlierSignatures[0]?.docMdp, certify);
    const visible = await verifyProof(sealed({ visible: true }, certified), trust, at, { crypto });
    assert.equal(visible.verdict, certify === 3 ? "verified" : "not_verified", `P ${certify}`);
    const changed = bytesOf(appendRevision(latin1(certified), [[5, page]]));
    const overChanged = await verifyProof(sealed({}, changed), trust, at, { crypto });
    assert.equal(overChanged.verdict, "not_verified");
    assert.ok(failing(overChanged).includes("certification_respected"));
  }
});

test("reads an earlier signature in BER, and accepts none as a seal", async () => {
  const contents = (signed: Uint8Array) => {
    const value = cmsOver(createHash("sha256").update(signed).digest(), stranger);
    return Uint8Array.from([0x30, 0x80, ...value.subarray(4), 0, 0]);
  };
  const once = signPdf(original, { signer: stranger, originalLength: "absent", contents });
  const alone = await verifyProof(once, { ...trust, sealAnchors: [stranger.certificate] }, at, { crypto });
  assert.deepEqual([alone.verdict, ...failing(alone)], ["not_verified", "whole_file_covered"]);
  for (const result of [alone, await verifyProof(sealed({}, once), trust, at, { crypto })]) {
    const states = result.earlierSignatures[0]?.claims.map((one) => one.state);
    assert.deepEqual(states, ["holds", "holds", "holds"]);
  }
});
