import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeOrder } from "@signsealship/testing/row-mac";
import { newOrderLines } from "../../../src/kernel/audit/audit.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import { enqueue } from "../../../src/kernel/platform/jobs/jobs.ts";
import { documentsOfOrder } from "../../../src/orders/billing/billing.ts";
import { firmChargeQueue, lockOrder, transition } from "../../../src/orders/order/order.ts";
import { putLimit } from "../../../src/orders/payments/firm/store.ts";
import {
  chargeByMember,
  chargeGroup,
  chargesOfCode,
  checkoutUrl,
  endCharge,
  heldPayments,
  paymentsOfFirm,
  watchPayments,
} from "../../../src/orders/payments/payments.ts";
import { openMoneyWorld, type PayingFirm } from "./money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, orders, clock } = world;
const minute = 60_000;

type Group = { firm: PayingFirm; codes: readonly [string, string, string]; sum: number };

/** Three orders of a new firm that the firm pays, of different amounts. */
async function group(): Promise<Group> {
  await db.query(sql`DELETE FROM jobs`);
  const firm = await world.newFirm();
  const { partnerId } = firm.owner;
  const place = (totalCents: number) => orders.insert("QuoteReady", { partnerId, payBy: "firm", totalCents });
  const codes = [await place(9_500), await place(18_240), await place(1_020)] as const;
  return { firm, codes, sum: 9_500 + 18_240 + 1_020 };
}

const membersOf = (codes: readonly string[]) => () =>
  Promise.all(codes.map(async (code) => ({ id: await world.orderIdOf(code), code })));

const charge = ({ firm, codes }: Pick<Group, "firm" | "codes">) =>
  chargeGroup(deps, firm.principal, membersOf(codes), {
    record: async () => {},
    resultOf: (charged) => charged,
  });

async function runJobs(): Promise<void> {
  for (const job of await world.waitingJobs()) await world.run(job);
}

const intentsOf = ({ customer }: PayingFirm) =>
  [...stripe.firm.intents.values()].filter((intent) => intent["customer"] === customer);

/** A group that was charged once. @returns the payment at the processor */
async function charged(outcome: Parameters<typeof stripe.firm.outcomes.set>[1] = "succeeded") {
  const found = await group();
  stripe.firm.outcomes.set(found.firm.method, outcome);
  const { paymentId } = await charge(found);
  await runJobs();
  const [intent, ...more] = intentsOf(found.firm);
  assert.ok(intent && more.length === 0);
  return { ...found, paymentId, intent: String(intent["id"]) };
}

const take = (intent: string) => world.take(stripe.chargeEvent(intent));
const statuses = (codes: readonly string[]) => Promise.all(codes.map(async (code) => (await orders.look(code)).status));
const states = (codes: readonly string[]) =>
  Promise.all(codes.map(async (code) => (await chargesOfCode(db, code)).map(({ state }) => state)));
const paidBy = async (code: string) =>
  (await heldPayments(db, await world.orderIdOf(code))).map(({ amountCents }) => amountCents);
const all = <Value>(value: Value) => [value, value, value];
const mails = (moment: string) =>
  db.query<{ id: string; userId: string }>(sql`
    SELECT payload ->> 'id' AS id, payload ->> 'userId' AS "userId" FROM jobs
    WHERE queue = 'firm-charge-mail' AND payload ->> 'moment' = ${moment}`);
const tasksOf = (codes: readonly string[], kind: string) =>
  Promise.all(
    codes.map(async (code) => {
      const orderId = await world.orderIdOf(code);
      const found = await db.query<{ state: string }>(
        sql`SELECT state FROM tasks WHERE order_id = ${orderId} AND kind = ${kind}`,
      );
      return found.map(({ state }) => state);
    }),
  );

async function cancel(code: string): Promise<void> {
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, "cancelled", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
}

