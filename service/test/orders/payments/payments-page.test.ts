import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticate, testRowMac } from "@signsealship/testing/row-mac";
import type { Sql } from "../../../src/kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { pendingPayments, stuckCharges, unappliedPayments } from "../../../src/orders/payments/payments.ts";
import { byHandStatement, refundsOnPage } from "../../../src/orders/payments/refunds/by-hand.ts";
import { explain } from "../../explain.ts";
import { openOrdersDatabase } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const requested = 40_000;
const byHand = 120;

await orders.insert("EsignPending");
await db.transaction(async (tx) => {
  // Disables triggers, which would take most of the time.
  await tx.script("SET LOCAL session_replication_role = replica");
  await tx.query(sql`
    INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
    SELECT (SELECT min(id) FROM orders), 'pi_' || n / 2, 'cs_' || n, 9900, 'usd', false, timestamptz '2026-01-01' + n * interval '1 second'
    FROM generate_series(1, ${requested}::int) n`);
  await tx.query(sql`
    INSERT INTO billing_documents (partner_id, environment, kind, year, number, payment_id, booked_at, buyer_name)
    SELECT o.partner_id, 'live', 'receipt', 2026, row_number() OVER (ORDER BY p.id), p.id, p.received_at, 'Acme Title'
    FROM payments p JOIN orders o ON o.id = p.order_id`);
  await tx.query(sql`
    INSERT INTO firm_charges (id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at)
    SELECT gen_random_uuid(), o.id, o.partner_id, 'live', gen_random_uuid(), 9900, 'system', o.created_at, 'succeeded', o.created_at
    FROM orders o CROSS JOIN generate_series(1, 5000)`);
  await tx.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    SELECT gen_random_uuid(), o.id, 'complete', 9900, 'usd', o.created_at, o.created_at FROM orders o CROSS JOIN generate_series(1, 5000)`);
  await tx.query(sql`
    INSERT INTO processor_events (event_id, type, order_id, outcome, received_at)
    SELECT 'evt_' || n, 'charge.succeeded', o.id, 'moved', o.created_at FROM orders o CROSS JOIN generate_series(1, 20000) n`);
  // Refunds that this service requested, and a few that somebody made at the processor.
  await tx.query(sql`
    INSERT INTO refunds (id, payment_intent, amount_cents, currency, state, request, payment, seen_at, changed_at)
    SELECT 're_' || n, 'pi_' || n, 100, 'usd', 'succeeded', CASE WHEN n % ${Math.floor(requested / 2 / byHand)}::int = 0 THEN NULL ELSE 'request ' || n END,
      NULL, t, t FROM (SELECT n, timestamptz '2026-01-01' + n * interval '1 second' AS t FROM generate_series(1, ${requested / 2}::int) n) s`);
});
await db.query(sql`ANALYZE`);

test("the console's page of refunds by hand reads the index of these refunds, and few pages", async () => {
  for (const after of [null, `re_${requested / 4}`]) {
    const plan = await explain(db, byHandStatement("live", { after }), { analyze: true });
    const refunds = plan.filter((node) => node["Relation Name"] === "refunds" && node["Index Name"] !== "refunds_pkey");
    assert.ok(refunds.length > 0);
    for (const node of refunds) {
      assert.notEqual(node["Node Type"], "Seq Scan", JSON.stringify(node));
      assert.match(node["Index Name"] ?? "refunds_by_hand", /refunds_by_hand|refunds_of_payment/);
    }
    assert.ok(
      plan.every((node) => node["Node Type"] !== "Seq Scan" || node["Relation Name"] === "orders"),
      "no scan of payments or documents",
    );
    const [top] = plan;
    const blocks = (top?.["Shared Hit Blocks"] ?? 0) + (top?.["Shared Read Blocks"] ?? 0);
    assert.ok(blocks < refundsOnPage * 200, `${blocks} blocks`);
  }
});

/** The first statement that the work sends to the database. */
async function firstOf(work: (db: Sql) => Promise<unknown>): Promise<Statement> {
  const sent: Statement[] = [];
  const spy: Sql = {
    query: async (statement) => {
      sent.push(statement);
      return [];
    },
  };
  await work(spy);
  const [first] = sent;
  assert.ok(first);
  return first;
}

test("the other lists of that page read their own indexes, and no whole table of payments", async () => {
  const clock = () => new Date("2026-02-01T00:00:00Z");
  for (const [index, statement] of [
    ["checkout_sessions_pending", await firstOf((spy) => pendingPayments({ db: spy, clock }, "live"))],
    ["firm_charges_one_open", await firstOf((spy) => stuckCharges({ db: spy, clock }, "live"))],
    ["processor_events_unapplied", await firstOf((spy) => unappliedPayments({ db: spy }, "live"))],
  ] as const) {
    const plan = await explain(db, statement, { settings: "SET LOCAL enable_seqscan = off" });
    assert.ok(
      plan.some((node) => node["Index Name"] === index),
      `${index}: ${plan.map((node) => node["Index Name"] ?? node["Node Type"])}`,
    );
  }
});

test("payments of test orders that wait for a bank leave room for those of live orders", async () => {
  await orders.insert("AwaitingPayment", { environment: "test" });
  const live = await orders.insert("AwaitingPayment");
  await db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    SELECT gen_random_uuid(), o.id, 'pending_funds', 9900, 'usd', o.created_at - n * interval '1 hour', o.created_at
    FROM orders o CROSS JOIN generate_series(0, 250) n
    WHERE o.status = 'AwaitingPayment' AND (o.environment = 'test' OR n = 0)`);
  await authenticate({ db, rowMac: testRowMac }, "checkout_sessions");
  const clock = () => new Date();
  assert.deepEqual(
    (await pendingPayments({ db, clock }, "live")).map(({ orderCodes }) => orderCodes),
    [[live]],
  );
  assert.equal((await pendingPayments({ db, clock }, "test")).length, 200);
});
