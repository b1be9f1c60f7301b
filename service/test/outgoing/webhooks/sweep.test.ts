import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import { dropOldExchanges, sweepDeliveries } from "../../../src/outgoing/webhooks/webhooks.ts";

const [partnerId, webhookId] = [newUuid(), newUuid()];

const db = await forTests(newDatabase());
await db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${partnerId}, 'Acme Title', 'trial')`);
await db.query(sql`
  INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at)
  VALUES (${webhookId}, ${partnerId}, 'test', 'https://example.com', '{none}', now())`);

const at = (day: number) => new Date(Date.UTC(2026, 0, day));

/** Inserts deliveries of a day in January 2026, in this state. */
async function deliver(count: number, day: number, state: "pending" | "delivered"): Promise<void> {
  const completedAt = state === "pending" ? null : at(day);
  await db.query(sql`
    WITH made AS (
      INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
      SELECT ${at(day)}, 'order.created', n::text, ${partnerId}, 'test', 'x' FROM generate_series(1, ${count}) AS n RETURNING id
    )
    INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, state, created_at, completed_at)
    SELECT id, ${webhookId}, ${partnerId}, 'test', 'order.created', ${state}, ${at(day)}, ${completedAt}::timestamptz FROM made`);
}

const left = async () => (await db.query<{ n: number }>(sql`SELECT count(*) AS n FROM webhook_deliveries`))[0]?.n;

test("records of deliveries that ended before an instant are deleted, page by page; pending and younger ones stay", async () => {
  await deliver(6_000, 1, "delivered");
  await deliver(2, 1, "pending");
  await deliver(5_000, 2, "delivered");
  await deliver(3, 20, "delivered");
  assert.equal(await sweepDeliveries(db, at(1)), 0);
  assert.equal(await sweepDeliveries(db, at(10)), 11_000);
  assert.equal(await left(), 5);
  assert.equal(await sweepDeliveries(db, at(10)), 0);
});

test("a sweep that is stopped leaves the rest for the next", async () => {
  assert.equal(await sweepDeliveries(db, at(30), AbortSignal.abort()), 0);
  assert.equal(await sweepDeliveries(db, at(30)), 3);
  assert.equal(await left(), 2);
});

test("requests and responses are kept for a webhook's latest 1,000 deliveries", async () => {
  const kept = async () =>
    (
      await db.query<{ kept: number; oldest: number }>(sql`
        SELECT count(*) AS kept, (max(seq) - min(seq)) AS oldest FROM webhook_deliveries WHERE exchange IS NOT NULL`)
    )[0];
  await deliver(6_500, 21, "delivered");
  await db.query(sql`UPDATE webhook_deliveries SET exchange = 'x'`);
  await dropOldExchanges(db, AbortSignal.abort());
  assert.equal((await kept())?.kept, 6_502);
  await dropOldExchanges(db);
  assert.deepEqual(await kept(), { kept: 1_000, oldest: 999 });
  await deliver(10, 22, "delivered");
  await db.query(sql`UPDATE webhook_deliveries SET exchange = 'x' WHERE created_at = ${at(22)}`);
  await dropOldExchanges(db);
  assert.deepEqual(await kept(), { kept: 1_000, oldest: 999 });
});
