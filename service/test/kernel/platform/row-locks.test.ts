import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { sourcesOf } from "../../../../testing/table-owners.ts";

/**
 * The row lock that the service must not use. A foreign key check locks the referenced row FOR KEY SHARE, which
 * conflicts only with FOR UPDATE (section 13.3.2 of the PostgreSQL manual).
 */
const tooStrong = /\bFOR UPDATE\b/;

test("knows a lock that a foreign key waits for, and those that it passes", () => {
  assert.match("SELECT FROM orders WHERE id = $1 FOR UPDATE", tooStrong);
  for (const lock of ["NO KEY UPDATE", "SHARE", "KEY SHARE"])
    assert.doesNotMatch(`SELECT FROM orders WHERE id = $1 FOR ${lock}`, tooStrong);
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
