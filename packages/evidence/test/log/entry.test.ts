import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { formatEntry, parseEntry } from "../../src/log/log.ts";

type Vectors = { accept: string[]; reject: Record<string, string> };

const vectors: Vectors = JSON.parse(readFileSync(new URL("../../vectors/log/entries.json", import.meta.url), "utf8"));

test("writes each line that it reads again as it was", () => {
  for (const line of vectors.accept) assert.equal(formatEntry(parseEntry(line)), line);
});

test("has a line of each kind among its vectors", () => {
  const kinds = vectors.accept.map((line) => parseEntry(line).kind);
  assert.equal(new Set(kinds).size, 11);
});

for (const [name, line] of Object.entries(vectors.reject))
  test(`refuses ${name}`, () => {
    assert.throws(() => parseEntry(line), { name: "EvidenceError" });
  });

test("names the field that has another form", () => {
  assert.throws(() => parseEntry(`seal/v1 ${"0".repeat(63)}\n`), {
    message: "sealedSha256 of seal/v1 is a SHA-256 in lowercase hex",
  });
  assert.throws(() => formatEntry({ kind: "import/v1", count: "01" }), {
    message: "count of import/v1 is a whole number without leading zeros",
  });
});