test("makes one payment of all orders, which one event moves together, with a receipt for each", async () => {
  const found = await charged();
  const { firm, codes, sum, intent, paymentId } = found;
  const [sent] = intentsOf(firm);
  assert.deepEqual([sent?.["amount"], sent?.["metadata"]], [sum, { charge: paymentId, environment: "live" }]);
  assert.deepEqual(await statuses(codes), all("QuoteReady"), "the processor's answer moves nothing");
  assert.deepEqual(await states(codes), all(["answered"]));
  const event = stripe.chargeEvent(intent);
  // Two nodes apply the event and its repetition at once.
  assert.deepEqual(
    await Promise.all([world.take(event), world.take(event), world.take({ ...event, id: `${event.id}2` })]),
    all(true),
  );
  assert.deepEqual(await statuses(codes), all("EsignPending"));
  assert.deepEqual(await states(codes), all(["succeeded"]));
  assert.deepEqual(await Promise.all(codes.map(paidBy)), [[9_500], [18_240], [1_020]]);
  for (const code of codes) {
    const receipts = (await documentsOfOrder(db, code, firm.owner)).filter(({ kind }) => kind === "receipt");
    assert.deepEqual(
      receipts.map(({ paymentReference }) => paymentReference),
      [intent],
    );
  }
  const [shown, ...more] = await paymentsOfFirm(db, firm.owner);
  assert.deepEqual(shown?.map(({ orderCode }) => orderCode).sort(), [...codes].sort());
  assert.deepEqual(more, []);
});

for (const outcome of ["card_declined", "expired_card", "authentication_required"] as const)
  test(`${outcome}: every order shows it, owners get one mail, and all can be charged again together`, async () => {
    const found = await charged(outcome);
    const { firm, codes, intent } = found;
    assert.deepEqual(await states(codes), all(["declined"]));
    assert.deepEqual(await statuses(codes), all("QuoteReady"));
    assert.equal(await take(intent), true);
    assert.deepEqual(await states(codes), all(["failed"]));
    assert.deepEqual(await statuses(codes), all("PaymentFailed"));
    const reasons = await Promise.all(codes.map(async (code) => (await chargesOfCode(db, code))[0]?.reason));
    assert.equal(new Set(reasons).size, 1);
    const sent = await mails("failed");
    assert.equal(new Set(sent.map(({ userId }) => userId)).size, sent.length, "one mail for each person");
    stripe.firm.outcomes.set(firm.method, "succeeded");
    await charge(found);
    await runJobs();
    const again = intentsOf(firm).find(({ status }) => status === "succeeded");
    await take(String(again?.["id"]));
    // The failure of the first payment is repeated late.
    assert.equal(await world.take({ ...stripe.chargeEvent(intent), id: newUuid() }), true);
    assert.deepEqual(await statuses(codes), all("EsignPending"));
    assert.deepEqual(await Promise.all(codes.map(paidBy)), [[9_500], [18_240], [1_020]]);
  });

test("a bank debit blocks every order until the bank has answered; a failure reopens all, a success pays all", async () => {
  const failing = await charged("processing");
  assert.equal(await take(failing.intent), true);
  assert.deepEqual(await statuses(failing.codes), all("AwaitingPayment"));
  assert.deepEqual(await states(failing.codes), all(["pending"]));
  for (const code of failing.codes) await assert.rejects(checkoutUrl(deps, code, null), /is under way/);
  await assert.rejects(chargeByMember(deps, failing.firm.principal, failing.codes[1]), /is under way/);
  stripe.firm.bankAnswers(failing.intent, "failed");
  await take(failing.intent);
  assert.deepEqual(await statuses(failing.codes), all("PaymentFailed"));
  assert.match(await checkoutUrl(deps, failing.codes[2], null), /cs_test/);

  const paying = await charged("processing");
  stripe.firm.bankAnswers(paying.intent, "succeeded");
  // The success arrives before the event about the start of the debit.
  const early = { ...stripe.chargeEvent(paying.intent) };
  await world.take(early);
  await world.take({ ...stripe.event("payment_intent.processing", { ...early.data.object, status: "processing" }) });
  assert.deepEqual(await statuses(paying.codes), all("EsignPending"));
  assert.deepEqual(await states(paying.codes), all(["succeeded"]));
});

