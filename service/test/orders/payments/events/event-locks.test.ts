import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { lockOrders } from "../../../../src/orders/order/order.ts";
import { lockIntent } from "../../../../src/orders/payments/records/disputes.ts";
import { activeMethod, updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { recordPayment } from "../../../../src/orders/payments/records/payments.ts";
import { groupsOf } from "../charged-group.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, stripe, clock, orders } = world;
const { group, charge, runJobs, intentsOf, charged, statuses, paidBy } = groupsOf(world);

/** The number of deadlocks so far in the log of this file's own database server. */
async function deadlocks(): Promise<number> {
  const [row] = await db.query<{ setting: string }>(sql`SELECT setting FROM pg_settings WHERE name = 'data_directory'`);
  const log = readFileSync(join(dirname(row?.setting ?? ""), "server.log"), "utf8");
  return log.split("deadlock detected").length - 1;
}

const waitingLocks = async () => (await db.query(sql`SELECT FROM pg_locks WHERE NOT granted`)).length;
const again = (event: StripeEvent): StripeEvent => ({ ...event, id: newUuid() });

test("the server's log shows a deadlock, so that the other tests would find one", async () => {
  const before = await deadlocks();
  const codes = [await orders.insert("QuoteReady"), await orders.insert("QuoteReady")] as const;
  const bothHoldAnOrder = Promise.withResolvers<void>();
  let holding = 0;
  const lockBoth = (first: string, second: string) =>
    db.transaction(async (tx) => {
      await lockOrders(tx, [first]);
      if (++holding === 2) bothHoldAnOrder.resolve();
      await bothHoldAnOrder.promise;
      await lockOrders(tx, [second]);
    });
  await Promise.all([lockBoth(codes[0], codes[1]), lockBoth(codes[1], codes[0])]);
  assert.equal(await deadlocks(), before + 1);
});

test("a dispute that waits for its payment to be recorded doesn't deadlock with the next event of the payment", async () => {
  const before = await deadlocks();
  const code = await orders.insert("EsignPending");
  const orderId = await world.orderIdOf(code);
  const paymentIntent = `pi_${newUuid()}`;
  const object = { id: "dp_early", payment_intent: paymentIntent, amount: 9_900, currency: "usd" };
  const opened = stripe.event("charge.dispute.created", { ...object, status: "needs_response" });
  const closed = stripe.event("charge.dispute.closed", { ...object, status: "lost" });
  const events: Promise<boolean>[] = [];
  await db.transaction(async (tx) => {
    await lockIntent(tx, paymentIntent);
    // This dispute finds no order, and waits for the lock on the payment.
    events.push(world.take(opened));
    await until(async () => (await waitingLocks()) === 1);
    const payment = { paymentIntent, sessionId: "cs_early", amount: 9_900, currency: "usd", simulated: false };
    await db.transaction((other) => recordPayment(other, { orderId, ...payment, at: clock() }));
    // This event finds the order, locks it, and also waits for the lock on the payment.
    events.push(world.take(closed));
    await until(async () => (await waitingLocks()) === 2);
  });
  assert.deepEqual(await Promise.all(events), [true, true]);
  assert.equal(await deadlocks(), before);
  assert.deepEqual(await statuses([code]), ["OnHold"]);
});

/**
 * Two payments from one firm's bank account. `events` are about each payment and its dispute, which is opened and then
 * lost; some events are repeated.
 */
async function burst(): Promise<{ codes: readonly string[]; events: StripeEvent[] }> {
  const { firm, codes, intent } = await charged();
  const method = await activeMethod(db, firm.owner);
  const saved = { method: firm.method, kind: "bank", brand: "ELM BANK", last4: "6789", expires: null } as const;
  await db.transaction((tx) => updateMethod(tx, method?.id ?? "", { state: "active", saved }));
  const { partnerId } = firm.owner;
  const others = [
    await orders.insert("QuoteReady", { partnerId, payBy: "firm" }),
    await orders.insert("QuoteReady", { partnerId, payBy: "firm" }),
  ];
  await charge({ firm, codes: others });
  await runJobs();
  const second = String(intentsOf(firm).find(({ id }) => id !== intent)?.["id"]);
  const events = [intent, second].flatMap((each) => {
    const paid = stripe.chargeEvent(each);
    const opened = stripe.dispute(each, {});
    const id = String(opened.data.object["id"]);
    const lost = stripe.endDispute(id, "lost");
    const updated = stripe.event("charge.dispute.updated", { ...opened.data.object });
    return [opened, paid, lost, updated, again(opened), again(paid), again(lost), opened, paid, lost];
  });
  return { codes: [...codes, ...others], events };
}

test("bursts of disputes, payments and repetitions deadlock nothing, and end in the same books", async () => {
  const before = await deadlocks();
  for (let round = 0; round < repeats(6, 4, 12); round++) {
    const { codes, events } = await burst();
    // Each round starts the events in another order.
    const start = (round * 7) % events.length;
    const taken = await Promise.all(
      [...events.slice(start), ...events.slice(0, start)].map((event) => world.take(event)),
    );
    assert.ok(taken.every((isTaken) => isTaken));
    assert.deepEqual(new Set(await statuses(codes)), new Set(["OnHold"]));
    assert.deepEqual(await Promise.all(codes.map(paidBy)), [[9_500], [18_240], [1_020], [9_900], [9_900]]);
  }
  assert.equal(await deadlocks(), before);
});

test("a refund of one order's share and disputes of its payment at once deadlock nothing", async () => {
  const before = await deadlocks();
  for (let round = 0; round < repeats(6, 4, 12); round++) {
    const { codes, firm } = await group();
    await charge({ firm, codes });
    await runJobs();
    const intent = String(intentsOf(firm)[0]?.["id"]);
    await world.take(stripe.chargeEvent(intent));
    const payments = await db.query<{ id: number; cents: number }>(sql`
      SELECT id, amount_cents::float8 AS cents FROM payments WHERE payment_intent = ${intent} ORDER BY order_id DESC`);
    const refunds = payments.map(({ id, cents }) => {
      const metadata = { refund_request: `payment:${id}`, payment: String(id) };
      const refund = { id: `re_${newUuid()}`, payment_intent: intent, amount: cents, currency: "usd", metadata };
      return stripe.event("refund.updated", { ...refund, status: "succeeded" });
    });
    const opened = stripe.dispute(intent, {});
    const all = [...refunds, opened, ...refunds.map(again), again(opened)];
    assert.ok((await Promise.all(all.map((event) => world.take(event)))).every((isTaken) => isTaken));
  }
  assert.equal(await deadlocks(), before);
});
