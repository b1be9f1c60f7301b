import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openSealKey } from "../../../../src/evidence/seals/keys/open-seal-key.ts";
import { probeSealKey, SealKeyError, type SealKeyErrorCode } from "../../../../src/evidence/seals/keys/seal-key.ts";

const folder = mkdtempSync(join(tmpdir(), "file-key-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const refusal = (code: SealKeyErrorCode, text: RegExp) => (error: unknown) =>
  error instanceof SealKeyError && error.code === code && text.test(error.message);

const spki = (der: Uint8Array) => createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });

test("makes an RSA-3072 key in PKCS#8 that only its owner can read, and uses it again", async () => {
  const path = join(folder, "made", "keys", "seal");
  const key = await openSealKey(`file:${path}`);
  assert.equal(key.algorithm, "rsa-pkcs1-sha256");
  assert.equal(spki(key.publicKey).asymmetricKeyDetails?.modulusLength, 3072);
  assert.match(readFileSync(path, "utf8"), /^-----BEGIN PRIVATE KEY-----\n/);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const again = await openSealKey(`file:${path}`);
  assert.deepEqual(again.publicKey, key.publicKey);
});

test("two concurrent calls both use the key that was written first, and leave no other file", async () => {
  const path = join(folder, "at-once", "seal");
  const [one, other] = await Promise.all([openSealKey(`file:${path}`), openSealKey(`file:${path}`)]);
  assert.deepEqual(one.publicKey, other.publicKey);
  assert.deepEqual(readdirSync(join(folder, "at-once")), ["seal"]);
});

for (const [name, made, type] of [
  ["P-256 in PKCS#8", generateKeyPairSync("ec", { namedCurve: "P-256" }), "pkcs8"],
  ["P-256 in SEC1", generateKeyPairSync("ec", { namedCurve: "P-256" }), "sec1"],
  ["RSA-2048 in PKCS#1", generateKeyPairSync("rsa", { modulusLength: 2048 }), "pkcs1"],
] as const) {
  test(`reads ${name}, and makes signatures that the public key verifies`, async () => {
    const path = join(folder, name);
    writeFileSync(path, made.privateKey.export({ type, format: "pem" } as { type: "pkcs8"; format: "pem" }));
    const key = await openSealKey(pathToFileURL(path).href);
    const data = Buffer.from("signed attributes");
    const signature = await key.sign(data);
    assert.equal(verify("sha256", data, made.publicKey, signature), true);
    assert.equal(verify("sha256", Buffer.from("other"), made.publicKey, signature), false);
    await probeSealKey(key);
  });
}

const unusable = {
  "P-384": generateKeyPairSync("ec", { namedCurve: "P-384" }),
  "RSA-1024": generateKeyPairSync("rsa", { modulusLength: 1024 }),
  Ed25519: generateKeyPairSync("ed25519"),
};
for (const [name, { privateKey }] of Object.entries(unusable)) {
  test(`refuses ${name} as a seal key`, async () => {
    const path = join(folder, name);
    writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }));
    await assert.rejects(openSealKey(`file:${path}`), refusal("not-supported", /seal key/));
  });
}

test("refuses a file that contains no private key, and leaves it unchanged", async () => {
  const path = join(folder, "no-key");
  writeFileSync(path, "hello");
  await assert.rejects(openSealKey(`file:${path}`), refusal("unreadable", /no unencrypted private key/));
  assert.equal(readFileSync(path, "utf8"), "hello");
});

test("refuses an encrypted private key", async () => {
  const path = join(folder, "encrypted");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cipher = { cipher: "aes-256-cbc", passphrase: "secret" };
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem", ...cipher }));
  await assert.rejects(openSealKey(`file:${path}`), refusal("unreadable", /unencrypted/));
});

test("reports a path that can't be a file", async () => {
  writeFileSync(join(folder, "a-file"), "");
  await assert.rejects(openSealKey(`file:${join(folder, "a-file", "seal")}`), refusal("unreadable", /a-file/));
  await assert.rejects(openSealKey(`file:${folder}`), refusal("unreadable", /EISDIR/));
});

test("refuses unreadable or unsupported settings, in one line that names the setting", async () => {
  await assert.rejects(openSealKey("file:"), refusal("bad-uri", /^SEAL_KEY: .*path$/));
  await assert.rejects(openSealKey("file://host/seal"), refusal("bad-uri", /^SEAL_KEY: /));
  await assert.rejects(openSealKey("/keys/seal"), refusal("bad-uri", /^SEAL_KEY: it must begin with/));
  await assert.rejects(
    openSealKey("gcpkms://projects/p"),
    refusal("not-supported", /^SEAL_KEY: gcpkms:.* not supported/),
  );
});

test("a probe detects a key that signs for another", async () => {
  const path = join(folder, "probe");
  const key = await openSealKey(`file:${path}`);
  const other = generateKeyPairSync("rsa", { modulusLength: 3072 }).publicKey.export({ type: "spki", format: "der" });
  await assert.rejects(probeSealKey({ ...key, publicKey: other }), refusal("refused", /does not verify/));
});