test("a debit that the bank returns later is a dispute of every order, each with its part", async () => {
  const { codes, intent } = await charged("processing");
  stripe.firm.bankAnswers(intent, "succeeded");
  await take(intent);
  const opened = stripe.dispute(intent, {});
  await world.take(opened);
  assert.deepEqual(await statuses(codes), all("OnHold"));
  await world.take(stripe.endDispute(String(opened.data.object["id"]), "lost"));
  const lost = await Promise.all(
    codes.map(async (code) => (await heldPayments(db, await world.orderIdOf(code)))[0]?.lostCents),
  );
  assert.deepEqual(lost, [9_500, 18_240, 1_020]);
});

test("a refund of one order refunds its part alone", async () => {
  const { codes, intent } = await charged();
  await take(intent);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, codes[1]);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await runJobs();
  const refunds = stripe.refunds.filter((each) => each["payment_intent"] === intent);
  assert.deepEqual(
    refunds.map(({ amount }) => Number(amount)),
    [18_240],
  );
  for (const event of refunds.flatMap((refund) => stripe.refundEvents(refund))) await world.take(event);
  assert.deepEqual(await statuses(codes), ["EsignPending", "Refunded", "EsignPending"]);
});

test("pays no order when the refund of the whole payment comes before the payment", async () => {
  const { codes, intent, sum, paymentId } = await charged();
  const object = { id: "ch_1", object: "charge", payment_intent: intent, amount: sum, currency: "usd", refunded: true };
  await world.take(stripe.event("charge.refunded", { ...object, metadata: { charge: paymentId } }));
  await take(intent);
  assert.deepEqual(await statuses(codes), all("QuoteReady"));
  assert.deepEqual(await Promise.all(codes.map(paidBy)), all([]));
});

test("holds every order when the sum is wrong, and records the money once", async () => {
  const { codes, intent, sum } = await charged();
  const event = stripe.chargeEvent(intent);
  await world.take({ ...event, data: { object: { ...event.data.object, amount_received: sum - 1 } } });
  assert.deepEqual(await statuses(codes), all("OnHold"));
  assert.deepEqual((await Promise.all(codes.map(paidBy))).flat(), [sum - 1]);
});

test("an order that was canceled or repriced after the payment was sent doesn't take the others with it", async () => {
  const { codes, intent } = await charged();
  await cancel(codes[0]);
  await changeOrder(db, codes[1], sql`subtotal_cents = 20000, total_cents = 20000`);
  await take(intent);
  assert.deepEqual(await statuses(codes), ["Cancelled", "OnHold", "EsignPending"]);
  assert.deepEqual(await tasksOf(codes, "payment_unapplied"), [["open"], [], []]);
});

test("charges nothing when one of the orders changed before the payment was sent, and says so for all", async () => {
  const found = await group();
  const { codes, firm } = found;
  await charge(found);
  await cancel(codes[2]);
  await runJobs();
  assert.equal(intentsOf(firm).length, 0);
  assert.deepEqual(await states(codes), all(["refused"]));
  // The canceled order is left out of the next payment.
  await charge(found);
  await runJobs();
  const [intent] = intentsOf(firm);
  assert.equal(intent?.["amount"], 9_500 + 18_240);
});

test("limits hold for each order and, by the month, for the sum", async () => {
  const found = await group();
  const { firm, codes, sum } = found;
  const spender = `key:${firm.principal.key?.id}`;
  const limit = (orderCents: number, monthCents: number) =>
    db.transaction((tx) =>
      putLimit(tx, { owner: firm.owner, spender, orderCents, monthCents, by: spender, at: clock() }),
    );
  await limit(18_239, 1_000_000);
  await assert.rejects(
    charge(found),
    new RegExp(`^ServiceError: Order ${codes[1]}: The sum is above your limit for one`),
  );
  await limit(18_240, sum - 1);
  await assert.rejects(charge(found), new RegExp(`^ServiceError: Order ${codes[2]}: The sum is above what is left`));
  assert.deepEqual(await states(codes), all([]));
  await limit(18_240, sum);
  await charge(found);
  assert.deepEqual(await states(codes), all(["asked"]));
  // The sum was approved, and an owner lowers the limit before the payment is sent.
  await limit(18_240, sum - 1);
  await runJobs();
  assert.equal(intentsOf(firm).length, 0);
  assert.deepEqual(await states(codes), all(["refused"]));
});

