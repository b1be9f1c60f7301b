import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import type { Database } from "../../src/kernel/platform/database/database.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { macColumn } from "../../src/kernel/platform/protected-data.ts";
import { blobTables, macTables, protectedTables } from "../../src/upkeep/protected-data.ts";

let db: Database;
before(async () => {
  db = await newDatabase();
});
after(() => db.close());

const columnsLike = async (pattern: string, type: string): Promise<string[]> => {
  const rows = await db.query<{ name: string }>(sql`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name LIKE ${pattern} AND data_type = ${type} ORDER BY 1`);
  return rows.map(({ name }) => name);
};

const distinct = (names: readonly string[]): string[] => [...new Set(names)].sort();

test("every column with a MAC is declared, except that of a lease, which a node writes again every few seconds", async () => {
  const declared = distinct(macTables.map((each) => `${each.table.text}.${macColumn(each).text}`));
  const stored = await columnsLike("%\\_mac", "bytea");
  assert.deepEqual(
    declared,
    stored.filter((name) => name !== "live_sessions.node_url_mac"),
  );
});

test("every column that refers to a blob is declared, except those of deleted blobs", async () => {
  const declared = distinct(blobTables.map(({ table }) => `${table.text}.blob_key`));
  const stored = await columnsLike("blob_key", "text");
  assert.deepEqual(
    declared,
    stored.filter((name) => !/^(deleted_blobs|refused_marks)\./.test(name)),
  );
});

test("every constraint against plain codes is declared with its column", async () => {
  const rows = await db.query<{ name: string; text: string }>(sql`
    SELECT conname AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
    WHERE contype = 'c' AND pg_get_constraintdef(oid) LIKE '%starts_with(%''c1.''%' ORDER BY conname`);
  const declared = protectedTables.flatMap(({ texts = [] }) => texts);
  assert.deepEqual(
    rows.map(({ name }) => name),
    declared.map(({ constraint }) => constraint).sort(),
  );
  for (const { constraint, column } of declared) {
    const { text } = rows.find(({ name }) => name === constraint) ?? assert.fail(constraint);
    assert.ok(text.includes(`starts_with(${column.text}, 'c1.'`), `${constraint}: ${text}`);
  }
});

test("each encrypted column exists, and is declared once", async () => {
  const declared = protectedTables.flatMap(({ table, ciphers = [] }) =>
    ciphers.map(({ column }) => `${table.text}.${column.text}`),
  );
  assert.equal(distinct(declared).length, declared.length);
  const stored = await columnsLike("%", "bytea");
  assert.deepEqual(
    declared.filter((name) => !stored.includes(name)),
    [],
  );
});
