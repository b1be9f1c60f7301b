import assert from "node:assert/strict";
import { verify } from "node:crypto";
import { type KmsDouble, type KmsDoubleKey, startKms } from "@signsealship/testing/doubles/kms";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { openSealKey } from "../../../../src/evidence/seals/keys/open-seal-key.ts";
import { probeSealKey, SealKeyError, type SealKeyErrorCode } from "../../../../src/evidence/seals/keys/seal-key.ts";

const { after, before, test } = testsNeeding("openssl");

let kms: KmsDouble;
let rsa: KmsDoubleKey;
let ec: KmsDoubleKey;
before(async () => {
  kms = await startKms();
  rsa = kms.addKey("RSA_3072", "alias/seal");
  ec = kms.addKey("ECC_NIST_P256");
});
after(() => kms.close());

const uri = (key: string, endpoint = kms.url) =>
  `awskms:///${key}?region=eu-west-1&endpoint=${encodeURIComponent(endpoint)}`;
const open = (key: string) => openSealKey(uri(key), { awsCredentials: kms.credentials });

const refusal = (code: SealKeyErrorCode, text: RegExp) => (error: unknown) =>
  error instanceof SealKeyError && error.code === code && text.test(error.message);

test("signs with an RSA and with a P-256 key, and sends only digests", async () => {
  for (const { keyId, publicKey } of [rsa, ec]) {
    const key = await open(keyId);
    assert.equal(key.algorithm, keyId === rsa.keyId ? "rsa-pkcs1-sha256" : "ecdsa-p256-sha256");
    assert.deepEqual(Buffer.from(key.publicKey), publicKey.export({ type: "spki", format: "der" }));
    const data = Buffer.from("signed attributes");
    assert.equal(verify("sha256", data, publicKey, await key.sign(data)), true);
    await key.close();
  }
});

test("finds a key by its ARN and by an alias", async () => {
  for (const name of ["alias/seal", `arn:aws:kms:eu-west-1:111122223333:key/${rsa.keyId}`]) {
    const key = await open(name);
    await probeSealKey(key);
    await key.close();
  }
});

test("retries when KMS is busy, a connection breaks or it has a fault", async () => {
  const key = await open(rsa.keyId);
  kms.failNext({ error: "ThrottlingException" }, { error: "KMSInternalException", status: 500 });
  await probeSealKey(key);
  kms.failNext({ hangUp: true });
  await probeSealKey(key);
  await key.close();
});

test("gives up after three tries", async () => {
  const key = await open(rsa.keyId);
  kms.failNext(...Array.from({ length: 3 }, () => ({ error: "KMSInternalException", status: 500 })));
  await assert.rejects(key.sign(Buffer.from("x")), refusal("unreachable", /KMSInternalException/));
  await probeSealKey(key);
  await key.close();
});

test("reports why KMS did not sign, and asks only once", async () => {
  const key = await open(rsa.keyId);
  for (const [error, code] of [
    ["DisabledException", "refused"],
    ["KMSInvalidStateException", "refused"],
    ["AccessDeniedException", "locked"],
    ["NotFoundException", "not-found"],
  ] as const) {
    const before = kms.requests.length;
    kms.failNext({ error });
    await assert.rejects(key.sign(Buffer.from("x")), refusal(code, new RegExp(`^SEAL_KEY: KMS: ${error}`)));
    assert.equal(kms.requests.length - before, 1);
  }
  await key.close();
});

test("a probe detects a signature that is not by the key", async () => {
  const key = await open(ec.keyId);
  kms.failNext({ wrongSignature: true });
  await assert.rejects(probeSealKey(key), refusal("refused", /does not verify/));
  await key.close();
});

test("refuses unsuitable keys: unknown, P-384, and for encryption", async () => {
  await assert.rejects(open("unknown"), refusal("not-found", /NotFoundException/));
  await assert.rejects(open(kms.addKey("ECC_NIST_P384").keyId), refusal("not-supported", /RSA or P-256/));
  await assert.rejects(open(kms.addKey("ENCRYPTING_RSA_3072").keyId), refusal("not-supported", /not for signing/));
});

test("refuses credentials that KMS does not know", async () => {
  const awsCredentials = { accessKeyId: "AKIAOTHER", secretAccessKey: "x" };
  await assert.rejects(openSealKey(uri(rsa.keyId), { awsCredentials }), refusal("locked", /UnrecognizedClient/));
});

test("reports that nothing answers at the endpoint", async () => {
  const gone = await startKms();
  await gone.close();
  const opening = openSealKey(uri(rsa.keyId, gone.url), { awsCredentials: kms.credentials });
  await assert.rejects(opening, refusal("unreachable", /ECONNREFUSED/));
});

for (const bad of [
  "awskms://host/key",
  "awskms:///",
  "awskms:///k?colour=red",
  "awskms:///k?endpoint=ftp://x",
  "awskms:///%zz",
]) {
  test(`refuses the setting ${bad}`, async () => {
    await assert.rejects(openSealKey(bad), refusal("bad-uri", /^SEAL_KEY: /));
  });
}