test("of twenty requests at once one makes the payment, also against charges of a single order", async () => {
  const found = await group();
  const { codes, firm } = found;
  const results = await Promise.allSettled([
    ...Array.from({ length: 19 }, () => charge(found)),
    chargeByMember(deps, firm.principal, codes[1]),
  ]);
  assert.ok(results.some(({ status }) => status === "fulfilled"));
  await Promise.all([runJobs(), runJobs()]);
  for (const intent of intentsOf(firm)) await take(String(intent["id"]));
  assert.deepEqual(await statuses(codes), all("EsignPending"));
  assert.deepEqual(await Promise.all(codes.map(paidBy)), [[9_500], [18_240], [1_020]]);
});

test("charges the orders of a placed closing by one payment, though the job runs twice and crashes", async () => {
  const { codes, firm, sum } = await group();
  const orderIds = await Promise.all(codes.map(world.orderIdOf));
  const actor = `key:${firm.principal.key?.id}`;
  await db.transaction(async (tx) => {
    for (const code of codes) {
      const placed = { at: clock(), actor, partnerId: firm.owner.partnerId, code, status: "QuoteReady", reason: null };
      await tx.query(newOrderLines(placed, sql`(SELECT id FROM orders WHERE id = ${await world.orderIdOf(code)})`));
    }
    await enqueue(tx, firmChargeQueue, { orderIds });
  });
  const [job] = await world.waitingJobs();
  assert.ok(job);
  for (const points of [0, 1, 2, 3, 4, 5, 6, 7]) {
    world.fuse.set(points);
    await world.run(job).catch(() => false);
  }
  world.fuse.set(null);
  await Promise.all([world.run(job), world.run(job)]);
  assert.deepEqual(await states(codes), all(["answered"]));
  const [intent, ...more] = intentsOf(firm);
  assert.deepEqual([intent?.["amount"], more.length], [sum, 0]);
  await take(String(intent?.["id"]));
  assert.deepEqual(await statuses(codes), all("EsignPending"));
});

test("an overdue payment is one task, and ending it ends the charges of all orders", async () => {
  const { codes, paymentId, firm } = await charged("processing");
  world.advance(11 * 24 * 60 * minute);
  await watchPayments(deps);
  await watchPayments(deps);
  assert.deepEqual(await tasksOf(codes, "firm_charge"), [["open"], [], []]);
  // Each of the charges leads to their payment.
  const [, second] = await Promise.all(codes.map(async (code) => (await chargesOfCode(db, code))[0]));
  await endCharge(deps, { id: second?.id ?? "", environment: "live", actor: "operator:test" });
  assert.deepEqual(await states(codes), all(["failed"]));
  assert.deepEqual(await tasksOf(codes, "firm_charge"), [["done"], [], []]);
  assert.deepEqual(
    intentsOf(firm).map(({ status, metadata }) => [status, (metadata as { charge: string }).charge]),
    [["canceled", paymentId]],
  );
});

test("refuses a charge that was moved into a payment in the database", async () => {
  const { codes, firm, intent, paymentId } = await charged();
  const stranger = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm", totalCents: 1 });
  await db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO firm_charges (id, group_id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at)
      SELECT ${newUuid()}, group_id, ${await world.orderIdOf(stranger)}, partner_id, environment, method_id, amount_cents, asked_by,
        asked_at, state, changed_at FROM firm_charges WHERE group_id = ${paymentId} LIMIT 1`);
  });
  await assert.rejects(take(intent), /not what the service wrote/);
  assert.deepEqual(await statuses([...codes, stranger]), [...all("QuoteReady"), "QuoteReady"]);
});

test("a charge can't be taken out of its payment", async () => {
  const { codes } = await charged();
  const id = await world.orderIdOf(codes[0]);
  await assert.rejects(db.query(sql`UPDATE firm_charges SET group_id = NULL WHERE order_id = ${id}`));
});
