import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { testRowMac as rowMac } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { openTransparencyLog, queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { currentTree } from "../../../src/evidence/transparency-log/trees.ts";
import { type Database, longStatements } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";

const place = temporaryFolder();
after(place.remove);
const db = await newDatabase();
after(db.close);
const config = {
  dataDir: place.path,
  logKey: `file:${join(place.path, "keys/log-live")}`,
  logOrigin: "log.example.com",
  logIntervalMs: 60_000,
  logPolicy: null,
  witnessIntervalMs: 1_000,
  baseUrl: "https://log.example.com",
};
const nodeOn = (database: Database) =>
  openTransparencyLog({ db: database, rowMac, clock: () => new Date(), log: openLog("silent"), config }, async () => {
    throw new Error("the log has no witnesses");
  });

let entries = 0;
const queue = () =>
  db.query(queueEntry("live", { kind: "artifact/v1", commitment: String(entries++).padStart(64, "0") }, new Date()));
const sizeNow = async () => (await currentTree(db, "live"))?.size ?? 0;
const isOver = () => db.query(sql`UPDATE log_trees SET sequenced_at = now() - interval '1 hour' WHERE log = 'live'`);

test("a node whose turn began before another node added a batch waits for the next interval", async () => {
  const other = await nodeOn(db);
  let isOvertaken = false;
  const slow = await nodeOn({
    ...db,
    async transaction(work, time) {
      // Only a batch uses this time limit, so this is the slow node's first batch. Right before it, the other node runs
      // a batch of its own.
      if (!isOvertaken && time === longStatements) {
        isOvertaken = true;
        await other.turn();
        await queue();
      }
      return db.transaction(work, time);
    },
  });
  await queue();
  await slow.turn();
  assert.ok(isOvertaken);
  assert.equal(await sizeNow(), 1);
  await isOver();
  await slow.turn();
  assert.equal(await sizeNow(), 2);
});
