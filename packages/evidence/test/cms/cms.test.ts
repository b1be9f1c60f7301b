import assert from "node:assert/strict";
import { test } from "node:test";
import { OID } from "../../src/asn1/oid.ts";
import { encode, nullValue, octetString, oid, utcTime } from "../../src/asn1/writer.ts";
import { attributeValues, parseSignedData, signatureTimeStampTokens } from "../../src/cms/signed-data.ts";
import { verifySignerInfo } from "../../src/cms/verify.ts";
import type { HashName } from "../../src/crypto-port.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { cmsOver, testSigner } from "../signer.ts";
import { vector } from "../vector-cases.ts";
import { attribute, contentType, essV2, type Forgery, forgedCertificate, forgedCms, messageDigest } from "./forge.ts";

const port = createWebCrypto(crypto.subtle);
const content = new TextEncoder().encode("content");
const certificate = forgedCertificate();
const usual = [contentType(), messageDigest(content), essV2(certificate)];

async function verify(forgery: Partial<Forgery> = {}, expectedType?: string) {
  const signedData = parseSignedData(forgedCms({ content, certificate, ...forgery }));
  const [signerInfo] = signedData.signerInfos;
  assert.ok(signerInfo);
  return verifySignerInfo({
    signedData,
    signerInfo,
    contentDigest: (hash) => port.digest(hash, [content]),
    ...(expectedType === undefined ? {} : { contentType: expectedType }),
    crypto: port,
  });
}

async function failing(forgery: Partial<Forgery>, expectedType?: string): Promise<string[]> {
  const result = await verify(forgery, expectedType);
  assert.equal(result.valid, false);
  return result.claims.filter((claim) => claim.state === "fails").map((claim) => claim.name);
}

test("accepts a correct signature of the forger, so that each refusal below has one cause", async () => {
  assert.equal((await verify()).valid, true);
  assert.equal((await verify({ attributes: [...usual, attribute("1.2.3", nullValue)] })).valid, true);
});

test("refuses a signature whose hash is not the digest algorithm", async () => {
  assert.deepEqual(await failing({ signatureOid: OID.ecdsaWithSha384, signWith: "sha384" }), ["algorithms"]);
});

test("refuses an RSA signature under an elliptic curve certificate", async () => {
  assert.deepEqual(await failing({ signatureOid: OID.sha256WithRsa, signWith: "rsa" }), ["algorithms"]);
  assert.deepEqual(await failing({ signatureOid: OID.rsaEncryption, signWith: "rsa" }), ["algorithms"]);
});

test("refuses a digest algorithm that is unknown", async () => {
  assert.deepEqual(await failing({ digestOid: "1.2.3.4" }), ["algorithms"]);
});

test("refuses a signature by another key", async () => {
  assert.deepEqual(await failing({ signWith: "rsa" }), ["signature"]);
});

test("refuses signed attributes that are missing or occur twice", async () => {
  const [type, digest, ess] = usual;
  assert.ok(type && digest && ess);
  assert.deepEqual(await failing({ attributes: [type, ess] }), ["signedAttributes"]);
  assert.deepEqual(await failing({ attributes: [digest, ess] }), ["signedAttributes"]);
  assert.deepEqual(await failing({ attributes: [...usual, digest] }), ["signedAttributes"]);
  assert.deepEqual(await failing({ attributes: [...usual, contentType(OID.idCtTSTInfo)] }), ["signedAttributes"]);
  const twoValues = attribute(OID.idMessageDigest, octetString(new Uint8Array(32)), octetString(new Uint8Array(32)));
  assert.deepEqual(await failing({ attributes: [type, twoValues, ess] }), ["signedAttributes"]);
  const odd = attribute(OID.idMessageDigest, oid("1.2.3"));
  assert.deepEqual(await failing({ attributes: [type, odd, ess] }), ["signedAttributes"]);
});

test("refuses a content type that was not signed, or is not the expected one", async () => {
  const [, digest, ess] = usual;
  assert.ok(digest && ess);
  assert.deepEqual(await failing({ attributes: [contentType(OID.idCtTSTInfo), digest, ess] }), ["contentType"]);
  assert.deepEqual(await failing({}, OID.idCtTSTInfo), ["contentType"]);
  assert.deepEqual(await failing({ eContentType: OID.idCtTSTInfo, attributes: usual }), ["contentType"]);
});

test("refuses a signing-certificate attribute that names another certificate, is malformed, or occurs twice", async () => {
  const [type, digest, ess] = usual;
  assert.ok(type && digest && ess);
  const named = ["signingCertificate"];
  assert.deepEqual(await failing({ attributes: [type, digest] }), named);
  assert.deepEqual(await failing({ attributes: [type, digest, essV2(forgedCertificate({ subject: "Else" }))] }), named);
  assert.deepEqual(await failing({ attributes: [type, digest, ess, ess] }), named);
  const malformed = attribute(OID.idAaSigningCertificateV2, nullValue);
  assert.deepEqual(await failing({ attributes: [type, digest, malformed] }), named);
});

