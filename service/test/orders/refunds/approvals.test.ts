import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticatePayments } from "@signsealship/testing/row-mac";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import { enqueue } from "../../../src/kernel/platform/jobs/jobs.ts";
import { lockOrder, transition } from "../../../src/orders/order/order.ts";
import { heldPayments, settledRefundQueue, sharedCheckout } from "../../../src/orders/payments/payments.ts";
import {
  approveAssignment,
  approveRefund,
  askAssignment,
  previewRefund,
  type RefundDeps,
  refuseRefund,
  requestRefund,
  requestUnappliedRefund,
  waitingRefunds,
} from "../../../src/orders/refunds/refunds.ts";
import { openMoneyWorld } from "../payments/money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe } = world;
const refunds: RefundDeps = { ...deps, refundApproval: "two-persons" };
const firm = await world.newFirm();
const agent = await world.newOperator("agent");
const approver = await world.newOperator("approver");
const total = 9_900;
const changed = { code: "conflict", message: /The money held for this order has changed/ };

async function work(): Promise<void> {
  for (const job of await world.waitingJobs()) await world.run(job);
}

/** Two orders that are paid together. */
async function paid() {
  const insert = () => world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, totalCents: total });
  const codes = [await insert(), await insert()] as const;
  const members = await Promise.all(codes.map(async (code) => ({ id: await world.orderIdOf(code), code })));
  const group = { groupId: newUuid(), environment: "live" } as const;
  const { checkoutUrl } = await sharedCheckout(deps, group, async () => members);
  const event = stripe.pay(stripe.sessionOf(checkoutUrl));
  return { codes, event, intent: String(event.data.object["payment_intent"]) };
}

async function paidOrders() {
  const { event, ...orders } = await paid();
  await world.take(event);
  return orders;
}

const refundsAt = (intent: string) => stripe.refunds.filter((each) => each["payment_intent"] === intent);
const sumsAt = (intent: string) => refundsAt(intent).map((each) => each["amount"]);
const heldOf = async (code: string) =>
  (await previewRefund({ db }, agent, code)).payments.map(({ amountCents }) => amountCents);
const whole = (code: string) => requestRefund(refunds, agent, { code, reason: "asked" });
const approve = (id: string) => approveRefund(refunds, approver, id);

/** Somebody refunds a part of the payment at the processor. Then two people assign the refund to the first order. */
async function assigned(intent: string, cents: number): Promise<string> {
  for (const event of stripe.refundByHand(intent, cents)) await world.take(event);
  await work();
  const waiting = (await waitingRefunds({ db }, agent)).find(({ paymentIntent }) => paymentIntent === intent);
  assert.ok(waiting);
  const { id: refund, shares } = waiting;
  const parts = [{ payment: shares[0]?.paymentId ?? 0, cents }];
  await approveAssignment(
    refunds,
    approver,
    await askAssignment(refunds, agent, { refund, parts, reason: "the payer asked" }),
  );
  return refund;
}

test("an approval returns no more than its request showed: after an assigned refund fails, it is refused", async () => {
  const { codes, intent } = await paidOrders();
  const [code] = codes;
  const refund = await assigned(intent, 3_000);
  const id = await whole(code);
  await world.take(stripe.failRefund(refund));
  assert.deepEqual(await heldOf(code), [total]);
  await assert.rejects(approve(id), changed);
  await work();
  assert.deepEqual(sumsAt(intent), [3_000], "nothing more was sent");
  await refuseRefund(refunds, approver, id, "more is held");
  await approve(await whole(code));
  await work();
  assert.equal(sumsAt(intent).at(-1), total);
});

test("an approval is refused once a part failed at the bank, even before the part’s job closes it", async () => {
  const { codes, intent } = await paidOrders();
  const [code] = codes;
  await approve(await requestRefund(refunds, agent, { code, reason: "asked", amountCents: 3_000 }));
  await work();
  const part = refundsAt(intent).at(-1) ?? {};
  for (const event of stripe.refundEvents(part)) await world.take(event);
  const id = await whole(code);
  await world.take(stripe.failRefund(String(part["id"])));
  assert.deepEqual(await heldOf(code), [total]);
  await assert.rejects(approve(id), changed);
  await work();
  await assert.rejects(approve(id), changed);
  assert.deepEqual(sumsAt(intent), [3_000]);
});

test("an approval that returns less than its request showed goes ahead", async () => {
  const { codes, intent } = await paidOrders();
  const [code] = codes;
  const id = await whole(code);
  await assigned(intent, 3_000);
  await approve(id);
  await work();
  assert.deepEqual(sumsAt(intent), [3_000, total - 3_000]);
});

/** A payment for two orders. The first order was canceled before the payment arrived. `ask` requests the refund. */
async function paidForNothing() {
  const { codes, event, intent } = await paid();
  const [code] = codes;
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    if (order)
      await transition(tx, order, "cancelled", { actor: "system", at: world.clock(), log: deps.log, reason: "x" });
  });
  await world.take(event);
  const orderId = await world.orderIdOf(code);
  const [task] = await db.query<{ subject: string }>(
    sql`SELECT subject FROM tasks WHERE kind = 'payment_unapplied' AND order_id = ${orderId}`,
  );
  const ask = () => requestUnappliedRefund(refunds, agent, { eventId: task?.subject ?? "", reason: "not needed" });
  const [payment] = await heldPayments(db, orderId);
  return { code, orderId, intent, payment: payment?.id ?? 0, ask };
}

