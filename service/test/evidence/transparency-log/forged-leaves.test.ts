import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseLogProof } from "@signsealship/evidence/log";
import { newDatabase } from "@signsealship/testing/database";
import { testRowMac as rowMac } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { queueUncovered } from "../../../src/evidence/transparency-log/queue.ts";
import { hasLine } from "../../../src/evidence/transparency-log/store.ts";
import {
  lineState,
  linesWithLogs,
  logProof,
  logStatuses,
  openTransparencyLog,
  queueEntry,
  retractionOf,
} from "../../../src/evidence/transparency-log/transparency-log.ts";
import { currentTree } from "../../../src/evidence/transparency-log/trees.ts";
import type { Statement } from "../../../src/kernel/platform/database/sql.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";

const place = temporaryFolder();
after(place.remove);
const config = {
  dataDir: place.path,
  logKey: `file:${join(place.path, "keys/log-live")}`,
  logOrigin: "log.example.com",
  logIntervalMs: 0,
  logPolicy: null,
  witnessIntervalMs: 1_000,
  baseUrl: "https://log.example.com",
};
const db = await newDatabase();
after(db.close);
const deps = { db, rowMac, clock: () => new Date(), log: openLog("silent"), config };
const log = await openTransparencyLog(deps, async () => {
  throw new Error("the log has no witnesses");
});

let entries = 0;
const newEntry = () => ({ kind: "seal/v1", sealedSha256: hash("sha256", `file ${entries++}`) }) as const;
const lineOf = ({ sealedSha256 }: { sealedSha256: string }) => `seal/v1 ${sealedSha256}\n`;
const queue = (entry: ReturnType<typeof newEntry>) => db.query(queueEntry("live", entry, new Date()));
const sizeNow = async () => (await currentTree(db, "live"))?.size ?? 0;
/** Inserts a leaf like an attacker with write access to the database and without a key. */
const forge = (name: string, leaf: number, line: string) =>
  db.query(sql`INSERT INTO log_leaves (log, leaf, line, queued_at) VALUES (${name}, ${leaf}, ${line}, now())`);
const removed = (name: string, leaf: number) =>
  db.query(sql`DELETE FROM log_leaves WHERE log = ${name} AND leaf = ${leaf} RETURNING leaf`);
const stateOf = async (entry: ReturnType<typeof newEntry>) => (await logProof(db, "live", entry)).state;

/** An entry in the log. */
async function logged() {
  const entry = newEntry();
  await queue(entry);
  await log.turn();
  assert.equal(await stateOf(entry), "logged");
  return entry;
}

/** Runs a statement without triggers, which simulates a fault of the disk. */
const unguarded = (change: Statement) =>
  db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(change);
  });

const cases = {
  "far beyond the tree": async () => ["live", 1_000_000_000_000] as const,
  "just beyond the tree": async () => ["live", await sizeNow()] as const,
  "of a log without a tree": async () => ["live-2", 0] as const,
};

for (const [where, at] of Object.entries(cases)) {
  test(`a forged leaf ${where} swallows no waiting line: the log halts until the row is deleted`, async () => {
    await logged();
    const entry = newEntry();
    await queue(entry);
    const [name, leaf] = await at();
    await forge(name, leaf, lineOf(entry));
    await log.turn();
    const why = new RegExp(`log_leaves has a forged row: the tree of ${name} has no leaf ${leaf}\\.`);
    assert.match(log.halted().get("live") ?? "", why);
    const statuses = await logStatuses(deps);
    assert.match(statuses.find((one) => one.log === "live")?.halted ?? "", why);
    assert.equal(statuses.find((one) => one.log === "test")?.halted, null);
    assert.equal(await stateOf(entry), "queued");
    assert.equal((await lineState(db, "live", entry)).state, "queued");
    assert.deepEqual(
      (await linesWithLogs(db, "live")).filter(({ line }) => line === lineOf(entry)),
      [],
    );
    await assert.rejects(db.query(sql`DELETE FROM log_entries WHERE line = ${lineOf(entry)}`), /the log only grows/);
    assert.equal((await removed(name, leaf)).length, 1);
    await log.turn();
    assert.equal(log.halted().get("live"), undefined);
    assert.equal(await stateOf(entry), "logged");
  });

  test(`a forged leaf ${where}, of a line that does not wait, halts the log too`, async () => {
    await logged();
    const [name, leaf] = await at();
    await forge(name, leaf, lineOf(newEntry()));
    const waits = newEntry();
    await queue(waits);
    await log.turn();
    assert.match(log.halted().get("live") ?? "", /forged row/);
    assert.equal((await removed(name, leaf)).length, 1);
    await log.turn();
    assert.equal(await stateOf(waits), "logged");
  });
}

