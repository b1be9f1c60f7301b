import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { asService, testRowMac } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { closeTasks } from "../../../../src/kernel/tasks/tasks.ts";
import { advanceTestClock } from "../../../../src/kernel/test-clock/test-clock.ts";
import { lockOrder } from "../../../../src/orders/order/order.ts";
import {
  askSupplement,
  chargeByMember,
  chargesOfCode,
  checkoutUrl,
  supplementsOfCode,
  watchPayments,
  withdrawSupplement,
} from "../../../../src/orders/payments/payments.ts";
import { insertCharge } from "../../../../src/orders/payments/records/charges.ts";
import { activeMethod } from "../../../../src/orders/payments/records/methods.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, clock } = world;
const firm = await world.newFirm();
const owner = randomUUID();
const hour = 3_600_000;

/** An order whose parcel waits, because $4.07 more postage is due. */
async function waiting(payBy: "client" | "firm", environment: "live" | "test" = "live") {
  const { partnerId } = firm.owner;
  const code = await world.orders.insert("ShippingPending", { partnerId, payBy, environment });
  const label = "Postage to the corrected address";
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    if (order) await askSupplement(tx, order, { amountCents: 407, label, actor: "system", at: clock() });
  });
  await db.query(sql`DELETE FROM jobs`);
  return { code, id: await world.orderIdOf(code) };
}

const tasksOf = (id: number) =>
  db.query<{ state: string; reason: string }>(
    sql`SELECT state, reason FROM tasks WHERE order_id = ${id} AND kind = 'postage_dearer' ORDER BY id`,
  );
const mailsTo = async (id: number) =>
  (
    await db.query(
      sql`SELECT FROM jobs WHERE payload ->> 'orderId' = ${String(id)} AND payload ->> 'moment' = 'supplement_due'`,
    )
  ).length;
async function work(): Promise<void> {
  for (const job of await world.waitingJobs()) await world.run(job);
}
async function pay(code: string): Promise<void> {
  await world.take(stripe.pay(stripe.sessionOf(await checkoutUrl(deps, code, null))));
}
const stateOf = async (code: string) => (await supplementsOfCode(db, code))[0]?.state;

test("a declined charge for additional postage opens a task with the ways on, and the checkout still pays it", async () => {
  const { code, id } = await waiting("firm");
  stripe.firm.outcomes.set(firm.method, "card_declined");
  await chargeByMember(deps, firm.principal, code);
  await work();
  assert.equal((await chargesOfCode(db, code))[0]?.state, "declined");
  const [task, ...more] = await tasksOf(id);
  assert.deepEqual(more, []);
  assert.match(
    task?.reason ?? "",
    /^\$4\.07 more is due for the postage, and the firm’s card or bank account was not charged/,
  );
  for (const way of [/another card/, /corrected back/, /anyway/, /refund/]) assert.match(task?.reason ?? "", way);
  await pay(code);
  assert.equal(await stateOf(code), "paid");
  assert.deepEqual(
    (await tasksOf(id)).map(({ state }) => state),
    ["done"],
  );
});

test("another card pays after a declined one, and the task ends", async () => {
  const { code, id } = await waiting("firm");
  stripe.firm.outcomes.set(firm.method, "authentication_required");
  await chargeByMember(deps, firm.principal, code);
  await work();
  assert.equal((await tasksOf(id)).length, 1);
  stripe.firm.outcomes.set(firm.method, "succeeded");
  await chargeByMember(deps, firm.principal, code);
  await work();
  const charge = (await chargesOfCode(db, code)).find(({ state }) => state === "answered");
  await world.take(stripe.chargeEvent(charge?.paymentIntent ?? ""));
  assert.equal(await stateOf(code), "paid");
  assert.deepEqual(
    (await tasksOf(id)).map(({ state }) => state),
    ["done"],
  );
});

test("a client’s bank debit that fails opens a task and mails the link again, once for a repeated event", async () => {
  const { code, id } = await waiting("client");
  const session = stripe.sessionOf(await checkoutUrl(deps, code, null));
  await world.take(stripe.payByBank(session));
  const failed = stripe.bankAnswers(session, "failed");
  for (const event of [failed, failed, { ...failed, id: `${failed.id}_again` }]) await world.take(event);
  const [task, ...more] = await tasksOf(id);
  assert.match(task?.reason ?? "", /and the bank payment for it failed/);
  assert.deepEqual([more, await mailsTo(id)], [[], 1]);
  await pay(code);
  assert.equal(await stateOf(code), "paid");
});

test("mails the firm, and nobody else, when its bank debit for postage at the checkout fails, once", async () => {
  await asService(
    { db, rowMac: testRowMac },
    sql`INSERT INTO users (id, email, created_at) VALUES (${owner}, 'owner@elm.example', ${clock()})`,
    sql`INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
      VALUES (${owner}, ${firm.owner.partnerId}, 'owner', true, ${clock()})`,
  );
  const { code, id } = await waiting("firm");
  const session = stripe.sessionOf(await checkoutUrl(deps, code, null));
  await world.take(stripe.payByBank(session));
  const failed = stripe.bankAnswers(session, "failed");
  for (const event of [failed, { ...failed, id: `${failed.id}_again` }]) await world.take(event);
  const mails = await db.query<{ cents: number }>(sql`
    SELECT (payload ->> 'cents')::int AS cents FROM jobs WHERE queue = 'firm-money-mail'
      AND payload ->> 'to' = ${owner} AND payload ->> 'moment' = 'debit_failed'`);
  assert.deepEqual([mails, await mailsTo(id)], [[{ cents: 407 }], 0]);
  const [task, ...more] = await tasksOf(id);
  assert.match(task?.reason ?? "", /and the firm’s bank payment for it failed/);
  assert.deepEqual(more, []);
});

