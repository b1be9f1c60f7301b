import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { databaseOf, newDatabase } from "@signsealship/testing/database";
import { schemaOf } from "@signsealship/testing/schema-of";
import { runCli, temporaryFolder } from "@signsealship/testing/service";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { baseline, migrate } from "../../../src/kernel/platform/database/migrations.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const migrations = join(import.meta.dirname, "../../../migrations");
const folder = temporaryFolder();
const databases: Database[] = [];
after(async () => {
  await Promise.all(databases.map((db) => db.close()));
  folder.remove();
});

const upgrade = (db: Database) => migrate({ db, asOwner: (work) => work(db), folder: migrations });

/**
 * A database whose list of migrations has the versions 1 to `schema`, as releases before the baseline wrote it. Its
 * tables are always those of the baseline.
 */
async function databaseOfSchema(schema: number): Promise<{ db: Database; dataDir: string }> {
  const dataDir = join(folder.path, `data-${databases.length}`);
  const db = await databaseOf(dataDir);
  databases.push(db);
  const script = readFileSync(join(migrations, "0069_baseline.sql"), "utf8");
  await db.transaction((tx) =>
    tx.script(`${script}
      CREATE TABLE schema_migrations (
        version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
      )`),
  );
  await earlierRows(db, schema);
  return { db, dataDir };
}

/** In the list of migrations, replaces the rows up to the baseline by rows of the versions 1 to `newest`. */
async function earlierRows(db: Database, newest: number): Promise<void> {
  await db.query(sql`DELETE FROM schema_migrations WHERE version <= ${baseline.version}`);
  await db.query(sql`
    INSERT INTO schema_migrations (version, name, sha256)
    SELECT n, 'earlier', CASE WHEN n = ${baseline.version} THEN ${baseline.sha256} ELSE 'of ' || n END
    FROM generate_series(1, ${newest}::int) AS n`);
}

const applied = (db: Database) => db.query<{ version: number }>(sql`SELECT * FROM schema_migrations ORDER BY version`);

test("every migration has its own number, from the baseline on without a gap", () => {
  const versions = readdirSync(migrations)
    .filter((name) => name.endsWith(".sql"))
    .map((name) => Number(name.slice(0, 4)))
    .sort((a, b) => a - b);
  assert.deepEqual(
    versions,
    versions.map((_, index) => baseline.version + index),
  );
});

test("upgrades a database of the baseline's schema from earlier files to the schema of a new one", async () => {
  const { db } = await databaseOfSchema(baseline.version);
  const before = await applied(db);
  await upgrade(db);
  const after = await applied(db);
  assert.deepEqual(after.slice(0, before.length), before);
  const fresh = await newDatabase();
  databases.push(fresh);
  assert.equal(after.at(-1)?.version, (await applied(fresh)).at(-1)?.version);
  assert.deepEqual(await schemaOf(db), await schemaOf(fresh));
});

test("starts on a database of the newest schema from earlier files, and changes nothing", async () => {
  const db = await newDatabase();
  databases.push(db);
  await earlierRows(db, baseline.version);
  const before = [await applied(db), await schemaOf(db)];
  await upgrade(db);
  assert.deepEqual([await applied(db), await schemaOf(db)], before);
});

test("refuses a database of an older schema, names the commit to start first, and writes nothing", async () => {
  const { db, dataDir } = await databaseOfSchema(baseline.version - 1);
  const before = [await applied(db), await schemaOf(db)];
  const message = new RegExp(
    `the database has schema 68, and this release upgrades schema 69 or newer: .*start commit ${baseline.commit}`,
  );
  await assert.rejects(upgrade(db), message);
  const { code, stderr } = await runCli({ DATA_DIR: dataDir }, "partner", "list");
  assert.equal(code, 1);
  assert.match(stderr, message);
  assert.deepEqual([await applied(db), await schemaOf(db)], before);
});

test("refuses a database whose migration with the baseline's number is another one", async () => {
  const { db } = await databaseOfSchema(baseline.version);
  await db.query(sql`UPDATE schema_migrations SET sha256 = 'other' WHERE version = ${baseline.version}`);
  await assert.rejects(
    upgrade(db),
    /migration 0069_baseline\.sql differs from the one that this database was made with/,
  );
});

test("accepts a database that ran the earlier file of a replaced migration, and no other file", async () => {
  const db = await newDatabase();
  databases.push(db);
  const record = (sha256: string) => db.query(sql`UPDATE schema_migrations SET sha256 = ${sha256} WHERE version = 185`);
  await record("430ae7f4db7b689099fc80612fbc201496100800a1246c184aa26b2eb61cabbc");
  const before = [await applied(db), await schemaOf(db)];
  await upgrade(db);
  assert.deepEqual([await applied(db), await schemaOf(db)], before);
  await record("other");
  await assert.rejects(upgrade(db), /0185_payments_to_compare\.sql differs/);
});

test("a migration that adds a column of blobs stops older nodes, which would sweep blobs of tables that they don't know", () => {
  const files = readdirSync(migrations).filter((name) => name.endsWith(".sql") && name > "0094");
  for (const name of files) {
    const text = readFileSync(join(migrations, name), "utf8");
    if (/^\s*(?:ADD COLUMN )?\w*blob_key\b/m.test(text)) assert.match(text, /^-- Older nodes: stop\.\n/, name);
  }
});