test("refuses two certificates with the same name and number", async () => {
  const sameName = forgedCertificate({ subject: "Twin" });
  assert.deepEqual(await failing({ certificates: [certificate, sameName] }), ["signerCertificate"]);
  assert.deepEqual(await failing({ certificates: [sameName, certificate] }), ["signerCertificate"]);
  assert.equal((await verify({ certificates: [certificate, certificate] })).valid, true);
});

test("reports the signing time and does not rely on it", async () => {
  const at = Date.UTC(2025, 4, 6);
  assert.equal((await verify({ attributes: [...usual, attribute(OID.idSigningTime, utcTime(at))] })).signingTime, at);
  assert.equal((await verify({ attributes: [...usual, attribute(OID.idSigningTime, nullValue)] })).signingTime, null);
});

test("changing any octet of the signed attributes or the signature breaks it", async () => {
  const bytes = vector("cms/p256.der");
  const message = vector("cms/message.txt");
  const whole = parseSignedData(bytes).signerInfos[0];
  assert.ok(whole?.signedAttrsDer);
  const start = Buffer.from(bytes).indexOf(whole.signedAttrsDer.subarray(1));
  for (let position = start; position < bytes.length; position++) {
    const changed = bytes.slice();
    changed[position] = (changed[position] ?? 0) ^ 1;
    const valid = await validity(changed, message);
    assert.equal(valid, false, `octet ${position}`);
  }
});

async function validity(bytes: Uint8Array, message: Uint8Array): Promise<boolean> {
  try {
    const signedData = parseSignedData(bytes);
    const [signerInfo] = signedData.signerInfos;
    const contentDigest = (hash: HashName) => port.digest(hash, [message]);
    return (
      signerInfo !== undefined &&
      (await verifySignerInfo({ signedData, signerInfo, contentDigest, crypto: port })).valid
    );
  } catch (error) {
    assert.equal(error instanceof Error && error.name, "EvidenceError");
    return false;
  }
}

test("reads a padded signature, and refuses padding other than zeros", () => {
  const bytes = vector("cms/p256.der");
  const padded = Uint8Array.of(...bytes, 0, 0, 0);
  assert.equal(parseSignedData(padded, { trailing: "zeros" }).encodedLength, bytes.length);
  assert.throws(() => parseSignedData(padded), { code: "der" });
  assert.throws(() => parseSignedData(Uint8Array.of(...bytes, 0, 1), { trailing: "zeros" }), { code: "cms" });
});

test("limits the number of signers that it reads", () => {
  assert.equal(parseSignedData(forgedCms({ content, certificate, signers: 32 })).signerInfos.length, 32);
  assert.throws(() => parseSignedData(forgedCms({ content, certificate, signers: 33 })), { code: "limit" });
});

test("refuses content that is not SignedData", () => {
  assert.throws(() => parseSignedData(vector("x509/root.der")), { name: "EvidenceError" });
  assert.throws(() => parseSignedData(Uint8Array.of(0x30, 0)), { code: "cms" });
});

test("finds attributes by type over all their occurrences", () => {
  const values = [Uint8Array.of(5, 0)];
  assert.equal(
    attributeValues(
      [
        { type: "1.2", values },
        { type: "1.3", values },
        { type: "1.2", values },
      ],
      "1.2",
    ).length,
    2,
  );
  const [signerInfo] = parseSignedData(vector("cms/p256.der")).signerInfos;
  assert.ok(signerInfo);
  const stamped = { ...signerInfo, unsignedAttrs: [{ type: OID.idAaTimeStampToken, values }] };
  assert.deepEqual(signatureTimeStampTokens(stamped), values);
});

test("accepts ECDSA only without parameters", async () => {
  const signer = testSigner("seal");
  const digest = await port.digest("SHA-256", [content]);
  const holds = async (nullParameters: boolean) => {
    const signedData = parseSignedData(cmsOver(digest, signer, { nullParameters }));
    const [signerInfo] = signedData.signerInfos;
    assert.ok(signerInfo);
    const { claims } = await verifySignerInfo({ signedData, signerInfo, contentDigest: () => digest, crypto: port });
    return claims.find(({ name }) => name === "algorithms")?.state;
  };
  assert.equal(await holds(false), "holds");
  assert.equal(await holds(true), "fails");
});

test("does not read a CMS with a certificate whose two algorithms differ, even if it is not used", async () => {
  const odd = forgedCertificate();
  const [ecdsa, rsa] = [OID.ecdsaWithSha256, OID.ecdsaWithSha384].map((one) => Buffer.from(encode(oid(one))));
  assert.ok(ecdsa && rsa);
  const at = Buffer.from(odd).lastIndexOf(ecdsa);
  const changed = Uint8Array.from(Buffer.concat([odd.subarray(0, at), rsa, odd.subarray(at + ecdsa.length)]));
  const read = (other: Uint8Array) =>
    parseSignedData(forgedCms({ content, certificate, certificates: [certificate, other] }));
  assert.equal(read(odd).certificates.length, 2);
  assert.throws(() => read(changed), { code: "x509" });
});
