import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { sourcesOf } from "../../../../testing/table-owners.ts";

/**
 * Row locks that the service must not use. FOR UPDATE blocks a foreign key check on the row; FOR SHARE and FOR NO KEY
 * UPDATE don't.
 */
const tooStrong = /\bFOR (UPDATE|KEY SHARE)\b/;

test("knows a lock that a foreign key waits for, and one that it passes", () => {
  assert.match("SELECT FROM orders WHERE id = $1 FOR UPDATE", tooStrong);
  assert.doesNotMatch("SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE", tooStrong);
});

/**
 * If a transaction writes a row twice, for example to add its MAC, PostgreSQL checks the row's foreign keys again. This
 * check waits for a reader that has locked the referenced row, such as an order, FOR UPDATE. If that reader then waits
 * for the written row, both wait forever.
 */
test("no statement of the service locks rows against foreign keys", () => {
  const root = join(import.meta.dirname, "../../../src");
  const found = sourcesOf(root)
    .filter(({ source }) => tooStrong.test(source))
    .map(({ file }) => file);
  assert.deepEqual(found, []);
});
