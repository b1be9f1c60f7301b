import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import type { SignatureInput } from "../src/crypto-port.ts";
import { createWebCrypto, ecdsaSignatureToRaw } from "../src/webcrypto.ts";
import { parsePublicKeyInfo } from "../src/x509/public-key.ts";
import { vectorCertificate } from "./vector-cases.ts";

const port = createWebCrypto(crypto.subtle);
const data = new TextEncoder().encode("data");
const spkiOf = (pair: { publicKey: { export(o: { type: "spki"; format: "der" }): Buffer } }) =>
  Uint8Array.from(pair.publicKey.export({ type: "spki", format: "der" }));

test("verifies an ECDSA signature with a short r or s, many times", async () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = spkiOf(pair);
  for (let i = 0; i < 600; i++) {
    const message = Uint8Array.of(i >> 8, i & 255);
    const signature = Uint8Array.from(sign("sha256", message, pair.privateKey));
    const input: SignatureInput = { spki, algorithm: { scheme: "ecdsa", hash: "SHA-256" }, signature, data: message };
    assert.equal(await port.verify(input), true);
    assert.equal(await port.verify({ ...input, data }), false);
  }
});

test("a key or signature that can't be used verifies nothing", async () => {
  const { spki, signature } = vectorCertificate("p256");
  const ecdsa = { scheme: "ecdsa", hash: "SHA-256" } as const;
  const offCurve = spki.slice();
  offCurve[offCurve.length - 1] = (offCurve[offCurve.length - 1] ?? 0) ^ 1;
  const unusable: SignatureInput[] = [
    { spki: new Uint8Array(), algorithm: ecdsa, signature, data },
    { spki: offCurve, algorithm: ecdsa, signature, data },
    { spki, algorithm: { scheme: "rsa-pkcs1", hash: "SHA-256" }, signature, data },
    { spki, algorithm: ecdsa, signature: new Uint8Array(), data },
    { spki, algorithm: ecdsa, signature: Uint8Array.of(0x30, 6, 2, 1, 0, 2, 1, 0), data },
    { spki: vectorCertificate("rsa").spki, algorithm: ecdsa, signature, data },
    {
      spki: vectorCertificate("rsa").spki,
      algorithm: { scheme: "rsa-pss", hash: "SHA-512", saltLength: 500 },
      signature,
      data,
    },
  ];
  for (const input of unusable) assert.equal(await port.verify(input), false);
});

test("refuses an ECDSA pair that is negative, too long, or not minimal", () => {
  for (const bytes of ["3006020180020101", "300702020001020101", "3003020101", "3009020101020101020101"])
    assert.throws(() => ecdsaSignatureToRaw(Uint8Array.from(Buffer.from(bytes, "hex")), 32), { name: "EvidenceError" });
  const long = Uint8Array.from(Buffer.from(`30260221${"01".repeat(33)}020101`, "hex"));
  assert.throws(() => ecdsaSignatureToRaw(long, 32), { code: "x509" });
});

test("keeps working with more keys than it caches", async () => {
  const algorithm = { scheme: "ecdsa", hash: "SHA-256" } as const;
  for (let i = 0; i < 40; i++) {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const signature = Uint8Array.from(sign("sha256", data, pair.privateKey));
    assert.equal(await port.verify({ spki: spkiOf(pair), algorithm, signature, data }), true);
  }
});

test("an RSA key with exponent 1, or a key on a curve by explicit parameters, can't be used", () => {
  const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const spki = spkiOf(pair);
  const exponent = Buffer.from(spki).lastIndexOf(Buffer.from("0203010001", "hex"));
  assert.ok(exponent > 0);
  assert.deepEqual(parsePublicKeyInfo(spki), { type: "rsa", bits: 2048 });
  const even = spki.slice();
  even[exponent + 4] = 0;
  assert.equal(parsePublicKeyInfo(even).type, "other");
  const explicit = generateKeyPairSync("ec", { namedCurve: "P-256", paramEncoding: "explicit" });
  assert.equal(parsePublicKeyInfo(spkiOf(explicit)).type, "other");
});
