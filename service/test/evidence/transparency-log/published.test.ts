import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import fc from "fast-check";
import { checkpointForReaders, publishForReaders } from "../../../src/evidence/transparency-log/published.ts";
import { insertCheckpoint } from "../../../src/evidence/transparency-log/store.ts";
import { claimWitnesses, insertCosignature } from "../../../src/evidence/transparency-log/witness-store.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const db = await forTests(newDatabase());
const start = Date.UTC(2026, 0, 1);
const witness = "witness.example.com+01020304";
const at = (second: number) => new Date(start + second * 1_000);

let logs = 1;
/** A separate log for each case, with one witness. */
async function newLog() {
  const log = `live-${++logs}`;
  await claimWitnesses(db, log, [witness], at(0), at(0));
  const signs = (size: number) =>
    db.transaction((tx) => insertCheckpoint(tx, log, { size, note: `state ${size}` }, at(0)));
  const getsQuorum = (size: number, second: number) =>
    db.transaction((tx) => insertCosignature(tx, log, size, { witness, line: "x\n", cosignedAt: at(second) }, true));
  const shown = async (second: number) => (await publishForReaders(db, log, at(second)))?.size;
  return { log, signs, getsQuorum, shown };
}

test("shows a state with a quorum for a minute, and the newest one afterwards", async () => {
  const { signs, getsQuorum, shown } = await newLog();
  assert.equal(await shown(0), undefined);
  await signs(1);
  assert.equal(await shown(0), 1);
  await getsQuorum(1, 1);
  await signs(2);
  assert.equal(await shown(2), 1);
  assert.equal(await shown(61), 1);
  assert.equal(await shown(62), 2);
});

test("a quorum that comes late leads no reader back to a smaller state", async () => {
  const { signs, getsQuorum, shown } = await newLog();
  for (const size of [1, 2, 3]) await signs(size);
  assert.equal(await shown(0), 3);
  await getsQuorum(2, 1);
  assert.equal(await shown(2), 3);
  await signs(4);
  assert.equal(await shown(61), 4, "a late quorum does not hold back the newest state");
  await signs(5);
  await getsQuorum(4, 62);
  assert.equal(await shown(63), 4, "a quorum of the state that readers have seen counts again");
});

test("shows a state without a quorum for a minute, so that its quorum can come", async () => {
  const { signs, getsQuorum, shown } = await newLog();
  await signs(1);
  assert.equal(await shown(0), 1);
  await signs(2);
  assert.equal(await shown(60), 1);
  assert.equal(await shown(61), 2);
  await signs(3);
  await getsQuorum(3, 62);
  assert.equal(await shown(62), 3, "a newer state with a quorum comes first");
  await signs(4);
  assert.equal(await shown(122), 3);
  assert.equal(await shown(123), 4);
});

test("a state that is chosen to be anchored does not count as shown", async () => {
  const { log, signs, getsQuorum, shown } = await newLog();
  for (const size of [1, 2]) await signs(size);
  assert.equal((await checkpointForReaders(db, log, at(0)))?.size, 2);
  await getsQuorum(1, 1);
  assert.equal(await shown(2), 1);
});

test("a database that can't be written still answers readers", async () => {
  const { log, signs } = await newLog();
  await signs(1);
  const done = new Error("done");
  const reading = db.transaction(async (tx) => {
    await tx.script("SET TRANSACTION READ ONLY");
    assert.equal((await publishForReaders(tx, log, at(0)))?.size, 1);
    throw done;
  });
  await assert.rejects(reading, done);
});

test("a size that no checkpoint has is refused in the database, and keeps no quorum from readers", async () => {
  const { log, signs, getsQuorum, shown } = await newLog();
  await signs(1);
  assert.equal(await shown(0), 1);
  const beyond = sql`UPDATE log_published SET size = 9000000000000000 WHERE log = ${log}`;
  await assert.rejects(db.query(beyond), /sizes of checkpoints only/);
  await db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(beyond);
  });
  await getsQuorum(1, 1);
  assert.equal(await shown(2), 1);
  await signs(2);
  assert.equal(await shown(3), 2);
});

test("the published state never shrinks, whichever nodes answer, with clocks that differ", async () => {
  const step = fc.record({
    grows: fc.integer({ min: 0, max: 3 }),
    /** The state that gets a new quorum: 0 is the newest state, 1 the one before it. Null if no state gets one. */
    quorumBehind: fc.option(fc.integer({ min: 0, max: 4 })),
    passes: fc.integer({ min: 0, max: 45 }),
    clocks: fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { signs, getsQuorum, shown } = await newLog();
      let [size, second, last] = [0, 0, 0];
      for (const { grows, quorumBehind, passes, clocks } of steps) {
        second += passes;
        for (let i = 0; i < grows; i++) await signs(++size);
        if (quorumBehind !== null && size > quorumBehind) await getsQuorum(size - quorumBehind, second);
        for (const clock of clocks) {
          const now = (await shown(second + clock)) ?? 0;
          assert.ok(now >= last, `${now} after ${last}`);
          last = now;
        }
      }
    }),
    { numRuns: 40 },
  );
});

test("readers at several nodes concurrently see no smaller state after a larger one", async () => {
  const { log, signs, getsQuorum, shown } = await newLog();
  for (let size = 1; size <= 30; size++) {
    await signs(size);
    if (size % 3 === 0) await getsQuorum(size - 1, size);
    // By the clocks of half of the nodes below, every quorum has expired. Still, no node may show less than what was
    // published before.
    const before =
      (await db.query<{ size: number }>(sql`SELECT size FROM log_published WHERE log = ${log}`))[0]?.size ?? 0;
    const sizes = await Promise.all(Array.from({ length: 6 }, (_, node) => shown(size + (node % 2) * 120)));
    for (const each of sizes) assert.ok((each ?? 0) >= before);
  }
});

test("a log without witnesses shows its newest state, and stores nothing about readers", async () => {
  const log = "test-9";
  for (const size of [1, 2]) {
    await db.transaction((tx) => insertCheckpoint(tx, log, { size, note: `state ${size}` }, at(0)));
    assert.equal((await publishForReaders(db, log, at(0)))?.size, size);
  }
  assert.deepEqual(await db.query(sql`SELECT FROM log_published WHERE log = ${log}`), []);
});

test("the size that readers have seen can't be set back in the database", async () => {
  const { log, signs, shown } = await newLog();
  await signs(5);
  await shown(0);
  for (const change of [
    sql`UPDATE log_published SET size = size - 1 WHERE log = ${log}`,
    sql`UPDATE log_published SET log = 'other' WHERE log = ${log}`,
    sql`DELETE FROM log_published`,
    sql`TRUNCATE log_published`,
  ])
    await assert.rejects(db.query(change), /only grows|append-only/);
});
