import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { startSeverableProxy } from "@signsealship/testing/doubles/severable-proxy";
import { forTests } from "@signsealship/testing/for-tests";
import { temporaryFolder } from "@signsealship/testing/service";
import { openDatabase } from "../../src/kernel/platform/database/database.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { openEmbeddedPostgres } from "../../src/kernel/platform/postgres/embedded.ts";

const folder = temporaryFolder();
const statementMs = 400;

await prepareDatabase(folder.path);
const server = await openEmbeddedPostgres(folder.path);
const { host, port, ...role } = server.connection;
const proxy = await startSeverableProxy(join(host, `.s.PGSQL.${port}`));
const db = await forTests(
  openDatabase({ ...role, host: "127.0.0.1", port: proxy.port }, () => {}, { poolSize: 1, statementMs }),
);
after(async () => {
  await proxy.sever();
  await server.release();
});

const one = async () => (await db.query<{ one: number }>(sql`SELECT 1 AS one`))[0]?.one;

/** @returns the milliseconds until the work failed as unavailable */
async function refused(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await assert.rejects(work, { code: "unavailable" });
  return performance.now() - begun;
}

test("a statement that takes too long is canceled by the server, and its connection stays usable", async () => {
  assert.ok((await refused(db.query(sql`SELECT pg_sleep(30)`))) < 2_000);
  assert.equal(await one(), 1);
});

test("a transaction with a longer limit may take longer", async () => {
  const slow = db.transaction((tx) => tx.query(sql`SELECT pg_sleep(0.8)`), { statementMs: 10_000 });
  await assert.doesNotReject(slow);
  assert.equal(await one(), 1);
});

test("a statement on a connection whose peer disappeared fails in time, and the next gets a new connection", async () => {
  assert.equal(await one(), 1);
  proxy.silence();
  assert.ok((await refused(one())) < 5_000);
  assert.equal(await one(), 1);
});

test("a transaction on such a connection fails too, without a second wait for its rollback", async () => {
  assert.equal(await one(), 1);
  const work = db.transaction(async (tx) => {
    await tx.query(sql`SELECT 1`);
    proxy.silence();
    await tx.query(sql`SELECT 2`);
  });
  assert.ok((await refused(work)) < 4_500);
  assert.equal(await one(), 1);
});
