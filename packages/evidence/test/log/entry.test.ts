import assert from "node:assert/strict";
import { test } from "node:test";
import { formatEntry, parseEntry } from "../../src/log/log.ts";
import { entries } from "./log-vectors.ts";

test("has a line of each kind in its vectors", () => {
  const kinds = entries.accept.map((line) => parseEntry(line).kind);
  assert.equal(new Set(kinds).size, 12);
});

test("names the field that has the wrong form", () => {
  assert.throws(() => parseEntry(`seal/v1 ${"0".repeat(63)}\n`), {
    message: "sealedSha256 of seal/v1 is a SHA-256 in lowercase hex",
  });
  assert.throws(() => formatEntry({ kind: "import/v1", count: "01" }), {
    message: "count of import/v1 is a whole number without leading zeros",
  });
});
