import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { explain } from "@signsealship/testing/explain";
import { forTests } from "@signsealship/testing/for-tests";
import { pendingAnchorGauges } from "../../src/evidence/anchoring/anchoring.ts";
import { type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { enqueue, jobGauges } from "../../src/kernel/platform/jobs/jobs.ts";
import { createMetrics } from "../../src/kernel/platform/metrics.ts";
import { pendingDeliveryGauges } from "../../src/outgoing/webhooks/webhooks.ts";

const now = new Date("2026-05-01T12:00:00Z");
const db = await forTests(newDatabase());
const partner = sql`(SELECT id FROM partners LIMIT 1)`;
// Inserts rows with past times, without the rows to which they refer.
await db.transaction(async (tx) => {
  await tx.script("SET LOCAL session_replication_role = replica");
  await tx.query(sql`
    INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, state, created_at, completed_at)
    SELECT n, gen_random_uuid(), coalesce(${partner}, gen_random_uuid()), 'test', 'order.created', 'delivered',
      ${now}::timestamptz - interval '1 day', ${now} FROM generate_series(1, 30000) AS n`);
  await tx.query(sql`
    INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, created_at)
    SELECT 30000 + n, ('00000000-0000-4000-8000-00000000000' || n % 3)::uuid, gen_random_uuid(), 'test', 'order.created',
      ${now}::timestamptz - n * interval '1 s' FROM generate_series(600, 1, -1) AS n`);
});
await db.query(sql`VACUUM ANALYZE webhook_deliveries`);

const valuesOf = async (gauges: Statement) => {
  const rows = await db.query<{ gauge: string; label: string; value: number }>(gauges);
  return Object.fromEntries(rows.map(({ gauge, label, value }) => [label ? `${gauge} ${label}` : gauge, value]));
};

test("counts waiting deliveries and finds the oldest without reading ended ones", async () => {
  const gauges = pendingDeliveryGauges(now);
  assert.deepEqual(await valuesOf(gauges), {
    webhook_deliveries_pending: 600,
    webhook_deliveries_oldest_seconds: 600,
  });
  const { readWhole, blocks } = await explain(db, gauges);
  assert.deepEqual(readWhole, []);
  assert.ok(blocks < 100, `${blocks} blocks`);
});

test("reports jobs that wait, are overdue, are retried and failed by their queue", async () => {
  await enqueue(db, "late", {}, new Date(Date.now() - 60_000));
  await enqueue(db, "late", {}, new Date(Date.now() - 30_000));
  await enqueue(db, "scheduled", {}, new Date(Date.now() + 3_600_000));
  for (const payload of [{ fails: "once" }, { fails: "for good" }]) await enqueue(db, "failing", payload);
  await db.query(
    sql`UPDATE jobs SET last_error = 'no', due_at = now() + interval '1 h' WHERE payload->>'fails' = 'once'`,
  );
  await db.query(sql`UPDATE jobs SET last_error = 'no', failed_at = now() WHERE payload->>'fails' = 'for good'`);
  const { "jobs_overdue_seconds late": overdue, ...rest } = await valuesOf(jobGauges);
  assert.ok(overdue !== undefined && overdue >= 60 && overdue < 600, String(overdue));
  assert.deepEqual(rest, {
    "jobs_waiting late": 2,
    "jobs_retrying late": 0,
    "jobs_failed late": 0,
    "jobs_waiting scheduled": 1,
    "jobs_retrying scheduled": 0,
    "jobs_failed scheduled": 0,
    "jobs_overdue_seconds scheduled": 0,
    "jobs_waiting failing": 1,
    "jobs_retrying failing": 1,
    "jobs_failed failing": 1,
    "jobs_overdue_seconds failing": 0,
  });
});

test("shows 0 when no anchor waits", async () => {
  assert.deepEqual(await valuesOf(pendingAnchorGauges(now)), { anchors_pending: 0, anchors_oldest_pending_seconds: 0 });
});

test("a gauge that can't be read, or hangs, is omitted from the scrape", async () => {
  const metrics = createMetrics();
  const values = { up: 1 };
  metrics.gauge("read_gauge", "Works.", null, async () => new Map([["", 7]]));
  metrics.gauge("refused_gauge", "Fails.", null, () => Promise.reject(new Error("away")));
  metrics.gauge("hanging_gauge", "Hangs.", "name", () => new Promise(() => {}));
  metrics.info("read_info", "Works.", ["name"], async () => ({ name: String(values.up) }));
  const lines = (await metrics.render()).split("\n").filter((line) => /^(?:read|refused|hanging)_/.test(line));
  assert.deepEqual(lines, ["read_gauge 7", 'read_info{name="1"} 1']);
});
