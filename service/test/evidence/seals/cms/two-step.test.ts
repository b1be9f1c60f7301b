import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes, webcrypto } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { contentOf, fieldsOf, readDer } from "@signsealship/evidence/asn1";
import { parseSignedData, signatureTimeStampTokens } from "@signsealship/evidence/cms";
import { needs } from "@signsealship/testing/tools/tools";
import { makeSealCertificate, sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import {
  assembleCms,
  createCmsSigner,
  maxCmsLength,
  signedAttributesOf,
  verifySignedAttributes,
} from "../../../../src/evidence/seals/cms/cms.ts";
import type { SealPlace } from "../../../../src/evidence/seals/cms/signed-data.ts";
import { issueSignerCertificate } from "../../../../src/signing/envelopes/envelopes.ts";
import { makeSignerAuthority } from "../../../../src/signing/envelopes/signer-authority.ts";
import { memoryKey, memoryRoot } from "../signers.ts";

const folder = mkdtempSync(join(tmpdir(), "two-step-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const content = Buffer.from("the bytes that a ByteRange covers");
const messageDigest = createHash("sha256").update(content).digest();
const place: SealPlace = { messageDigest, byteRange: [0, 1000, 9000, 700], originalLength: 900 };

const root = await memoryRoot(Date.now());
const made = { key: memoryKey("p-256"), host: "sign.example", serialNumber: randomBytes(16), at: Date.now() };
const authority = await makeSignerAuthority(root, made);

/**
 * A key like one that a browser creates, with a certificate of the signers' authority. WebCrypto's ECDSA signatures are
 * r followed by s, not DER.
 */
async function browserKey() {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { publicKey, privateKey } = await webcrypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const chain = await issueSignerCertificate(authority, {
    name: "Jane Doe",
    environment: "live",
    publicKey: new Uint8Array(await webcrypto.subtle.exportKey("spki", publicKey)),
    statement: "https://sign.example/signers",
    crl: "https://sign.example/seal/crl/0.crl",
    serialNumber: randomBytes(16),
    at: Date.now(),
  });
  const sign = async (data: Uint8Array<ArrayBuffer>) =>
    new Uint8Array(await webcrypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, data));
  return { chain, sign };
}

const bytes = (data: Uint8Array) => Uint8Array.from(data);

function opensslVerifies(cms: Uint8Array): void {
  const [file, contentFile, trust] = ["cms", "content", "root"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, cms);
  writeFileSync(contentFile, content);
  writeFileSync(trust, sealChainPem(root.chain));
  const input = ["-inform", "DER", "-in", file, "-content", contentFile, "-CAfile", trust];
  execFileSync("openssl", ["cms", "-verify", "-binary", "-cades", "-purpose", "smimesign", ...input], {
    stdio: "pipe",
  });
}

test("a browser signs the attributes, and openssl verifies the CMS with the root alone", needs("openssl"), async () => {
  // Half of all ECDSA signatures have an s above half of the curve's order. The test makes several signatures, so that
  // both kinds are likely to occur.
  for (let i = 0; i < 8; i++) {
    const { chain, sign } = await browserKey();
    const signedAttrs = signedAttributesOf({ chain, place });
    const signature = await sign(bytes(signedAttrs));
    assert.equal(signature.length, 64);
    const value = verifySignedAttributes({ chain, signedAttrs, signature });
    assert.ok(value);
    const cms = assembleCms({ chain, signedAttrs, signature });
    opensslVerifies(cms);
    assert.ok(cms.length <= maxCmsLength(chain));
    assert.deepEqual(assembleCms({ chain, signedAttrs, signature: value }), cms);
    const [signerInfo] = parseSignedData(cms).signerInfos;
    assert.deepEqual(signerInfo?.signature, new Uint8Array(value));
    const fields = fieldsOf(readDer(value), "cms");
    fields.next("r");
    const s = Buffer.from(contentOf(fields.next("s"))).toString("hex");
    assert.ok(BigInt(`0x${s}`) <= 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n / 2n);
  }
});

test("a token fits around the same signature", async () => {
  const { chain, sign } = await browserKey();
  const signedAttrs = signedAttributesOf({ chain, place });
  const signed = { chain, signedAttrs, signature: await sign(bytes(signedAttrs)) };
  const token = assembleCms(signed);
  const [signerInfo] = parseSignedData(assembleCms({ ...signed, token })).signerInfos;
  assert.ok(signerInfo);
  assert.deepEqual(signatureTimeStampTokens(signerInfo), [new Uint8Array(token)]);
  assert.ok(assembleCms({ ...signed, token }).length <= maxCmsLength(chain, token.length));
});

for (const kind of ["rsa", "p-256"] as const)
  test(`the two-step CMS equals the one-step CMS: ${kind}`, async () => {
    const key = memoryKey(kind);
    const { publicKey } = key;
    const made = { subject: "seal.example", serialNumber: randomBytes(16), at: Date.now() };
    const chain = await makeSealCertificate({ ...made, root, publicKey });
    const { signature, cms } = await createCmsSigner({ key, chain }).sign(place);
    const signedAttrs = signedAttributesOf({ chain, place });
    assert.deepEqual(assembleCms({ chain, signedAttrs, signature }), cms());
    assert.deepEqual(assembleCms({ chain, signedAttrs, signature, token: cms() }), cms(cms()));
  });

test("nothing is written around a signature of other attributes, by another key, cut or empty", async () => {
  const { chain, sign } = await browserKey();
  const other = await browserKey();
  const signedAttrs = signedAttributesOf({ chain, place });
  const proper = await sign(bytes(signedAttrs));
  const elsewhere = signedAttributesOf({ chain, place: { ...place, originalLength: 901 } });
  for (const [why, signature] of [
    ["other attributes", await sign(bytes(elsewhere))],
    ["another key", await other.sign(bytes(signedAttrs))],
    ["a byte changed", proper.map((byte, index) => (index === 40 ? byte ^ 1 : byte))],
    ["cut", proper.subarray(0, 63)],
    ["longer", Uint8Array.from([...proper, 0])],
    ["zeros", new Uint8Array(64)],
    ["empty", new Uint8Array()],
    ["no DER", randomBytes(70)],
  ] as const) {
    assert.equal(verifySignedAttributes({ chain, signedAttrs, signature }), null, why);
    assert.throws(() => assembleCms({ chain, signedAttrs, signature }), RangeError, why);
  }
  assert.equal(verifySignedAttributes({ chain: other.chain, signedAttrs, signature: proper }), null);
  assert.ok(verifySignedAttributes({ chain, signedAttrs, signature: proper }));
});
