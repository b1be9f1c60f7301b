import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { hasSqlState, sqlState } from "../../../src/kernel/platform/database/sql-errors.ts";

describe("a prepared statement", () => {
  let db: Database;
  before(async () => {
    db = await newDatabase();
    await db.transaction((tx) => tx.script("CREATE TABLE things (id int PRIMARY KEY, name text)"));
  });
  after(() => db.close());

  test("returns the same the second time on a connection", async () => {
    const read = (n: number | null) => sql`
      SELECT ${n}::bigint AS count, 'é'::text AS word, NULL::text AS missing, '{"a":1}'::jsonb AS json,
        timestamptz '2026-01-02T03:04:05.678Z' AS at, '\\x00ff'::bytea AS bytes, ARRAY['x', NULL] AS list, true AS yes`;
    const others = {
      word: "é",
      missing: null,
      json: { a: 1 },
      at: new Date("2026-01-02T03:04:05.678Z"),
      bytes: Buffer.from("00ff", "hex"),
      list: ["x", null],
      yes: true,
    };
    await db.transaction(async (tx) => {
      assert.deepEqual(await tx.query(read(2 ** 40)), [{ count: 2 ** 40, ...others }]);
      assert.deepEqual(await tx.query(read(null)), [{ count: null, ...others }]);
    });
  });

  test("returns all rows, each time", async () => {
    const numbers = (max: number) => sql`SELECT n FROM generate_series(1, ${max}::int) n`;
    await db.transaction(async (tx) => {
      for (const max of [2, 0, 1]) assert.equal((await tx.query(numbers(max))).length, max);
    });
  });

  test("returns the last of several columns with one name, even if it is null", async () => {
    const read = sql`SELECT 1 AS id, NULL::int AS id`;
    for (let n = 0; n < 2; n++) assert.deepEqual(await db.query(read), [{ id: null }]);
  });

  test("of a cursor returns the columns of each statement", async () => {
    const declare = (columns: string) => `DECLARE each CURSOR FOR SELECT ${columns}`;
    await db.transaction(async (tx) => {
      await tx.script(declare("1 AS a"));
      assert.deepEqual(await tx.query(sql`FETCH 5 FROM each`), [{ a: 1 }]);
      await tx.script(`CLOSE each; ${declare("'x' AS b, 2 AS c")}`);
      assert.deepEqual(await tx.query(sql`FETCH 5 FROM each`), [{ b: "x", c: 2 }]);
    });
  });

  test("that copies is refused, and ends nothing else", async () => {
    await db.query(sql`CREATE TABLE copied (id int)`);
    await assert.rejects(db.query(sql`COPY (SELECT 1) TO STDOUT`));
    await assert.rejects(db.query(sql`COPY copied FROM STDIN`));
    assert.deepEqual(await db.query(sql`SELECT count(*) AS n FROM copied`), [{ n: 0 }]);
  });

  test("may return no columns", async () => {
    const rename = (name: string) => sql`UPDATE things SET name = ${name}`;
    await db.transaction(async (tx) => {
      for (const name of ["a", "b"]) assert.deepEqual(await tx.query(rename(name)), []);
    });
  });

  test("that was refused, at first or later, can be run again", async () => {
    const add = (id: number) => sql`INSERT INTO things (id) VALUES (${id}) RETURNING id`;
    const taken = (error: unknown) => hasSqlState(error, sqlState.uniqueViolation);
    await db.query(sql`INSERT INTO things (id) VALUES (1)`);
    await assert.rejects(db.query(add(1)), taken);
    assert.deepEqual(await db.query(add(2)), [{ id: 2 }]);
    await assert.rejects(db.query(add(2)), taken);
    assert.deepEqual(await db.query(add(3)), [{ id: 3 }]);
  });

  test("whose values can't be written as text is not sent, and its connection stays usable", async () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    await db.transaction(async (tx) => {
      await assert.rejects(tx.query(sql`SELECT ${circular}::jsonb`), TypeError);
      assert.deepEqual(await tx.query(sql`SELECT 1 AS one`), [{ one: 1 }]);
    });
  });

  test("that is refused names its caller", async () => {
    const askWrongly = async () => {
      await db.query(sql`SELECT 1 / ${0}::int`);
    };
    await assert.rejects(askWrongly(), ({ stack }: Error) => stack?.includes("askWrongly") === true);
  });
});
