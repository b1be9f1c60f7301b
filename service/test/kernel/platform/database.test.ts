import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import type { Tx } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";

const db = await forTests(newDatabase());
await db.query(sql`CREATE TABLE accounts (id int PRIMARY KEY, cents int NOT NULL)`);
await db.query(sql`INSERT INTO accounts VALUES (1, 0), (2, 0)`);

const add = (tx: Tx, id: number) => tx.query(sql`UPDATE accounts SET cents = cents + 1 WHERE id = ${id}`);
const balances = async () =>
  (await db.query<{ cents: number }>(sql`SELECT cents FROM accounts ORDER BY id`)).map(({ cents }) => cents);

test("transactions that deadlock all commit, each once", async () => {
  let attempts = 0;
  const bothHoldARow = Promise.withResolvers<void>();
  const pay = (first: number, second: number) =>
    db.transaction(async (tx) => {
      await add(tx, first);
      if (++attempts === 2) bothHoldARow.resolve();
      await bothHoldARow.promise;
      await add(tx, second);
    });
  await Promise.all([pay(1, 2), pay(2, 1)]);
  assert.deepEqual(await balances(), [2, 2]);
  assert.ok(attempts > 2, "one of them was rolled back for another");
});

test("work that throws is not repeated, and none of its changes remain", async () => {
  let attempts = 0;
  const work = db.transaction(async (tx) => {
    attempts++;
    await add(tx, 1);
    throw new ServiceError("conflict", "no");
  });
  await assert.rejects(work, { code: "conflict" });
  assert.deepEqual([attempts, await balances()], [1, [2, 2]]);
});

test("statements that are sent at once run one after another, and a failed one rolls all of them back", async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on("warning", onWarning);
  const numbers = await db.transaction((tx) =>
    Promise.all([1, 2, 3, 4].map((n) => tx.query<{ n: number }>(sql`SELECT ${n}::int AS n`))),
  );
  assert.deepEqual(
    numbers.map(([row]) => row?.n),
    [1, 2, 3, 4],
  );
  const failing = db.transaction((tx) =>
    Promise.all([add(tx, 1), tx.query(sql`SELECT 1 / 0`), add(tx, 2), add(tx, 1)]),
  );
  await assert.rejects(failing, /division by zero/);
  await setImmediate();
  process.off("warning", onWarning);
  assert.deepEqual(warnings, [], "the driver does not queue statements");
  assert.deepEqual(await balances(), [2, 2]);
});

test("a statement that is sent after the end of its transaction is refused and changes nothing", async () => {
  const ended = await db.transaction(async (tx) => {
    await tx.query(sql`SELECT 1`);
    return { tx };
  });
  await assert.rejects(add(ended.tx, 1), /the transaction has ended/);
  await assert.rejects(ended.tx.script("UPDATE accounts SET cents = 0"), /the transaction has ended/);

  const isRolledBack = Promise.withResolvers<void>();
  let late: Promise<unknown> = Promise.resolve();
  const failing = db.transaction((tx) => {
    late = isRolledBack.promise.then(() => add(tx, 1));
    return Promise.all([tx.query(sql`SELECT 1 / 0`), late]);
  });
  await assert.rejects(failing, /division by zero/);
  isRolledBack.resolve();
  await assert.rejects(late, /the transaction has ended/);
  assert.deepEqual(await balances(), [2, 2]);
});

test("a connection that ends between two statements makes its transaction unavailable and affects no other", async () => {
  const work = db.transaction(async (tx) => {
    const [own] = await tx.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
    await db.query(sql`SELECT pg_terminate_backend(${own?.pid ?? 0})`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await add(tx, 1);
  });
  await assert.rejects(work, { code: "unavailable" });
  assert.deepEqual(await balances(), [2, 2]);
});

test("a missing file does not count as an unreachable database", async () => {
  const missing = Object.assign(new Error("open"), { code: "ENOENT" });
  await assert.rejects(
    db.transaction(async () => {
      throw missing;
    }),
    missing,
  );
});
