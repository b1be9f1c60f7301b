import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "@signsealship/testing/service";
import { type PostgresPair, startPostgresPair } from "@signsealship/testing/tools/postgresql";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { type Database, openDatabase } from "../../src/kernel/platform/database/database.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { isOutcomeUnknown } from "../../src/kernel/platform/database/sql-errors.ts";

const { after, before, test } = testsNeeding("postgresql");
const folder = temporaryFolder();
let pair: PostgresPair;
let db: Database;
before(async () => {
  // PostgreSQL runs as another user, who needs access to the folder.
  execFileSync("chmod", ["755", folder.path]);
  pair = await startPostgresPair(join(folder.path, "servers"));
  db = openDatabase(
    { connectionString: `postgres://signsealship_owner@127.0.0.1:${pair.primary.port}/signsealship` },
    () => {},
    { poolSize: 1, statementMs: 1_000 },
  );
  await db.query(sql`CREATE TABLE written (name text)`);
});
after(async () => {
  await db?.close();
  await pair?.stop();
  folder.remove();
});

const names = async () =>
  (await db.query<{ name: string }>(sql`SELECT name FROM written ORDER BY name`)).map(({ name }) => name);

const writeBoth = [
  () => db.query(sql`INSERT INTO written VALUES ('statement')`),
  () => db.transaction((tx) => tx.query(sql`INSERT INTO written VALUES ('transaction')`)),
];

/** Asserts that the write failed as unavailable. @returns true if its outcome is unknown */
const isUnknown = (error: unknown): boolean => {
  assert.equal((error as { code?: string }).code, "unavailable");
  return isOutcomeUnknown(error);
};

/** Cancels the writes that wait for the standby, as an operator might. */
async function cancelWaiting(): Promise<void> {
  await until(
    () =>
      pair.primary.psql("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") !==
      "0",
  );
}

test("a commit whose wait for the synchronous standby is cancelled has an unknown outcome", async () => {
  await pair.standby.kill();
  try {
    for (const write of writeBoth) await Promise.all([assert.rejects(write, isUnknown), cancelWaiting()]);
    // The primary has both rows, and the connection still works.
    assert.deepEqual(await names(), ["statement", "transaction"]);
  } finally {
    await pair.standby.start();
  }
  for (const write of writeBoth) await write();
  assert.equal((await names()).length, 4);
});

test("a commit that the synchronous standby does not confirm in time has an unknown outcome", async () => {
  await db.query(sql`DELETE FROM written`);
  await pair.standby.kill();
  try {
    for (const write of writeBoth) await assert.rejects(write, isUnknown);
    assert.deepEqual(await names(), []);
  } finally {
    await pair.standby.start();
  }
  await until(async () => (await names()).length === 2);
});
