import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChainLine, emptyChain, headAfter, lineText, sha256Hex } from "../../../../src/providers/media/chain.ts";
import { chainFaults } from "../../../../src/signing/notaries/recordings/check.ts";
import type { Part, Recording } from "../../../../src/signing/notaries/recordings/store.ts";

let head = emptyChain;
const lines = Array.from({ length: 9 }, (_, index): string => {
  const line: ChainLine = {
    seq: index + 1,
    at: "2026-01-15T14:05:00.000Z",
    take: 1,
    n: index,
    person: "a",
    from: index * 900,
    to: index * 900 + 880,
    key: true,
    bytes: 10,
    sha256: sha256Hex(`chunk ${index}`),
    previousSha256: head.sha256,
  };
  head = headAfter(line);
  return lineText(line);
});
const partOf = (first: number, last: number, texts = lines.slice(first - 1, last)): Part => ({
  id: `${first}`,
  firstSeq: first,
  lastSeq: last,
  bytes: 1,
  sha256: "",
  blobKey: null,
  lines: `${texts.join("\n")}\n`,
});
const parts = [partOf(1, 3), partOf(4, 6), partOf(7, 9)] as const;
const manifest = "{}";
const recording = {
  headSeq: 9,
  headSha256: head.sha256,
  manifest,
  manifestSha256: sha256Hex(manifest),
} as Recording;
const faultsOf = (changed: readonly Part[], more: Partial<Recording> = {}) =>
  chainFaults({ ...recording, ...more }, changed);
const [one, two, three] = parts;
const texts = (part: Part) => part.lines.trimEnd().split("\n");

test("finds no fault in a complete chain", () => {
  assert.deepEqual(faultsOf(parts), []);
});

test("names the line that was altered, dropped or swapped", () => {
  const [a = "", b = "", c = ""] = texts(two);
  const altered = partOf(4, 6, [a, b.replace('"person":"a"', '"person":"b"'), c]);
  assert.deepEqual(faultsOf([one, altered, three]), ["Line 6 does not follow the one before."]);
  assert.match(faultsOf([one, partOf(4, 6, [a, c]), three])[0] ?? "", /^Line 5 does not follow/);
  assert.match(faultsOf([one, partOf(4, 6, [b, a, c]), three])[0] ?? "", /^Line 4 does not follow/);
  assert.match(faultsOf([one, partOf(4, 6, [a, "{", c]), three])[0] ?? "", /^Line 5 does not follow/);
});

test("names the part that was altered, dropped or swapped", () => {
  assert.deepEqual(faultsOf([one, { ...two, isAuthentic: false } as Part, three]), [
    "Part 2 (lines 4 to 6) is not what the service wrote.",
  ]);
  assert.deepEqual(faultsOf([one, three]), ["Lines 4 to 6 are missing.", "Line 7 does not follow the one before."]);
  assert.match(faultsOf([two, one, three])[0] ?? "", /^Lines 1 to 3 are missing/);
});

test("names a chain that was cut off, another head, and another manifest", () => {
  assert.deepEqual(faultsOf([one, two]), ["The chain ends at line 6, and not with the head of line 9."]);
  assert.deepEqual(faultsOf(parts, { headSha256: "0".repeat(64) }), [
    "The chain ends at line 9, and not with the head of line 9.",
  ]);
  assert.deepEqual(faultsOf(parts, { manifest: "{ }" }), ["The manifest is not the one that was written."]);
});
