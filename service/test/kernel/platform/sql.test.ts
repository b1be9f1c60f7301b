import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nothing, sql } from "../../../src/kernel/platform/database/sql.ts";

describe("a statement", () => {
  test("has its values as numbered parameters, never as text", () => {
    const { text, values } = sql`SELECT * FROM orders WHERE code = ${"x'; --"} AND status = ${"Paid"}`;
    assert.equal(text, "SELECT * FROM orders WHERE code = $1 AND status = $2");
    assert.deepEqual(values, ["x'; --", "Paid"]);
  });

  test("accepts statements as parts, at any depth, and renumbers all parameters", () => {
    const owner = sql`partner_id = ${7} AND environment = ${"test"}`;
    const paged = sql`${owner} AND id < ${99}`;
    const { text, values } = sql`SELECT ${1} FROM rooms WHERE ${paged} AND name = ${"n"} ${nothing}LIMIT ${5}`;
    assert.equal(
      text,
      "SELECT $1 FROM rooms WHERE partner_id = $2 AND environment = $3 AND id < $4 AND name = $5 LIMIT $6",
    );
    assert.deepEqual(values, [1, 7, "test", 99, "n", 5]);
  });

  test("may consist only of parts", () => {
    const { text, values } = sql`${sql`a = ${1}`}${sql` AND b = ${2}`}`;
    assert.equal(text, "a = $1 AND b = $2");
    assert.deepEqual(values, [1, 2]);
  });

  test("has the same text for other values, so that it is planned once", () => {
    const find = (code: string, paged: boolean) => sql`SELECT ${code}${paged ? sql` LIMIT ${1}` : nothing}`;
    assert.equal(find("a", true).text, find("b", true).text);
    assert.notEqual(find("a", true).text, find("a", false).text);
  });

  test("has another text with a part in place of a value, or with its parts in another order", () => {
    const find = (first: unknown, second: unknown) => sql`SELECT ${first}, ${second}`.text;
    const [a, b] = [sql`a`, sql`b`];
    assert.equal(find(a, b), "SELECT a, b");
    assert.equal(find(b, a), "SELECT b, a");
    assert.equal(find(a, 1), "SELECT a, $1");
    assert.equal(find(1, a), "SELECT $1, a");
    assert.equal(find(1, 2), "SELECT $1, $2");
  });

  test("keeps null, undefined, dates, buffers and objects unchanged", () => {
    const values = [null, undefined, new Date(0), Buffer.from("x"), { a: 1 }];
    assert.deepEqual(sql`${values[0]}${values[1]}${values[2]}${values[3]}${values[4]}`.values, values);
  });
});
