import assert from "node:assert/strict";
import { test } from "node:test";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import fc from "fast-check";
import { testVectors } from "../../evidence/test/vector-cases.ts";
import { createNodeCrypto } from "../src/node-crypto.ts";

const node = createNodeCrypto();
testVectors(node);

test("gives the digests that Web Crypto gives, whatever the messages share", async () => {
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
