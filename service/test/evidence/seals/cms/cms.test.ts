import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { OID } from "@signsealship/evidence/asn1";
import {
  attributeValues,
  parseSignedData,
  signatureTimeStampTokens,
  verifySignerInfo,
} from "@signsealship/evidence/cms";
import { startKms } from "@signsealship/testing/doubles/kms";
import { startSoftHsm } from "@signsealship/testing/tools/softhsm";
import { needs, type ToolName } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import { createCmsSigner } from "../../../../src/evidence/seals/cms/cms.ts";
import type { SealPlace } from "../../../../src/evidence/seals/cms/signed-data.ts";
import { openSealKey } from "../../../../src/evidence/seals/keys/open-seal-key.ts";
import type { SealKey } from "../../../../src/evidence/seals/keys/seal-key.ts";
import { memoryKey, selfSigned } from "../signers.ts";

const folder = mkdtempSync(join(tmpdir(), "cms-build-"));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
after(async () => {
  for (const close of closing.reverse()) await close();
});

async function keyInToken(): Promise<SealKey> {
  const hsm = startSoftHsm();
  process.env.SOFTHSM2_CONF = hsm.configPath;
  hsm.addKey("rsa", "01", "rsa-3072");
  const key = await openSealKey(`pkcs11:object=rsa?module-path=${hsm.modulePath}&pin-value=${hsm.pin}`);
  closing.push(hsm.close, () => key.close());
  return key;
}

async function keyInKms(kind: "RSA_3072" | "ECC_NIST_P256"): Promise<SealKey> {
  const kms = await startKms();
  const uri = `awskms:///${kms.addKey(kind).keyId}?region=eu-west-1&endpoint=${kms.url}`;
  const key = await openSealKey(uri, { awsCredentials: kms.credentials });
  closing.push(kms.close, () => key.close());
  return key;
}

const p256 = memoryKey("p-256");

const content = Buffer.from("the bytes that a ByteRange covers");
const digest = createHash("sha256").update(content).digest();
const place: SealPlace = { messageDigest: digest, byteRange: [0, 1000, 9000, 700], originalLength: 900 };

/** Verifies a CMS over the content with openssl; throws if it fails. */
function opensslVerifies(cms: Uint8Array, certificatePem: string, message: Uint8Array = content): void {
  const [file, contentFile, trust] = ["cms", "content", "trust"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, cms);
  writeFileSync(contentFile, message);
  writeFileSync(trust, certificatePem);
  const input = ["-inform", "DER", "-in", file, "-content", contentFile, "-CAfile", trust, "-purpose", "any"];
  execFileSync("openssl", ["cms", "-verify", "-binary", "-cades", ...input], { stdio: "pipe" });
}

const keys: [string, ToolName[], () => SealKey | Promise<SealKey>][] = [
  ["an RSA-3072 file key", ["openssl"], () => memoryKey("rsa")],
  ["a P-256 file key", ["openssl"], () => p256],
  ["an RSA-3072 key in a token", ["openssl", "softhsm"], keyInToken],
  ["a P-256 key in KMS", ["openssl"], () => keyInKms("ECC_NIST_P256")],
  ["an RSA-3072 key in KMS", ["openssl"], () => keyInKms("RSA_3072")],
];
for (const [name, tools, open] of keys) {
  test(`openssl verifies a seal by ${name}, and refuses it for other bytes`, needs(...tools), async () => {
    const key = await open();
    const certificate = await selfSigned(key, Date.now());
    const signer = createCmsSigner({ key, chain: [certificate] });
    const cms = (await signer.sign(place)).cms();
    opensslVerifies(cms, sealChainPem([certificate]));
    assert.throws(
      () => opensslVerifies(cms, sealChainPem([certificate]), Buffer.from("other")),
      /digest failure|verif/i,
    );
    assert.ok(cms.length <= signer.maxLength());
  });
}

const certificate = await selfSigned(p256);
const signer = createCmsSigner({ key: p256, chain: [certificate] });

test("signs exactly content type, message digest, signing-certificate-v2 and the seal's place, and no signing time", async () => {
  const signedData = parseSignedData((await signer.sign(place)).cms());
  const [signerInfo] = signedData.signerInfos;
  assert.ok(signerInfo?.signedAttrs);
  assert.deepEqual(
    new Set(signerInfo.signedAttrs.map((attribute) => attribute.type)),
    new Set([OID.idContentType, OID.idMessageDigest, OID.idAaSigningCertificateV2, OID.sealStatement]),
  );
  assert.deepEqual(signerInfo.unsignedAttrs, []);
  assert.equal(signedData.eContent, null);
  assert.deepEqual(attributeValues(signerInfo.signedAttrs, OID.idMessageDigest), [
    new Uint8Array(Buffer.concat([Buffer.from("0420", "hex"), digest])),
  ]);
});

test("every claim of the evidence package about the signer holds", async () => {
  const crypto = createNodeCrypto();
  const signedData = parseSignedData((await signer.sign(place)).cms());
  const [signerInfo] = signedData.signerInfos;
  assert.ok(signerInfo);
  const contentDigest = () => digest;
  const outcome = await verifySignerInfo({ signedData, signerInfo, contentDigest, contentType: OID.idData, crypto });
  assert.deepEqual(
    outcome.claims.filter((claim) => claim.state !== "holds"),
    [],
  );
});

test("any first byte of the digest leaves the attributes in DER's order", async () => {
  for (const first of [0x00, 0x7f, 0x80, 0xff]) {
    const other = Uint8Array.from(digest);
    other[0] = first;
    const { signerInfos } = parseSignedData((await signer.sign({ ...place, messageDigest: other })).cms());
    const encodings = (signerInfos[0]?.signedAttrs ?? []).map((attribute) => attribute.values.length);
    assert.equal(encodings.length, 4);
    assert.deepEqual(attributeValues(signerInfos[0]?.signedAttrs ?? [], OID.idMessageDigest)[0]?.subarray(2), other);
  }
});

test("contains the whole chain, in the order of its bytes", async () => {
  const another = await selfSigned(memoryKey("p-256"));
  const both = createCmsSigner({ key: p256, chain: [certificate, another] });
  const { certificates } = parseSignedData((await both.sign(place)).cms());
  assert.equal(certificates.length, 2);
  for (const one of [certificate, another])
    assert.ok(certificates.some((found) => Buffer.from(found.der).equals(one.der)));
});

test("adds a token as the only unsigned attribute and changes nothing else", needs("openssl"), async () => {
  const seal = await signer.sign(place);
  const token = seal.cms();
  const [without, within] = [parseSignedData(seal.cms()), parseSignedData(seal.cms(token))];
  const [signerInfo] = within.signerInfos;
  assert.ok(signerInfo);
  assert.deepEqual(signatureTimeStampTokens(signerInfo), [new Uint8Array(token)]);
  assert.deepEqual({ ...signerInfo, unsignedAttrs: [] }, without.signerInfos[0]);
  assert.deepEqual(signerInfo.signature, new Uint8Array(seal.signature));
  assert.ok(seal.cms(token).length <= signer.maxLength(token.length));
  opensslVerifies(seal.cms(token), sealChainPem([certificate]));
});

test("refuses a digest that is not 32 bytes", async () => {
  await assert.rejects(signer.sign({ ...place, messageDigest: new Uint8Array(20) }), RangeError);
});
