import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { bitString, encode, integer, nullValue, OID, oid, sequence } from "@signsealship/evidence/asn1";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import fc from "fast-check";
import { structureChecks, testEach } from "../../evidence/test/vector-cases.ts";
import { createNodeCrypto } from "../src/node-crypto.ts";

const node = createNodeCrypto();
testEach(structureChecks(node));

/** The SubjectPublicKeyInfo of an RSA key with this modulus and exponent. */
const rsaKey = (modulus: Uint8Array, exponent: number): Uint8Array =>
  encode(
    sequence(
      sequence(oid(OID.rsaEncryption), nullValue),
      bitString(encode(sequence(integer(modulus), integer(exponent)))),
    ),
  );

test("a key that can't be used verifies nothing, as in Web Crypto", async () => {
  const web = createWebCrypto(crypto.subtle);
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const point = Uint8Array.from(publicKey.export({ type: "spki", format: "der" }));
  const changed = (at: number, value: number) => point.map((octet, index) => (index === at ? value : octet));
  const [rsa, ecdsa] = [
    { scheme: "rsa-pkcs1", hash: "SHA-256" },
    { scheme: "ecdsa", hash: "SHA-256" },
  ] as const;
  const keys: readonly (readonly [typeof rsa | typeof ecdsa, Uint8Array])[] = [
    [ecdsa, changed(point.length - 1, (point.at(-1) ?? 0) ^ 1)],
    [ecdsa, point.slice().fill(0xff, -64)],
    [ecdsa, changed(point.length - 65, 2)],
    [ecdsa, point.subarray(0, -1)],
    [ecdsa, new Uint8Array(0)],
    [rsa, rsaKey(Uint8Array.of(0), 3)],
    [rsa, rsaKey(Uint8Array.of(1), 3)],
    [rsa, rsaKey(new Uint8Array(256).fill(0xfe), 65_537)],
    [rsa, rsaKey(new Uint8Array(256).fill(0xff), 0)],
    [rsa, rsaKey(new Uint8Array(256).fill(0xff), 1)],
    [rsa, rsaKey(new Uint8Array(8192).fill(0xff), 65_537)],
    [rsa, rsaKey(new Uint8Array(60_000).fill(0xff), 65_537)],
  ];
  for (const [index, [algorithm, spki]] of keys.entries()) {
    for (const signature of [new Uint8Array(0), new Uint8Array(256), Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1)]) {
      const input = { spki, algorithm, signature, data: Uint8Array.of(1) };
      assert.equal(node.verify(input), false, `Node, key ${index}`);
      assert.equal(await web.verify(input), false, `Web Crypto, key ${index}`);
    }
  }
});

test("gives the same digests as Web Crypto, whatever the messages share", async () => {
  const web = createWebCrypto(crypto.subtle);
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => i % 251);
  const range = fc.tuple(fc.nat(300), fc.nat(300)).map(([a, b]) => bytes.subarray(Math.min(a, b), Math.max(a, b)));
  const fromStart = fc.nat(300).map((length) => bytes.subarray(0, length));
  const message = fc
    .tuple(fc.oneof(fromStart, range), fc.array(range, { maxLength: 3 }))
    .map(([first, rest]) => [first, ...rest]);
  const messages = fc.array(fc.oneof(message, fc.constant([])), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(messages, fc.constantFrom("SHA-1", "SHA-256", "SHA-384", "SHA-512"), async (input, hash) => {
      const [ours, theirs] = [await node.digests(hash, input), await web.digests(hash, input)];
      assert.deepEqual(
        ours.map((digest) => Buffer.from(digest).toString("hex")),
        theirs.map((digest) => Buffer.from(digest).toString("hex")),
      );
    }),
  );
});
