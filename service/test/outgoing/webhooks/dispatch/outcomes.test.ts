import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { testRowMac as rowMac } from "@signsealship/testing/row-mac";
import { createPartner } from "../../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import type { Database } from "../../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { type Claimed, claimDue } from "../../../../src/outgoing/webhooks/dispatch/claim.ts";
import { createOutcomeWriter } from "../../../../src/outgoing/webhooks/dispatch/outcomes.ts";

const webhookId = "00000000-0000-4000-8000-000000000001";
const capacity = { total: 10, webhooks: { ids: [], free: [] }, partners: { ids: [], free: [] } };
const leaseMs = 60_000;
/** A lease of this length has already expired at the next claim. */
const pastMs = -1;

const db = await forTests(newDatabase());
const { partnerId } = await createPartner({ db, clock: systemClock }, { name: "Acme", tier: "trial", live: false });
await db.query(sql`INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at)
  VALUES (${webhookId}, ${partnerId}, 'test', 'https://example.com', ARRAY['order.created'], now())`);
beforeEach(async () => {
  await db.query(sql`DELETE FROM webhook_deliveries`);
  await db.query(sql`WITH event AS (
      INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
      VALUES (now(), 'test.ping', gen_random_uuid()::text, ${partnerId}, 'test', 'none') RETURNING id
    ) INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, created_at)
    SELECT id, ${webhookId}, ${partnerId}, 'test', 'test.ping', now() FROM event`);
});

async function claimOne(forMs: number): Promise<Claimed> {
  const [claimed] = await claimDue({ db, rowMac }, forMs, capacity);
  assert.ok(claimed);
  return claimed;
}

async function release(seq: number, leasedUntil: Date, untried: boolean): Promise<void> {
  const writer = createOutcomeWriter({ db, log: openLog("silent") }, 0);
  writer.release({ seq, leasedUntil, untried });
  await writer.finish();
}

const row = async () =>
  (
    await db.query<{ until: Date | null; attempts: number }>(
      sql`SELECT leased_until AS until, attempts FROM webhook_deliveries`,
    )
  )[0];

test("a released lease is free at once, and an untried one is no attempt", async () => {
  const { seq, leasedUntil } = await claimOne(leaseMs);
  await release(seq, leasedUntil, true);
  assert.deepEqual(await row(), { until: null, attempts: 0 });
});

test("a lease that expired and belongs to another node is not released", async () => {
  const { seq, leasedUntil } = await claimOne(pastMs);
  const later = await claimOne(leaseMs);
  await release(seq, leasedUntil, true);
  assert.deepEqual(await row(), { until: later.leasedUntil, attempts: 2 });
});

test("an outcome counts even if the lease expired meanwhile: the delivery is not sent again", async () => {
  const { seq } = await claimOne(pastMs);
  const writer = createOutcomeWriter({ db, log: openLog("silent") }, 0);
  writer.complete({
    seq,
    webhookId,
    isFailing: false,
    statusCode: 200,
    durationMs: 1,
    reason: null,
    completedAt: systemClock(),
    exchange: null,
  });
  await writer.finish();
  assert.deepEqual(await claimDue({ db, rowMac }, leaseMs, capacity), []);
});

test("outcomes are written while a webhook's own row is locked, and failures of the others are counted", async () => {
  const [delivery] = await claimDue({ db, rowMac }, leaseMs, capacity);
  assert.ok(delivery);
  const others = "00000000-0000-4000-8000-000000000002";
  await db.query(sql`INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at)
    VALUES (${others}, ${partnerId}, 'test', 'https://example.com/2', ARRAY['order.created'], now())`);
  const writer = createOutcomeWriter({ db, log: openLog("silent") }, 0);
  const failed = { isFailing: false, statusCode: 500, durationMs: 1, reason: "http_status", exchange: null };
  const completedAt = systemClock();
  await db.transaction(async (tx) => {
    await tx.query(sql`SELECT 1 FROM webhooks WHERE id = ${webhookId} FOR UPDATE`);
    writer.complete({ ...failed, seq: delivery.seq, webhookId, completedAt });
    writer.complete({ ...failed, seq: 0, webhookId: others, completedAt });
    await writer.finish();
    assert.equal((await row())?.until, null);
  });
  const counted = await db.query<{ failures: number }>(sql`SELECT failures FROM webhooks ORDER BY id`);
  assert.deepEqual(
    counted.map(({ failures }) => failures),
    [0, 1],
  );
});

test("an arrived delivery ends a run that was counted before, on this node or on another, and costs nothing else", async () => {
  const { seq } = await claimOne(leaseMs);
  let transactions = 0;
  const counting: Database = {
    ...db,
    transaction(work) {
      transactions++;
      return db.transaction(work);
    },
  };
  const writer = createOutcomeWriter({ db: counting, log: openLog("silent") }, 0);
  const ended = { seq, webhookId, statusCode: 200, durationMs: 1, reason: null, exchange: null };
  const failures = async () =>
    (await db.query<{ failures: number }>(sql`SELECT failures FROM webhooks WHERE id = ${webhookId}`))[0]?.failures;
  await db.query(sql`UPDATE webhooks SET failures = 3 WHERE id = ${webhookId}`);
  const complete = async (more: { isFailing: boolean; reason: string | null }) => {
    writer.complete({ ...ended, ...more, completedAt: systemClock() });
    await writer.finish();
    return [await failures(), transactions];
  };
  assert.deepEqual(await complete({ isFailing: true, reason: null }), [0, 1]);
  assert.deepEqual(await complete({ isFailing: false, reason: null }), [0, 1]);
  assert.deepEqual(await complete({ isFailing: false, reason: "timeout" }), [1, 2]);
  assert.deepEqual(await complete({ isFailing: false, reason: null }), [0, 3]);
  assert.deepEqual(await complete({ isFailing: false, reason: null }), [0, 3]);
});

test("a failed release of a lease does not count the failures of the same batch twice", async () => {
  const { seq, leasedUntil } = await claimOne(leaseMs);
  await db.query(sql`UPDATE webhooks SET failures = 0 WHERE id = ${webhookId}`);
  let queries = 0;
  const refusing: Database = {
    ...db,
    query(statement) {
      queries++;
      return queries === 2 ? Promise.reject(new Error("no connection")) : db.query(statement);
    },
  };
  const writer = createOutcomeWriter({ db: refusing, log: openLog("silent") }, 0);
  const failed = { isFailing: false, statusCode: 500, durationMs: 1, reason: "http_status", exchange: null };
  writer.complete({ ...failed, seq, webhookId, completedAt: systemClock() });
  writer.release({ seq: 0, leasedUntil, untried: true });
  while (queries < 3) await delay(50);
  await writer.finish();
  const [counted] = await db.query<{ failures: number }>(sql`SELECT failures FROM webhooks WHERE id = ${webhookId}`);
  assert.deepEqual([queries, counted?.failures], [3, 1]);
});
