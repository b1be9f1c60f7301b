import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync, deflateSync } from "node:zlib";
import fc from "fast-check";
import { EvidenceError } from "../src/errors.ts";
import { inflate, inflateRaw } from "../src/inflate.ts";
import { mutate, randomFrom } from "./mutate.ts";

const sample = Buffer.from("The quick brown fox jumps over the lazy dog. ".repeat(60));

test("inflates data that zlib deflated, at every level and with every strategy", () => {
  const data = fc.oneof(
    fc.uint8Array({ maxLength: 3000 }),
    fc.string({ maxLength: 3000 }).map((text) => Buffer.from(text.repeat(3))),
  );
  fc.assert(
    fc.property(data, fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 4 }), (input, level, strategy) => {
      const compressed = deflateSync(input, { level, strategy });
      assert.deepEqual(Buffer.from(inflate(compressed, 100_000)), Buffer.from(input));
    }),
    { numRuns: 300 },
  );
});

test("ignores the bytes after the compressed data", () => {
  const compressed = Buffer.concat([deflateSync(sample), Buffer.from("\nendstream")]);
  assert.deepEqual(Buffer.from(inflate(compressed, 100_000)), sample);
});

test("raw data has no header and fills its input to the end", () => {
  const compressed = deflateRawSync(sample);
  assert.deepEqual(Buffer.from(inflateRaw(compressed, sample.length, "zip")), sample);
  assert.throws(() => inflateRaw(Buffer.concat([compressed, Buffer.of(0)]), 100_000, "zip"), { code: "zip" });
  assert.throws(() => inflateRaw(compressed.subarray(0, 20), 100_000, "zip"), { code: "zip" });
  assert.throws(() => inflateRaw(compressed, sample.length - 1, "zip"), { code: "limit" });
});

test("stops at its limit", () => {
  const bomb = deflateSync(Buffer.alloc(10_000_000));
  assert.throws(() => inflate(bomb, 1_000_000), { name: "EvidenceError", code: "limit" });
  assert.equal(inflate(deflateSync(sample), sample.length).length, sample.length);
  assert.throws(() => inflate(deflateSync(sample), sample.length - 1), { code: "limit" });
});

test("refuses data without a zlib header, and truncated data", () => {
  assert.throws(() => inflate(Uint8Array.of(1, 2, 3), 100), { code: "pdf" });
  assert.throws(() => inflate(new Uint8Array(0), 100), { code: "pdf" });
  const compressed = deflateSync(sample);
  assert.throws(() => inflate(compressed.subarray(0, 20), 100_000), { code: "pdf" });
});

test("throws only its own error on 20,000 damaged streams", () => {
  const random = randomFrom(7);
  const sources = [deflateSync(sample), deflateSync(sample, { level: 0 }), deflateSync(sample, { strategy: 4 })];
  for (let round = 0; round < 20_000; round++) {
    const source = sources[round % 3];
    assert.ok(source);
    try {
      assert.ok(inflate(mutate(source, random), 20_000).length <= 20_000);
    } catch (error) {
      assert.ok(error instanceof EvidenceError, String(error));
    }
  }
});
