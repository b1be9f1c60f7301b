import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { explain } from "@signsealship/testing/explain";
import { forTests } from "@signsealship/testing/for-tests";
import { createPartner } from "../../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { claimStatement } from "../../../../src/outgoing/webhooks/dispatch/claim.ts";

const webhookIds = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
const leaseMs = 60_000;
const capacity = { total: 4096, webhooks: { ids: [], free: [] }, partners: { ids: [], free: [] } };

const db = await forTests(newDatabase());
const { partnerId } = await createPartner({ db, clock: systemClock }, { name: "Acme", tier: "trial", live: false });
await db.query(sql`
  INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at)
  SELECT id, ${partnerId}, 'test', 'https://example.com/' || id, ARRAY['test.ping'], now() FROM unnest(${webhookIds}::uuid[]) AS id`);
const insert = async (events: number, ended: boolean) =>
  await db.query(sql`
  WITH fresh AS (
    INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
    SELECT now(), 'test.unheard', 'e', ${partnerId}, 'test', 'none' FROM generate_series(1, ${events}::int) RETURNING id
  ) INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, created_at, state, completed_at)
  SELECT fresh.id, webhook.id, ${partnerId}, 'test', 'test.ping', now(),
    ${ended ? "delivered" : "pending"}, ${ended ? new Date() : null}
  FROM fresh, unnest(${webhookIds}::uuid[]) AS webhook (id)`);
await insert(10_000, true);
await insert(2_500, false);
await db.query(sql`ANALYZE webhook_deliveries, events, event_chain`);

test("among many ended and pending deliveries, a claim reads little more than it returns", async () => {
  const plan = await explain(db, claimStatement(leaseMs, capacity));
  assert.deepEqual(
    plan.readWhole.filter((table) => /^(webhook_deliveries|events|event_chain)$/.test(table)),
    [],
  );
  assert.ok(plan.blocks < 1_000, String(plan.blocks));
  const taken = sql`SELECT webhook_id AS id, count(*)::int FROM webhook_deliveries WHERE leased_until IS NOT NULL GROUP BY 1 ORDER BY 1`;
  assert.deepEqual(
    await db.query(taken),
    webhookIds.map((id) => ({ id, count: 8 })),
  );
});