test("an amount that nobody pays for three days opens one task and one more mail; a bank that moves the money has more time", async () => {
  const { id } = await waiting("client");
  const { code: banked, id: moving } = await waiting("client");
  await world.take(stripe.payByBank(stripe.sessionOf(await checkoutUrl(deps, banked, null))));
  world.advance(71 * hour);
  await watchPayments(deps);
  assert.deepEqual(await tasksOf(id), []);
  world.advance(2 * hour);
  await Promise.all([watchPayments(deps), watchPayments(deps)]);
  const [task] = await tasksOf(id);
  assert.match(task?.reason ?? "", /nobody has paid it for three days/);
  assert.deepEqual([(await tasksOf(id)).length, await mailsTo(id), await tasksOf(moving)], [1, 1, []]);
  const end = { state: "done", at: clock(), by: "operator:x", outcome: "the client was called" } as const;
  await db.transaction((tx) => closeTasks(tx, { orderId: id, kinds: ["postage_dearer"] }, end));
  world.advance(200 * hour);
  await watchPayments(deps);
  assert.equal((await tasksOf(id)).length, 1);
});

test("the test clock brings the end of an unpaid amount of a test order nearer, and of no live order", async () => {
  const { partnerId } = firm.owner;
  const { id: live } = await waiting("client");
  const { id: test } = await waiting("client", "test");
  await watchPayments(deps);
  assert.deepEqual([await tasksOf(live), await tasksOf(test)], [[], []]);
  const principal = { ...firm.principal, partnerId, environment: "test" } as const;
  await advanceTestClock({ db, clock, nearer: [] }, principal, { seconds: 71 * 3600 });
  await watchPayments(deps);
  assert.deepEqual(await tasksOf(test), []);
  await advanceTestClock({ db, clock, nearer: [] }, principal, { seconds: 2 * 3600 });
  await watchPayments(deps);
  assert.match((await tasksOf(test))[0]?.reason ?? "", /nobody has paid it for three days/);
  assert.deepEqual([await mailsTo(test), await tasksOf(live)], [1, []]);
});

test("an address that is corrected back ends the wish for money, and its task", async () => {
  const { code, id } = await waiting("firm");
  stripe.firm.outcomes.set(firm.method, "card_declined");
  await chargeByMember(deps, firm.principal, code);
  await work();
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    if (order) await withdrawSupplement(tx, order, { actor: "system", at: clock() });
  });
  assert.deepEqual(
    (await tasksOf(id)).map(({ state }) => state),
    ["dropped"],
  );
  world.advance(100 * hour);
  await watchPayments(deps);
  assert.equal((await tasksOf(id)).length, 1);
});

test("an order that was altered keeps no other order’s payer from being reminded", async () => {
  const { id } = await waiting("client");
  const { id: altered } = await waiting("client");
  await db.query(sql`UPDATE orders SET customer_name = 'Somebody else' WHERE id = ${altered}`);
  world.advance(73 * hour);
  await watchPayments(deps);
  assert.deepEqual([(await tasksOf(id)).length, await mailsTo(id)], [1, 1]);
  assert.deepEqual([(await tasksOf(altered)).length, await mailsTo(altered)], [0, 0]);
  await db.query(sql`UPDATE supplements SET state = 'withdrawn' WHERE order_id = ${altered}`);
});

test("a watch that is stopped reports nothing more", async () => {
  const { id } = await waiting("client");
  world.advance(73 * hour);
  await watchPayments(deps, AbortSignal.abort());
  assert.deepEqual([await tasksOf(id), await mailsTo(id)], [[], 0]);
  await watchPayments(deps);
  assert.equal((await tasksOf(id)).length, 1);
});

test("a payer whose charge begins in this moment is not reminded", async () => {
  const { code, id } = await waiting("firm");
  world.advance(73 * hour);
  const [supplement] = await supplementsOfCode(db, code);
  const method = await activeMethod(db, firm.owner);
  let watch: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await lockOrder(tx, code);
    watch = watchPayments(deps);
    await until(() => isWaitedFor(tx));
    const { partnerId, environment } = firm.owner;
    const about = { orderId: id, partnerId, environment, methodId: method?.id ?? "", askedBy: "system" };
    const money = { amountCents: 407, supplementId: supplement?.id ?? null, askedAt: clock(), reason: null };
    assert.ok(await insertCharge(tx, { id: randomUUID(), groupId: null, ...about, ...money, state: "asked" }));
  });
  await watch;
  assert.deepEqual([await tasksOf(id), await mailsTo(id)], [[], 0]);
});
