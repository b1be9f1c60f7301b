import assert from "node:assert/strict";
import { type KeyObject, verify } from "node:crypto";
import { writeFileSync } from "node:fs";
import { type SoftHsm, startSoftHsm } from "@signsealship/testing/tools/softhsm";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { openPkcs11Key } from "../../../../src/evidence/seals/keys/pkcs11-key.ts";
import { probeSealKey, SealKeyError, type SealKeyErrorCode } from "../../../../src/evidence/seals/keys/seal-key.ts";

const { after, before, test } = testsNeeding("softhsm");

let hsm: SoftHsm;
let publicKeys: Record<"rsa" | "ec", KeyObject>;
before(() => {
  hsm = startSoftHsm();
  process.env.SOFTHSM2_CONF = hsm.configPath;
  publicKeys = { rsa: hsm.addKey("rsa", "01", "rsa-3072"), ec: hsm.addKey("ec", "02", "p-256") };
  hsm.addKey("p384", "03", "p-384");
  hsm.addKey("twin", "04", "p-256");
  hsm.addKey("twin", "05", "p-256");
});
after(() => hsm.close());

const uri = (object: string, query = `pin-value=${hsm.pin}`) =>
  `pkcs11:token=${encodeURIComponent(hsm.token)};${object}?module-path=${hsm.modulePath}&${query}`;

const refusal = (code: SealKeyErrorCode, text: RegExp) => (error: unknown) =>
  error instanceof SealKeyError && error.code === code && text.test(error.message) && !error.message.includes(hsm.pin);

for (const [kind, algorithm, id] of [
  ["rsa", "rsa-pkcs1-sha256", "%01"],
  ["ec", "ecdsa-p256-sha256", "%02"],
] as const) {
  test(`signs with the ${kind} key of a token, found by label or by id`, async () => {
    for (const name of [`object=${kind}`, `id=${id}`]) {
      const key = await openPkcs11Key(uri(name));
      assert.equal(key.algorithm, algorithm);
      assert.deepEqual(Buffer.from(key.publicKey), publicKeys[kind].export({ type: "spki", format: "der" }));
      const data = Buffer.from("signed attributes");
      assert.equal(verify("sha256", data, publicKeys[kind], await key.sign(data)), true);
      await probeSealKey(key);
      await key.close();
    }
  });
}

test("each of many ECDSA signatures is correct DER, whatever r and s begin with", async () => {
  const key = await openPkcs11Key(uri("object=ec"));
  const signatures = await Promise.all(
    Array.from({ length: 300 }, async (_, i) => {
      const data = Buffer.from(`document ${i}`);
      return { data, signature: await key.sign(data) };
    }),
  );
  for (const { data, signature } of signatures) assert.equal(verify("sha256", data, publicKeys.ec, signature), true);
  await key.close();
});

test("reads the PIN from a file, and replaces the sessions that the token closed", async () => {
  const key = await openPkcs11Key(uri("object=rsa", `pin-source=${hsm.pinFile}`));
  await Promise.all(Array.from({ length: 8 }, () => probeSealKey(key)));
  const { default: pkcs11 } = await import("pkcs11js");
  const module = new pkcs11.PKCS11();
  module.load(hsm.modulePath);
  const slot = module.C_GetSlotList(true)[0];
  assert.ok(slot);
  module.C_CloseAllSessions(slot);
  await probeSealKey(key);
  await key.close();
});

test("two users of one module do not disturb each other", async () => {
  const one = await openPkcs11Key(uri("object=rsa"));
  const other = await openPkcs11Key(uri("object=ec"));
  await other.close();
  await probeSealKey(one);
  await one.close();
});

test("refuses URIs that do not name one usable key, each with its own reason", async () => {
  await assert.rejects(openPkcs11Key(uri("object=none")), refusal("not-found", /no such private key/));
  await assert.rejects(openPkcs11Key(uri("object=twin")), refusal("bad-uri", /several private keys/));
  await assert.rejects(openPkcs11Key(uri("object=p384")), refusal("not-supported", /P-256/));
  await assert.rejects(
    openPkcs11Key(`pkcs11:token=other;object=rsa?module-path=${hsm.modulePath}`),
    refusal("not-found", /no token/),
  );
  await assert.rejects(
    openPkcs11Key(`pkcs11:object=rsa?module-path=${hsm.modulePath}.missing`),
    refusal("unreachable", /^pkcs11: /),
  );
});

test("refuses a wrong PIN and a missing PIN file, and finds no private key without a PIN", async () => {
  await assert.rejects(openPkcs11Key(uri("object=rsa", "pin-value=9999")), refusal("locked", /CKR_PIN_INCORRECT/));
  await assert.rejects(openPkcs11Key(uri("object=rsa", "pin-source=/no/such/pin")), refusal("locked", /pin-source/));
  await assert.rejects(openPkcs11Key(uri("object=rsa", "")), refusal("not-found", /to this PIN/));
});

test("a PIN file may be named by a file URL", async () => {
  writeFileSync(hsm.pinFile, hsm.pin);
  const key = await openPkcs11Key(uri("object=rsa", `pin-source=file:${hsm.pinFile}`));
  await key.close();
});
