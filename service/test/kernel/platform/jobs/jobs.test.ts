import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { createJobs, enqueue, type Jobs } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { claimDueJobs } from "../../../../src/kernel/platform/jobs/store.ts";
import { openOrdersDatabase, silent } from "../../../orders/order/orders-database.ts";

let running: Jobs[] = [];

const orders = await forTests(openOrdersDatabase());
afterEach(async () => {
  await Promise.all(running.map((jobs) => jobs.stop()));
  running = [];
  await orders.db.query(sql`DELETE FROM jobs`);
});

function node(outcomes: string[] = []): Jobs {
  const jobs = createJobs({
    db: orders.db,
    log: silent,
    onOutcome: (queue, outcome) => outcomes.push(`${queue} ${outcome}`),
  });
  running.push(jobs);
  return jobs;
}

const left = async () => (await orders.db.query<{ n: number }>(sql`SELECT count(*) AS n FROM jobs`))[0]?.n;

test("a job runs after its transaction has committed, and never when it was rolled back", async () => {
  const done: number[] = [];
  const jobs = node();
  jobs.work<{ n: number }>("q", async ({ n }) => void done.push(n));
  await jobs.start();
  await assert.rejects(
    orders.db.transaction(async (tx) => {
      await enqueue(tx, "q", { n: 1 });
      throw new Error("no");
    }),
  );
  await orders.db.transaction((tx) => enqueue(tx, "q", { n: 2 }));
  await until(() => done.length === 1);
  assert.deepEqual(done, [2]);
  await until(async () => (await left()) === 0);
});

test("two nodes run a thousand jobs once each", async () => {
  const done: number[] = [];
  await orders.db.query(sql`SELECT enqueue_job('q', jsonb_build_object('n', n)) FROM generate_series(1, 1000) n`);
  for (const jobs of [node(), node()]) {
    jobs.work<{ n: number }>("q", async ({ n }) => void done.push(n), { concurrency: 50 });
    await jobs.start();
  }
  await until(async () => (await left()) === 0);
  assert.equal(done.length, 1000);
  assert.equal(new Set(done).size, 1000);
});

test("a node claims no more jobs than it has room for, even if the plan reads a claim's rows more than once", async () => {
  await orders.db.query(sql`SELECT enqueue_job('q', jsonb_build_object('n', n)) FROM generate_series(1, 50) n`);
  const claimed = await orders.db.transaction(async (tx) => {
    // Forces a nested-loop plan. PostgreSQL chooses such a plan by itself for tables that change often.
    for (const way of ["hashagg", "sort", "hashjoin", "mergejoin", "material", "indexscan", "bitmapscan"])
      await tx.script(`SET LOCAL enable_${way} = off`);
    return claimDueJobs(tx, "q", 2, 30_000);
  });
  assert.equal(claimed.length, 2);
});

test("a job that fails is retried up to its maximum, then stays on record", async () => {
  const attempts: number[] = [];
  const outcomes: string[] = [];
  const jobs = node(outcomes);
  const failing = async (_payload: object, { attempt }: { attempt: number }) => {
    attempts.push(attempt);
    throw new Error(`no luck at ${attempt}`);
  };
  jobs.work("q", failing, { maxAttempts: 3, retryMs: () => 1 });
  await jobs.start();
  await enqueue(orders.db, "q", {});
  await until(() => outcomes.includes("q dead"));
  assert.deepEqual(attempts, [1, 2, 3]);
  const [row] = await orders.db.query<{ failed: boolean; error: string }>(sql`
    SELECT failed_at IS NOT NULL AS failed, last_error AS error FROM jobs`);
  assert.deepEqual(row, { failed: true, error: "no luck at 3" });
});

test("a killed node's job is claimed by another when its lease has ended", async () => {
  await enqueue(orders.db, "q", { n: 1 });
  // Simulates a node that claimed the job and crashed: its lease expires in 50 ms.
  await orders.db.query(sql`UPDATE jobs SET attempts = 1, due_at = now() + interval '50 ms'`);
  const seen: number[] = [];
  const jobs = node();
  jobs.work("q", async (_payload, { attempt }) => void seen.push(attempt));
  await jobs.start();
  await until(() => seen.length === 1);
  assert.deepEqual(seen, [2]);
});

test("a job that takes longer than its lease keeps it", async () => {
  let began = 0;
  const options = { leaseMs: 150 };
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const jobs of [node(), node()]) {
    jobs.work(
      "q",
      () => {
        began++;
        return held;
      },
      options,
    );
    await jobs.start();
  }
  await enqueue(orders.db, "q", {});
  await until(() => began === 1);
  // Takes longer than several leases, so the node must have extended the job's lease.
  await orders.db.query(sql`SELECT pg_sleep(0.6)`);
  assert.equal(began, 1);
  release();
  await until(async () => (await left()) === 0);
  assert.equal(began, 1);
});

test("a job waits for its time", async () => {
  const seen: string[] = [];
  const jobs = node();
  jobs.work<{ name: string }>("q", async ({ name }) => void seen.push(name));
  await jobs.start();
  await enqueue(orders.db, "q", { name: "far" }, new Date(Date.now() + 3_600_000));
  await enqueue(orders.db, "q", { name: "soon" }, new Date(Date.now() + 100));
  await enqueue(orders.db, "q", { name: "now" });
  await until(() => seen.length === 2);
  assert.deepEqual(seen, ["now", "soon"]);
});

test("a job without a notification is found", async () => {
  let done = 0;
  const jobs = node();
  jobs.work("q", async () => void done++);
  await jobs.start();
  await orders.db.query(sql`INSERT INTO jobs (queue, payload, due_at) VALUES ('q', '{}', now() + interval '2 s')`);
  await until(() => done === 1);
});

test("idle queues share one query to the database every few seconds", async () => {
  let asked = 0;
  const query: typeof orders.db.query = (statement) => {
    asked++;
    return orders.db.query(statement);
  };
  const jobs = createJobs({ db: { ...orders.db, query }, log: silent });
  running.push(jobs);
  for (let n = 0; n < 50; n++) jobs.work(`q${n}`, async () => {});
  await jobs.start();
  await until(() => asked > 0);
  await setTimeout(100);
  assert.equal(asked, 1);
});

test("when stopped during its start, it leaves no connection open", async () => {
  const jobs = node();
  const starting = jobs.start();
  await jobs.stop();
  await starting;
  const listeners = sql`SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`;
  await until(async () => (await orders.db.query<{ n: number }>(listeners))[0]?.n === 0);
});

test("receives notifications again after its connection was broken", async () => {
  let done = 0;
  const jobs = node();
  jobs.work("q", async () => void done++);
  await jobs.start();
  await orders.db.query(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`);
  await enqueue(orders.db, "q", {});
  await until(() => done === 1);
});