test("a leaf of the tree can't be deleted", async () => {
  await logged();
  await assert.rejects(removed("live", (await sizeNow()) - 1), /only grows/);
});

test("the end of a log queues no forged leaf for the next log", async () => {
  await logged();
  const [size, entry] = [await sizeNow(), newEntry()];
  await forge("live", size + 5, lineOf(entry));
  await db.transaction(async (tx) => {
    assert.equal(await queueUncovered(tx, "live", size), 0);
    assert.equal(await hasLine(tx, "live", lineOf(entry)), false);
  });
  await removed("live", size + 5);
});

test("a forged retraction beyond the tree retracts nothing", async () => {
  const { sealedSha256 } = await logged();
  const entry = { kind: "seal/v1", sealedSha256 } as const;
  const leaf = (await sizeNow()) + 3;
  await forge("live", leaf, `retract/v1 ${sealedSha256} key-compromise\n`);
  assert.equal(await retractionOf(db, { environment: "live", sealedSha256 }), null);
  const proof = await logProof(db, "live", entry);
  assert.equal(proof.state === "logged" && parseLogProof(Buffer.from(proof.proof)).extra, null);
  await removed("live", leaf);
});

test("a forged retraction in the place of another leaf retracts nothing, and the proof stays available", async () => {
  const other = await logged();
  const { sealedSha256 } = await logged();
  const leaf = (await sizeNow()) - 2;
  const line = `retract/v1 ${sealedSha256} key-compromise\n`;
  await unguarded(sql`UPDATE log_leaves SET line = ${line} WHERE log = 'live' AND leaf = ${leaf}`);
  assert.equal(await retractionOf(db, { environment: "live", sealedSha256 }), null);
  assert.equal(await stateOf({ kind: "seal/v1", sealedSha256 }), "logged");
  await unguarded(sql`UPDATE log_leaves SET line = ${lineOf(other)} WHERE log = 'live' AND leaf = ${leaf}`);
});

test("a forged retraction does not hide the genuine one", async () => {
  const { sealedSha256 } = await logged();
  const forged = (await sizeNow()) - 2;
  const [before] = await db.query<{ line: string }>(
    sql`SELECT line FROM log_leaves WHERE log = 'live' AND leaf = ${forged}`,
  );
  const line = `retract/v1 ${sealedSha256} key-compromise\n`;
  await unguarded(sql`UPDATE log_leaves SET line = ${line} WHERE log = 'live' AND leaf = ${forged}`);
  await db.query(queueEntry("live", { kind: "retract/v1", sealedSha256, reason: "court-order" }, new Date()));
  await log.turn();
  assert.equal((await retractionOf(db, { environment: "live", sealedSha256 }))?.reason, "court-order");
  const proof = await logProof(db, "live", { kind: "seal/v1", sealedSha256 });
  assert.ok(proof.state === "logged" && parseLogProof(Buffer.from(proof.proof)).extra !== null);
  await unguarded(sql`UPDATE log_leaves SET line = ${before?.line} WHERE log = 'live' AND leaf = ${forged}`);
});