const stateOf = async (id: string) =>
  (await db.query<{ state: string }>(sql`SELECT state FROM refund_requests WHERE id = ${id}`))[0]?.state;

/** Runs the jobs of the order's refunds more than a day later: the processor has forgotten their idempotency keys. */
async function aDayLater(orderId: number): Promise<void> {
  stripe.forgetKeys();
  await enqueue(db, settledRefundQueue, { orderId });
  await work();
}

test("a failed refund of a payment that paid nothing ends its request, and only another request sends it again", async () => {
  const { code, orderId, intent, payment, ask } = await paidForNothing();
  const id = await ask();
  await approve(id);
  await work();
  const failed = stripe.failRefund(String(refundsAt(intent)[0]?.["id"]));
  await aDayLater(orderId);
  assert.deepEqual(sumsAt(intent), [total], "the refund failed, and its event did not arrive yet");
  await world.take(failed);
  await aDayLater(orderId);
  assert.equal(await stateOf(id), "closed");
  await aDayLater(orderId);
  assert.deepEqual([sumsAt(intent), await heldOf(code)], [[total], [total]]);

  const again = await ask();
  await approve(again);
  await assert.rejects(ask(), /not held any more, or its refund was approved before/);
  await work();
  assert.deepEqual(sumsAt(intent), [total, total]);
  for (const event of stripe.refundEvents(refundsAt(intent).at(-1) ?? {})) await world.take(event);
  assert.equal(await stateOf(again), "approved");
  const [stored] = await db.query<{ isRefunded: boolean }>(
    sql`SELECT refunded_at IS NOT NULL AS "isRefunded" FROM payments WHERE id = ${payment}`,
  );
  assert.deepEqual(stored, { isRefunded: true });
  const open = sql`SELECT kind FROM tasks WHERE order_id = ${orderId} AND state = 'open'`;
  assert.deepEqual(await db.query(open), [{ kind: "refund_failed" }]);
});

test("a refund that an earlier release sent for a payment that paid nothing ends its request when it fails", async () => {
  const { orderId, intent, payment, ask } = await paidForNothing();
  const id = await ask();
  await approve(id);
  await db.query(sql`DELETE FROM jobs`);
  const share = { payment, paymentIntent: intent, amountCents: total };
  await deps.processor.refundShare({ ...share, part: null });
  await aDayLater(orderId);
  assert.deepEqual(sumsAt(intent), [total], "it is not sent under another name");
  await world.take(stripe.failRefund(String(refundsAt(intent)[0]?.["id"])));
  await aDayLater(orderId);
  assert.deepEqual([await stateOf(id), sumsAt(intent)], ["closed", [total]]);
});

test("concurrent refunds of one share are sent as one, also after an earlier one failed", async () => {
  const { intent, payment } = await paidForNothing();
  const share = { payment, paymentIntent: intent, amountCents: total };
  for (let round = 1; round <= 2; round++) {
    const parts = [newUuid(), null, newUuid()];
    await Promise.allSettled(parts.map((part) => deps.processor.refundShare({ ...share, part })));
    const sent = refundsAt(intent);
    assert.equal(sent.length, round);
    stripe.failRefund(String(sent.at(-1)?.["id"]));
  }
});

test("the refund of a payment that paid nothing returns no more than its request showed", async () => {
  const { intent, ask } = await paidForNothing();
  const refund = await assigned(intent, 3_000);
  const id = await ask();
  await world.take(stripe.failRefund(refund));
  await assert.rejects(approve(id), changed);
  await work();
  assert.deepEqual(sumsAt(intent), [3_000]);
});

test("an amount equal to all that is held is refused: only a request without an amount ends the order", async () => {
  const { codes } = await paidOrders();
  const [code, other] = codes;
  const message = /Leave the amount empty to refund it, which ends the order/;
  await assert.rejects(requestRefund(refunds, agent, { code, reason: "asked", amountCents: total }), message);
  await approve(await requestRefund(refunds, agent, { code, reason: "asked", amountCents: 900 }));
  await assert.rejects(requestRefund(refunds, agent, { code, reason: "asked", amountCents: total - 900 }), message);
  await requestRefund(refunds, agent, { code: other, reason: "asked", amountCents: total - 1 });
});

test("an amount in dollars is not compared with a sum of several currencies", async () => {
  const { codes } = await paidOrders();
  const [code] = codes;
  await db.query(sql`
    INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
    VALUES (${await world.orderIdOf(code)}, 'pi_eur', 'cs_eur', 500, 'EUR', false, now())`);
  await authenticatePayments(db, sql`payment_intent = 'pi_eur'`);
  const ask = (amountCents: number) => requestRefund(refunds, agent, { code, reason: "asked", amountCents });
  await assert.rejects(ask(total + 500), /No single payment that is held covers \$104\.00/);
  await ask(total);
  const [request] = await db.query<{ part: boolean }>(sql`
    SELECT part FROM refund_requests WHERE order_id = ${await world.orderIdOf(code)}`);
  assert.deepEqual(request, { part: true });
});
