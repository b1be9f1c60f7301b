import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, changeOrder, testRowMac } from "@signsealship/testing/row-mac";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { recordNothing } from "../../../../src/kernel/platform/idempotency.ts";
import { enqueue } from "../../../../src/kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../../src/kernel/platform/logs.ts";
import { markMembers } from "../../../../src/kernel/retention/retention.ts";
import {
  checkMonths,
  closeMonths,
  documentsOfOrder,
  drawnStatement,
  lineKind,
  ordersByNumber,
  statementOf,
  statementsOf,
} from "../../../../src/orders/billing/billing.ts";
import { heldCents, owedCents } from "../../../../src/orders/billing/lines.ts";
import { type Mailable, mailableColumns, stillHolds } from "../../../../src/orders/fulfilment/client-mails.ts";
import { firmChargeQueue, lockOrder, type MailMoment, transition } from "../../../../src/orders/order/order.ts";
import {
  allowPayAgain,
  askSupplement,
  chargeByMember,
  chargeGroup,
  chargesOfCode,
  checkoutUrl,
  heldSupplements,
  lossesToBook,
  openLossesOfFirm,
  payAgainOf,
  sharedCheckout,
  supplementsOfCode,
  unpaidLossOf,
} from "../../../../src/orders/payments/payments.ts";
import { bookLossPaid, requestPartRefund, undoLossPaid } from "../../../../src/orders/refunds/refunds.ts";
import { monthBody } from "../../../../src/pages/dashboard/statements/body.ts";
import { statementCsv } from "../../../../src/pages/dashboard/statements/files.ts";
import { render } from "../../../../src/pages/ui/render.ts";
import { openMoneyWorld, type PayingFirm } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, fuse, clock } = world;
const total = 9_900;
const day = 24 * 3_600_000;
let second = Math.floor(Date.now() / 1000);
const later = (event: StripeEvent): StripeEvent => ({ ...event, created: ++second });

type Lost = { code: string; id: number; firm: PayingFirm; intent: string; dispute: string };

/** A live order whose payment a bank has reversed for good. */
async function lostOrder(payBy: "client" | "firm" = "client", cents = total, of?: PayingFirm): Promise<Lost> {
  const firm = of ?? (await world.newFirm());
  const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy });
  const paid = stripe.pay(stripe.sessionOf(await checkoutUrl(deps, code, null)));
  await world.take(paid);
  const intent = String(paid.data.object["payment_intent"]);
  const asked = later(stripe.dispute(intent, { amount: cents }));
  const dispute = String(asked.data.object["id"]);
  await world.take(asked);
  await world.take(later(stripe.endDispute(dispute, "lost")));
  await db.query(sql`DELETE FROM jobs`);
  return { code, id: await world.orderIdOf(code), firm, intent, dispute };
}

/** A bank reverses a part of a payment for good. */
async function lose(intent: string, amount: number): Promise<string> {
  const about = { id: `dp_${intent}`, payment_intent: intent, amount, currency: "usd" };
  await world.take(later(stripe.event("charge.dispute.created", { ...about, status: "needs_response" })));
  await world.take(later(stripe.event("charge.dispute.closed", { ...about, status: "lost" })));
  return about.id;
}

/**
 * Requests a refund of a part of an order. @returns the refunded payment, and a function that makes the refund succeed
 */
async function refundPart(code: string, amountCents: number) {
  const requestedBy = randomUUID();
  const at = clock();
  await asService(
    { db, rowMac: testRowMac },
    sql`INSERT INTO users (id, email, created_at) VALUES (${requestedBy}, ${`${requestedBy}@sss.example`}, ${at})`,
    sql`INSERT INTO operators (user_id, name, roles, added_at) VALUES (${requestedBy}, 'Ada Agent', '{agent}', ${at})`,
  );
  const asked = await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    return requestPartRefund(tx, order, { amountCents, reason: "twice", requestedBy, actor: "operator:ada", at });
  });
  assert.ok("requestId" in asked, JSON.stringify(asked));
  const [part] = await db.query<{ payment: number; paymentIntent: string }>(sql`
    SELECT p.id AS payment, p.payment_intent AS "paymentIntent"
    FROM refund_requests r JOIN payments p ON p.id = (r.payments -> 0 ->> 'id')::bigint WHERE r.id = ${asked.requestId}`);
  assert.ok(part);
  const succeed = async () => {
    await deps.processor.refundPart({ request: asked.requestId, ...part, amountCents });
    const refund = stripe.refunds.at(-1);
    assert.ok(refund);
    for (const event of stripe.refundEvents(refund)) await world.take(event);
  };
  return { intent: part.paymentIntent, succeed };
}

const allowed = { ...deps, acceptsPayment: () => true };
const allow = (code: string) => allowPayAgain(allowed, { code, environment: "live", actor: "operator:test" });
const statusOf = async (code: string) => (await world.orders.look(code)).status;
/**
 * The offer on the operator's page to let an order be paid again: the amount, and the reason if the offer is refused.
 */
const offerOf = async ({ code, id }: { code: string; id: number }, acceptsPayment = () => true) =>
  payAgainOf(db, acceptsPayment, { id, status: await statusOf(code), environment: "live" });
const stateOf = async (code: string) => (await supplementsOfCode(db, code)).map(({ state }) => state);
const open = async (code: string) => stripe.sessionOf(await checkoutUrl(deps, code, null));
async function work(): Promise<void> {
  for (let round = 0; round < 5; round++) for (const job of await world.waitingJobs()) await world.run(job);
}
const tasksOf = (id: number) =>
  db.query<{ reason: string; subject: string; kind: string }>(
    sql`SELECT kind, reason, subject FROM tasks WHERE order_id = ${id} AND state = 'open' AND kind IN ('dispute', 'payment_unapplied') ORDER BY id`,
  );
const mailsOf = async (id: number, moment: string) =>
  (
    await db.query(
      sql`SELECT FROM jobs WHERE payload ->> 'orderId' = ${String(id)} AND payload ->> 'moment' = ${moment}`,
    )
  ).length;
const sumsOf = async ({ firm }: Lost) => {
  const found = (await statementsOf(deps, firm.owner)).at(-1)?.sums;
  assert.ok(found);
  const { charges, payments, losses, closing } = found;
  return { charges, payments, losses, closing, owed: owedCents(found), held: heldCents(found) };
};
const refused = (code: string, words: RegExp) =>
  assert.rejects(checkoutUrl(deps, code, null), (error: Error) => words.test(error.message));

test("an order whose payment was lost is paid again by a new checkout once an operator allows it, and owes nothing then", async () => {
  const lost = await lostOrder();
  const { code, id, dispute } = lost;
  await refused(code, /An order in OnHold is not payable/);
  assert.equal((await sumsOf(lost)).owed, total);
  await allow(code);
  assert.deepEqual([await mailsOf(id, "pay_again")].flat(), [2]);
  await world.take(stripe.pay(await open(code)));
  assert.deepEqual(await stateOf(code), ["paid"]);
  assert.equal(await statusOf(code), "OnHold");
  const [task, ...more] = await tasksOf(id);
  assert.deepEqual(more, []);
  assert.match(task?.reason ?? "", /\$99\.00 was paid again .* The order is on hold: release it/);
  assert.equal(task?.subject.startsWith(dispute), false);
  assert.deepEqual(await sumsOf(lost), {
    charges: total,
    payments: 2 * total,
    losses: total,
    closing: 0,
    owed: 0,
    held: 0,
  });
  const receipts = await documentsOfOrder(db, code, lost.firm.owner);
  assert.deepEqual(
    receipts.map(({ kind, amountCents, replacesLoss }) => [kind, amountCents, replacesLoss]),
    [
      ["receipt", total, false],
      ["loss", total, false],
      ["receipt", total, true],
    ],
  );
  await refused(code, /not payable/);
  assert.equal(await offerOf({ code, id }), null);
});

test("only what was lost is asked for, and the statement is right when the months have closed", async () => {
  const lost = await lostOrder("client", 4_000);
  await allow(lost.code);
  assert.deepEqual(
    (await supplementsOfCode(db, lost.code)).map(({ amountCents }) => amountCents),
    [4_000],
  );
  world.advance(40 * day);
  await closeMonths(deps, new AbortController().signal);
  assert.equal((await sumsOf(lost)).owed, 4_000);
  await world.take(stripe.pay(await open(lost.code)));
  world.advance(40 * day);
  await closeMonths(deps, new AbortController().signal);
  const { owed, held, closing } = await sumsOf(lost);
  assert.deepEqual([owed, held, closing], [0, 0, 0]);
});

test("the firm pays again by its card at a member’s request, and nothing is charged without one", async () => {
  const { code, id, firm } = await lostOrder("firm");
  await allow(code);
  await work();
  await db.transaction((tx) => enqueue(tx, firmChargeQueue, { orderId: id }));
  await work();
  assert.deepEqual(await chargesOfCode(db, code), []);
  await chargeByMember(deps, firm.principal, code);
  await work();
  const [charge] = await chargesOfCode(db, code);
  await world.take(stripe.chargeEvent(charge?.paymentIntent ?? ""));
  assert.deepEqual(await stateOf(code), ["paid"]);
});

test("nothing is allowed for an order without a loss, with an open dispute, twice, or in the other environment", async () => {
  const { code, intent } = await lostOrder();
  const rejects = (work: Promise<void>, words: RegExp) => assert.rejects(work, words);
  await rejects(allowPayAgain(allowed, { code, environment: "test", actor: "operator:test" }), /Order not found/);
  await rejects(allow("0".repeat(40)), /Order not found/);
  await world.take(
    later(
      stripe.event("charge.dispute.created", {
        id: "dp_other",
        payment_intent: intent,
        amount: 100,
        currency: "usd",
        status: "needs_response",
      }),
    ),
  );
  await rejects(allow(code), /A bank still decides/);
  await world.take(
    later(
      stripe.event("charge.dispute.closed", {
        id: "dp_other",
        payment_intent: intent,
        amount: 100,
        currency: "usd",
        status: "won",
      }),
    ),
  );
  await allow(code);
  await rejects(allow(code), /can be paid again already/);
  const healthy = await world.orders.insert("EsignPending");
  await rejects(allow(healthy), /nothing to pay again/);
});

test("a bank that decides again closes the checkout, and money that still comes is a task, not a second payment", async () => {
  const { code, id, dispute } = await lostOrder();
  await allow(code);
  const session = await open(code);
  const paid = stripe.pay(session);
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.deepEqual(await stateOf(code), ["withdrawn"]);
  await refused(code, /not payable/);
  await world.take(paid);
  assert.deepEqual(await stateOf(code), ["withdrawn"]);
  assert.deepEqual(
    (await tasksOf(id)).map(({ kind }) => kind),
    ["payment_unapplied"],
  );
});

test("an order that was paid again and whose first payment comes back as well has a task with the sum that was paid twice", async () => {
  const lost = await lostOrder();
  const { code, id, dispute } = lost;
  await allow(code);
  await world.take(stripe.pay(await open(code)));
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.ok((await tasksOf(id)).some(({ reason }) => /\$99\.00 was paid twice/.test(reason)));
  const { owed, held } = await sumsOf(lost);
  assert.deepEqual([owed, held], [0, total]);
  await world.take(later(stripe.endDispute(dispute, "lost")));
  assert.equal(
    (await tasksOf(id)).some(({ reason }) => /twice/.test(reason)),
    false,
  );
  assert.deepEqual(await stateOf(code), ["paid"]);
});

/** An order with two payments. @returns the intent of each */
async function paidTwice(gapMs = 1000) {
  const firm = await world.newFirm();
  const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId });
  const id = await world.orderIdOf(code);
  const paid = stripe.pay(await open(code));
  await world.take(paid);
  world.advance(gapMs);
  const first = String(paid.data.object["payment_intent"]);
  const intent = `${first}_again`;
  const twice = { ...paid.data.object, id: `${String(paid.data.object["id"])}_again`, payment_intent: intent };
  await world.take(stripe.event("checkout.session.completed", twice));
  return { code, id, firm, first, intent };
}

test("nothing is asked for when a bank takes back a duplicate payment", async () => {
  const { code, id, firm, first, intent } = await paidTwice();
  assert.deepEqual(
    (await tasksOf(id)).map(({ kind }) => kind),
    ["payment_unapplied"],
  );
  world.advance(1000);
  await lose(intent, total);
  assert.equal(await offerOf({ code, id }), null);
  await assert.rejects(allow(code), /nothing to pay again/);
  const lost = { code, id, firm, intent, dispute: "" };
  assert.deepEqual(await sumsOf(lost), {
    charges: total,
    payments: 2 * total,
    losses: total,
    closing: 0,
    owed: 0,
    held: 0,
  });
  assert.equal(await unpaidLossOf(db, code), 0);
  // Once the bank takes back the payment that paid the order, the operator may let the order be paid again.
  await lose(first, total);
  assert.equal((await offerOf({ code, id }))?.cents, total);
});

test("a duplicate payment whose dispute and loss came first is no loss of the price", async () => {
  const firm = await world.newFirm();
  const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId });
  const id = await world.orderIdOf(code);
  const paid = stripe.pay(await open(code));
  await world.take(paid);
  world.advance(1000);
  const intent = `${String(paid.data.object["payment_intent"])}_again`;
  const twice = { ...paid.data.object, id: `${String(paid.data.object["id"])}_again`, payment_intent: intent };
  await lose(intent, total);
  await db.query(sql`DELETE FROM jobs`);
  await world.take(stripe.event("checkout.session.completed", twice));
  assert.equal(await offerOf({ code, id }), null);
  assert.equal(await unpaidLossOf(db, code), 0);
  const told = await db.query<{ isDue: boolean }>(
    sql`SELECT (payload ->> 'isDue')::boolean AS "isDue" FROM jobs WHERE payload ->> 'moment' = 'lost'`,
  );
  assert.ok(told.length > 0 && told.every(({ isDue }) => !isDue));
  const { owed, held, closing } = await sumsOf({ code, id, firm, intent, dispute: "" });
  assert.deepEqual([owed, held, closing], [0, 0, 0]);
});

test("a payment that came in the same millisecond as a duplicate still counts", async () => {
  const { code, id, firm, first, intent } = await paidTwice(0);
  const { charges, held } = await sumsOf({ code, id, firm, intent, dispute: "" });
  assert.deepEqual([charges, held], [total, total]);
  await lose(intent, total);
  assert.equal(await offerOf({ code, id }), null);
  await lose(first, total);
  assert.equal((await offerOf({ code, id }))?.cents, total);
});

test("a client is told once when a payment that came twice has gone back, and the order goes on", async () => {
  const { code, id, intent } = await paidTwice();
  const before = await statusOf(code);
  const back = { payment_intent: intent, refunded: true, amount: total, amount_refunded: total, currency: "usd" };
  const refunded = stripe.event("charge.refunded", back);
  for (const event of [refunded, refunded, { ...refunded, id: `${refunded.id}_again` }]) await world.take(event);
  assert.deepEqual([await mailsOf(id, "payment_returned"), await statusOf(code)], [1, before]);
  const { id: whole, intent: only } = await lostOrder();
  await world.take(stripe.event("charge.refunded", { ...back, payment_intent: only }));
  assert.equal(await mailsOf(whole, "payment_returned"), 0);
});

/** The facts that decide whether a mail to the client is sent or discarded. */
async function mailable(id: number): Promise<Mailable> {
  const [order] = await db.query<Mailable>(sql`SELECT ${mailableColumns} FROM orders o WHERE o.id = ${id}`);
  assert.ok(order);
  return order;
}

/** Requests more postage for an order whose parcel waits for it. */
async function askPostage(code: string, amountCents: number): Promise<void> {
  await changeOrder(db, code, sql`status = 'ShippingPending', status_before_hold = NULL`);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await askSupplement(tx, order, { amountCents, label: "Postage", actor: "system", at: clock() });
  });
}

test("the client is asked to pay again also while postage is due, with its own amount, and when a debit for it fails", async () => {
  const { code, id } = await lostOrder();
  await allow(code);
  const session = await open(code);
  await world.take(stripe.payByBank(session));
  await askPostage(code, 407);
  const { supplementCents, lossCents, ...order } = await mailable(id);
  assert.deepEqual([supplementCents, lossCents], [407, total]);
  const holds = (moment: MailMoment, own = {}) =>
    stillHolds(() => true, moment, { ...order, supplementCents, lossCents, ...own });
  assert.deepEqual([holds("pay_again"), holds("supplement_due")], [true, true]);
  assert.equal(holds("pay_again", { lossCents: null }), false);
  const before = await mailsOf(id, "pay_again");
  await world.take(stripe.bankAnswers(session, "failed"));
  assert.equal((await mailsOf(id, "pay_again")) - before, 1);
  assert.deepEqual(await db.query(sql`SELECT FROM tasks WHERE order_id = ${id} AND kind = 'postage_dearer'`), []);
  await db.transaction(async (tx) => {
    const locked = await lockOrder(tx, code);
    assert.ok(locked);
    await transition(tx, locked, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  assert.equal((await mailable(id)).lossCents, null, "a refunded order owes nothing");
});

test("the firm is mailed, and nobody else, when its bank debit for a price that it pays again fails", async () => {
  const { code, id } = await lostOrder("firm");
  await allow(code);
  const session = await open(code);
  await world.take(stripe.payByBank(session));
  const before = await mailsOf(id, "pay_again");
  await world.take(stripe.bankAnswers(session, "failed"));
  // The firm has no owner, so the mail is sent to the member who placed the order.
  assert.deepEqual([await mailsOf(id, "debit_failed"), await mailsOf(id, "pay_again")], [1, before]);
});

test("a request that a new dispute withdrew is a task once the bank has decided, until it is allowed again", async () => {
  const { code, id, intent } = await lostOrder("client", 4_000);
  await allow(code);
  const about = { id: `dp_second_${intent}`, payment_intent: intent, amount: 100, currency: "usd" };
  await world.take(later(stripe.event("charge.dispute.created", { ...about, status: "needs_response" })));
  assert.deepEqual(await stateOf(code), ["withdrawn"]);
  const asked = async () => (await tasksOf(id)).filter(({ subject }) => subject.startsWith("pay-again:"));
  assert.deepEqual(await asked(), [], "the bank still decides");
  await world.take(later(stripe.event("charge.dispute.closed", { ...about, status: "won" })));
  const [task, ...more] = await asked();
  assert.deepEqual(more, []);
  assert.match(task?.reason ?? "", /\$40\.00 can be paid again now: allow it/);
  await allow(code);
  assert.deepEqual([await asked(), await stateOf(code)], [[], ["withdrawn", "asked"]]);
});

test("the task that an order can be paid again ends when the order is refunded otherwise", async () => {
  const { code, id, intent, dispute } = await lostOrder("client", 4_000);
  await allow(code);
  const about = { id: `${dispute}_2`, payment_intent: intent, amount: 1_000, currency: "usd" };
  for (const [type, status] of [
    ["created", "needs_response"],
    ["closed", "won"],
  ])
    await world.take(later(stripe.event(`charge.dispute.${type}`, { ...about, status })));
  const asked = async () => (await tasksOf(id)).filter(({ subject }) => subject.startsWith("pay-again:"));
  assert.equal((await asked()).length, 1);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  const before = stripe.refunds.length;
  await work();
  for (const refund of stripe.refunds.slice(before))
    for (const event of stripe.refundEvents(refund)) await world.take(event);
  await work();
  assert.equal(await statusOf(code), "Refunded");
  assert.deepEqual(await asked(), []);
});

test("a decision that leaves nothing to pay again, or comes before anything was asked, opens no such task", async () => {
  const { code, id, dispute } = await lostOrder();
  assert.deepEqual(
    (await tasksOf(id)).filter(({ subject }) => subject.startsWith("pay-again:")),
    [],
  );
  await allow(code);
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.deepEqual(await tasksOf(id), []);
});

test("a charge of a room neither takes an order that is to be paid again, nor is stopped by it", async () => {
  const { code, id, firm } = await lostOrder("firm");
  await allow(code);
  const other = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  const members = [
    { code, id },
    { code: other, id: await world.orderIdOf(other) },
  ];
  const charge = (which: typeof members) =>
    chargeGroup(deps, firm.principal, async () => which, { record: recordNothing, resultOf: (charged) => charged });
  await assert.rejects(charge(members.slice(0, 1)), /A bank took its payment back\. Charge it by itself/);
  const { orders, totalCents } = await charge(members);
  assert.deepEqual([orders.map(({ orderCode }) => orderCode), totalCents], [[other], total]);
  assert.deepEqual(await chargesOfCode(db, code), []);
  await chargeByMember(deps, firm.principal, code);
  assert.equal((await chargesOfCode(db, code)).length, 1, "by itself it is charged");
});

test("postage that was lost and paid again is not asked for a third time", async () => {
  const firm = await world.newFirm();
  const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId });
  await world.take(stripe.pay(await open(code)));
  await askPostage(code, 407);
  world.advance(1000);
  const postage = stripe.pay(await open(code));
  await world.take(postage);
  const held = () =>
    db.transaction(async (tx) => (await heldSupplements(tx, await world.orderIdOf(code))).map(({ cents }) => cents));
  assert.deepEqual(await held(), [407]);
  world.advance(1000);
  const dispute = await lose(String(postage.data.object["payment_intent"]), 407);
  assert.deepEqual(await held(), [], "the money is gone");
  world.advance(1000);
  await allow(code);
  assert.deepEqual(await held(), [], "nobody has paid it yet");
  const again = stripe.pay(await open(code));
  await world.take(again);
  assert.deepEqual(await held(), [407]);
  world.advance(1000);
  const about = { id: dispute, payment_intent: postage.data.object["payment_intent"], amount: 407, currency: "usd" };
  await world.take(later(stripe.event("charge.dispute.closed", { ...about, status: "won" })));
  assert.deepEqual(await held(), [407], "money that is held twice counts once");
  await world.take(later(stripe.event("charge.dispute.closed", { ...about, status: "lost" })));
  await lose(String(again.data.object["payment_intent"]), 407);
  assert.deepEqual(await held(), [], "both payments are gone");
});

test("nothing is allowed that nobody could pay: without a processor, or after the documents were deleted", async () => {
  const { code, id } = await lostOrder();
  const nowhere = { ...deps, acceptsPayment: () => false };
  await assert.rejects(
    allowPayAgain(nowhere, { code, environment: "live", actor: "operator:test" }),
    /Payments are not configured/,
  );
  assert.match((await offerOf({ code, id }, () => false))?.refusal ?? "", /Payments are not configured/);
  assert.equal((await offerOf({ code, id }))?.refusal, null);
  const [document] = await db.query<{ key: string }>(
    sql`SELECT blob_key AS key FROM documents WHERE order_id = ${id} ORDER BY id LIMIT 1`,
  );
  const mark = { blobKey: document?.key ?? "", rule: "completedOrders", deletedAt: new Date("2026-05-01T00:00:00Z") };
  await db.query(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
    VALUES (${mark.blobKey}, ${mark.rule}, ${mark.deletedAt}, ${testRowMac.of("deleted_blobs", markMembers(mark))})`);
  await assert.rejects(allow(code), /was deleted on 2026-05-01/);
  assert.match((await offerOf({ code, id }))?.refusal ?? "", /was deleted on 2026-05-01/);
});

test("the refund of a double payment returns the second payment, and ends the task and the balance", async () => {
  const lost = await lostOrder();
  const { code, id, dispute, intent } = lost;
  await allow(code);
  world.advance(1000);
  await world.take(stripe.pay(await open(code)));
  const isTwice = async () => (await tasksOf(id)).some(({ reason }) => /was paid twice/.test(reason));
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.equal(await isTwice(), true);
  const part = await refundPart(code, total);
  assert.notEqual(part.intent, intent);
  await part.succeed();
  assert.equal(await isTwice(), false);
  const { owed, held, closing } = await sumsOf(lost);
  assert.deepEqual([owed, held, closing], [0, 0, 0]);
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.equal(await isTwice(), false);
});

test("a partial refund of a double payment leaves its task open, and the rest is refunded from the first payment", async () => {
  const { code, id, dispute, intent } = await lostOrder();
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.equal((await refundPart(code, 100)).intent, intent);
  const other = await lostOrder();
  await allow(other.code);
  await world.take(stripe.pay(await open(other.code)));
  await world.take(later(stripe.endDispute(other.dispute, "won")));
  await (await refundPart(other.code, 4_000)).succeed();
  assert.ok((await tasksOf(other.id)).some(({ reason }) => /was paid twice/.test(reason)));
  assert.deepEqual(await tasksOf(id), []);
});

test("a double payment of one order does not hide another order's debt, in open and in closed months", async () => {
  const twice = await lostOrder();
  await allow(twice.code);
  world.advance(1000);
  await world.take(stripe.pay(await open(twice.code)));
  await world.take(later(stripe.endDispute(twice.dispute, "won")));
  await lostOrder("client", total, twice.firm);
  const { owed, held, closing } = await sumsOf(twice);
  assert.deepEqual([owed, held, closing], [total, total, 0]);
  world.advance(40 * day);
  await closeMonths(deps, new AbortController().signal);
  const months = await statementsOf(deps, twice.firm.owner);
  assert.ok(months.some(({ isClosed, sums }) => isClosed && owedCents(sums) === total && heldCents(sums) === total));
  const logged: object[] = [];
  const log = { error: (line: object) => logged.push(line) } as unknown as Log;
  await checkMonths({ db, clock, log }, new AbortController().signal);
  assert.deepEqual(logged, []);
});

test("a refund of an order that was paid again returns the second payment alone, and nothing is owed", async () => {
  const lost = await lostOrder();
  const { code } = lost;
  await allow(code);
  await world.take(stripe.pay(await open(code)));
  const before = stripe.refunds.length;
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await work();
  const given = stripe.refunds.slice(before);
  assert.deepEqual(
    given.map(({ amount }) => amount),
    [total],
  );
  for (const refund of given) for (const event of stripe.refundEvents(refund)) await world.take(event);
  await work();
  assert.equal(await statusOf(code), "Refunded");
  assert.deepEqual(await sumsOf(lost), {
    charges: total,
    payments: 2 * total,
    losses: 0,
    closing: 0,
    owed: 0,
    held: 0,
  });
});

test("a refund closes the page on which an order could be paid again", async () => {
  const { code } = await lostOrder();
  await allow(code);
  const session = await open(code);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await work();
  assert.equal(stripe.sessions.get(session)?.["status"], "expired");
  assert.equal(await statusOf(code), "Refunded");
});

test("ten operators, ten checkouts and doubled events at once end in one payment", async () => {
  const { code, id } = await lostOrder();
  const allowed = await Promise.allSettled(Array.from({ length: 10 }, () => allow(code)));
  assert.equal(allowed.filter(({ status }) => status === "fulfilled").length, 1);
  const urls = await Promise.all(Array.from({ length: 10 }, () => checkoutUrl(deps, code, null)));
  const [url = "", ...others] = [...new Set(urls)];
  assert.deepEqual(others, []);
  const paid = stripe.pay(stripe.sessionOf(url));
  await Promise.all([paid, paid, { ...paid, id: `${paid.id}_again` }].map((event) => world.take(event)));
  assert.deepEqual(await stateOf(code), ["paid"]);
  const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM payments WHERE order_id = ${id}`,
  );
  assert.equal(count, 2);
});

test("a payment and a decision of the bank at once are one payment or one task, never both", async () => {
  for (let run = 0; run < 6; run++) {
    const { code, id, dispute } = await lostOrder();
    await allow(code);
    const paid = stripe.pay(await open(code));
    const won = later(stripe.endDispute(dispute, "won"));
    await Promise.all((run % 2 === 0 ? [paid, won] : [won, paid]).map((event) => world.take(event)));
    const [state] = await stateOf(code);
    const kinds = (await tasksOf(id)).filter(
      ({ reason, kind }) => kind === "payment_unapplied" || /twice/.test(reason),
    );
    assert.equal(kinds.length, 1, String(state));
    assert.equal(kinds[0]?.kind, state === "paid" ? "dispute" : "payment_unapplied");
  }
});

test("a crash at any point of allowing, paying and settling ends in one payment", async () => {
  for (let point = 0; point < 12; point++) {
    const { code, id } = await lostOrder();
    let session = "";
    const steps = [
      async () => void ((await stateOf(code)).length === 0 && (await allow(code))),
      async () => {
        session = await open(code);
      },
    ];
    for (const step of steps) {
      fuse.set(point);
      await step().catch(() => undefined);
      fuse.set(null);
      await step();
    }
    const paid = stripe.pay(session);
    fuse.set(point);
    const isTaken = await world.take(paid);
    fuse.set(null);
    if (!isTaken) await world.take(paid);
    await world.take(paid);
    await work();
    assert.deepEqual(await stateOf(code), ["paid"], String(point));
    assert.equal((await db.query(sql`SELECT FROM payments WHERE order_id = ${id}`)).length, 2);
  }
});

test("a request that was altered in the database is refused, and so is its checkout", async () => {
  const { code, id } = await lostOrder();
  await allow(code);
  await db.query(sql`ALTER TABLE supplements DISABLE TRIGGER USER`);
  await db.query(sql`UPDATE supplements SET replaces_loss = false WHERE order_id = ${id}`);
  await db.query(sql`ALTER TABLE supplements ENABLE TRIGGER USER`);
  await assert.rejects(checkoutUrl(deps, code, null), { code: "unavailable" });
});

test("a client gets no checkout for a loss of the firm by an altered record of who paid", async () => {
  const firm = await world.newFirm();
  const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId });
  const paid = stripe.pay(stripe.sessionOf(await checkoutUrl(deps, code, firm.owner, { shown: "client" })));
  await world.take(paid);
  const asked = later(stripe.dispute(String(paid.data.object["payment_intent"]), { amount: total }));
  await world.take(asked);
  await world.take(later(stripe.endDispute(String(asked.data.object["id"]), "lost")));
  await allow(code);
  const id = await world.orderIdOf(code);
  const together = () =>
    sharedCheckout(deps, { groupId: randomUUID(), environment: "live", by: "client" }, async () => [{ id, code }]);
  await assert.rejects(checkoutUrl(deps, code, null, "client"), { message: "The firm pays this amount." });
  await assert.rejects(together(), { code: "not_payable" });
  const alter = async (payer: string) => {
    await db.query(sql`ALTER TABLE checkout_payers DISABLE TRIGGER USER`);
    await db.query(sql`UPDATE checkout_payers SET payer = ${payer} WHERE checkout_id IN (
      SELECT id FROM checkout_sessions WHERE order_id = ${id})`);
    await db.query(sql`ALTER TABLE checkout_payers ENABLE TRIGGER USER`);
  };
  await alter("client");
  await assert.rejects(checkoutUrl(deps, code, null, "client"), { code: "unavailable" });
  await assert.rejects(together(), { code: "not_payable" });
  // Other tests close all firms' months.
  await alter("firm");
});

const approver = await world.newOperator("approver");
const today = () => clock().toISOString().slice(0, 10);
const bookings = { ...deps, log: deps.log };

/** Books money that the firm paid by check for the order's lost payment. */
async function book({ code, id }: Pick<Lost, "code" | "id">, amountCents: number, more: object = {}) {
  const payment = (await lossesToBook(db, id)).at(-1)?.id ?? 0;
  const typed = { code, payment, amountCents, way: "check", reference: "1234", receivedOn: today(), ...more };
  await bookLossPaid(bookings, approver, typed);
}
const reverse = ({ code }: Pick<Lost, "code">, booking: number, reason = "bounced") =>
  undoLossPaid(bookings, approver, { code, booking, reason });
const bookingsOf = async ({ id }: Pick<Lost, "id">) => (await lossesToBook(db, id)).flatMap((each) => each.bookings);
const openOf = async ({ id }: Pick<Lost, "id">) => (await lossesToBook(db, id)).map(({ openCents }) => openCents);
const reasonsOf = async ({ id }: Pick<Lost, "id">) => (await tasksOf(id)).map(({ reason }) => reason);
const monthNow = async ({ firm }: Lost) =>
  statementOf(deps, firm.owner, (await statementsOf(deps, firm.owner)).at(-1)?.month ?? "");
const linesNow = async (lost: Lost) => {
  const { statement, lines } = await monthNow(lost);
  return lines.map((line) => [line.number.split("-")[0], lineKind(line, statement.zone), line.amountCents] as const);
};

test("a firm's check for a lost payment is booked, a part at a time, and the statement says so until nothing is owed", async () => {
  const lost = await lostOrder("firm");
  const { id, firm } = lost;
  assert.deepEqual(await openOf(lost), [total]);
  await book(lost, 4_000);
  assert.deepEqual([await openOf(lost), (await sumsOf(lost)).owed], [[total - 4_000], total - 4_000]);
  assert.match((await reasonsOf(lost)).join(), /book what the firm pays by check or wire/);
  await book(lost, total - 4_000, { way: "wire", reference: "FT 9" });
  assert.deepEqual(await openOf(lost), [0]);
  const [release, ...others] = await reasonsOf(lost);
  assert.deepEqual(others, []);
  assert.match(release ?? "", /\$59\.00 came by wire FT 9 .* The order is on hold: release it/);
  assert.deepEqual(await sumsOf(lost), {
    charges: total,
    payments: 2 * total,
    losses: total,
    closing: 0,
    owed: 0,
    held: 0,
  });
  const day = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" }).format(clock());
  const [, , check, wire] = await linesNow(lost);
  assert.match(String(check), /^LP,Received by check 1234, for the disputed payment of \w{3} \d+, \d{4} /);
  assert.ok(check?.[1].endsWith(`(arrived ${day})`));
  assert.deepEqual([check?.[2], wire?.[2], wire?.[1].slice(0, 21)], [4_000, 5_900, "Received by wire FT 9"]);
  assert.deepEqual(await ordersByNumber(db, firm.owner, `LP-${clock().getUTCFullYear()}-00002`), [id]);
  const mails = await db.query<{ how: string; isDue: boolean }>(sql`
    SELECT payload ->> 'how' AS how, (payload ->> 'isDue')::boolean AS "isDue" FROM jobs
    WHERE payload ->> 'moment' = 'loss_paid' AND (payload ->> 'orderId')::int = ${id} AND payload ->> 'to' = 'placer' ORDER BY id`);
  assert.deepEqual(mails, [
    { how: "by check 1234", isDue: true },
    { how: "by wire FT 9", isDue: false },
  ]);
  assert.equal(await offerOf(lost), null);
});

test("a check of the firm is in the statement's page, CSV file and PDF, with its number, its day and the lost payment", async () => {
  const lost = await lostOrder();
  await book(lost, 4_000);
  const found = await monthNow(lost);
  const words = /Received by check 1234, for the disputed payment of \w{3} \d+, \d{4} \(arrived \w{3} \d+, \d{4}\)/;
  const page = render(monthBody(found, "live"));
  assert.match(page, words);
  assert.match(page, /Firm, by check/);
  assert.doesNotMatch(page, /receipts\/LP-/);
  const rows = statementCsv(found).split("\r\n");
  const row = rows.find((each) => words.test(each)) ?? "";
  assert.match(row, /,40\.00,,,,USD,,"?Firm, by check"?,40\.00,-59\.00,/);
  assert.match(rows.at(-1) || rows.at(-2) || "", /Closing balance,.*,-59\.00,/);
  const drawn = drawnStatement(found, { environment: "live", now: clock() });
  assert.match(drawn.notes.join("\n"), words);
  assert.ok(drawn.tables[0]?.rows.some((each) => each.includes("Received") && each.includes("Firm, by check")));
  await reverse(lost, (await bookingsOf(lost))[0]?.id ?? 0);
  const after = await monthNow(lost);
  assert.match(statementCsv(after), /"Reversed: received by check 1234, for [^\n]*,-40\.00,,,,USD,/);
  assert.match(render(monthBody(after, "live")), /Reversed: received by check 1234/);
});

test("no more is booked than is owed, nothing twice, and no day in the future or before the loss", async () => {
  const lost = await lostOrder();
  const rejects = (cents: number, more: object, words: RegExp) =>
    assert.rejects(book(lost, cents, more), (error: Error) => words.test(error.message), String(words));
  const shifted = (days: number) => new Date(clock().getTime() + days * day).toISOString().slice(0, 10);
  await rejects(total + 1, {}, /from \$0\.01 to \$99\.00, which is still owed/);
  await rejects(0, {}, /from \$0\.01/);
  await rejects(100, { receivedOn: shifted(2) }, /must not be in the future/);
  await rejects(100, { receivedOn: shifted(-2) }, /must not be before/);
  await rejects(100, { receivedOn: "2026-02-30" }, /must be a date/);
  await rejects(100, { way: "card" }, /Choose how/);
  await rejects(100, { reference: " " }, /1 to 40 characters/);
  await rejects(100, { payment: 0 }, /No such payment/);
  const other = await lostOrder();
  await rejects(100, { code: other.code }, /No such payment/);
  const agent = await world.newOperator("agent");
  const typed = { code: lost.code, payment: 1, amountCents: 1, way: "check", reference: "1", receivedOn: today() };
  await assert.rejects(bookLossPaid(bookings, agent, typed), { code: "role_required" });
  await assert.rejects(bookLossPaid(bookings, { ...approver, id: null }, typed), /people with names/);
  await book(lost, 100);
  await rejects(100, { reference: "1234 " }, /booked for this payment already/);
  await book(lost, 100, { reference: "1235" });
  assert.deepEqual(await openOf(lost), [total - 200]);
  const undisputed = await world.orders.insert("QuoteReady", { partnerId: lost.firm.owner.partnerId });
  await world.take(stripe.pay(await open(undisputed)));
  await assert.rejects(book({ code: undisputed, id: await world.orderIdOf(undisputed) }, 100), /No such payment/);
});

/** An order whose price is held twice, apart from what the firm paid by check. @returns the sums in the tasks about it */
async function heldTwice() {
  const lost = await lostOrder();
  const { code, dispute } = lost;
  await book(lost, 5_000);
  await allow(code);
  await world.take(stripe.pay(await open(code)));
  await world.take(later(stripe.endDispute(dispute, "won")));
  const twice = async () => (await reasonsOf(lost)).filter((reason) => /paid twice/.test(reason)).map(sumIn);
  const sumIn = (reason: string) => /\$\d+\.\d\d was paid twice/.exec(reason)?.[0];
  assert.deepEqual(await twice(), ["$49.00 was paid twice"]);
  return { ...lost, twice };
}

test("the task about a price that was paid twice names what is still held twice, and ends when nothing is", async () => {
  const { code, id, twice } = await heldTwice();
  const { intent, succeed } = await refundPart(code, 1_900);
  await succeed();
  assert.deepEqual(await twice(), ["$30.00 was paid twice"]);
  for (const event of stripe.refundByHand(intent, 3_000)) await world.take(event);
  assert.deepEqual(await twice(), []);
  assert.ok((await tasksOf(id)).some(({ subject }) => subject === `received:${id}:return`));
});

test("the task about a price that was paid twice names the whole sum again when a refund of a part fails", async () => {
  const { code, twice } = await heldTwice();
  await (await refundPart(code, 1_900)).succeed();
  assert.deepEqual(await twice(), ["$30.00 was paid twice"]);
  await world.take(later(stripe.failRefund(String(stripe.refunds.at(-1)?.["id"]))));
  assert.deepEqual(await twice(), ["$49.00 was paid twice"]);
});

test("a bounced check is reversed once, in the month after it, and the debt has a task again", async () => {
  const lost = await lostOrder();
  await book(lost, total);
  world.advance(40 * day);
  await closeMonths(deps, new AbortController().signal);
  const [booking] = await bookingsOf(lost);
  assert.ok(booking);
  await assert.rejects(reverse(await lostOrder(), booking.id), /No such booking/);
  await assert.rejects(reverse(lost, booking.id, " "), /reason must have/);
  assert.match((await reasonsOf(lost)).join(), /The order is on hold: release it/);
  await reverse(lost, booking.id);
  await assert.rejects(reverse(lost, booking.id), /reversed before/);
  assert.doesNotMatch((await reasonsOf(lost)).join(), /release it/);
  const { owed, closing, payments } = await sumsOf(lost);
  assert.deepEqual([owed, closing, payments], [total, -total, -total]);
  assert.match(String(await linesNow(lost)), /^LPR,Reversed: received by check 1234, for the disputed payment of /);
  assert.match((await reasonsOf(lost)).join(), /was reversed\. \$99\.00 is still owed/);
  const months = await statementsOf(deps, lost.firm.owner);
  assert.deepEqual(
    months.flatMap(({ isClosed, sums }) => (isClosed ? [sums.closing] : [])).at(0),
    0,
    "a closed month stays as it was",
  );
  await book(lost, total, { reference: "1240" });
  assert.deepEqual([await openOf(lost), (await sumsOf(lost)).owed], [[0], 0]);
  assert.match((await reasonsOf(lost)).join(), /The order is on hold: release it/);
  assert.doesNotMatch((await reasonsOf(lost)).join(), /still owed/);
  world.advance(40 * day);
  await closeMonths(deps, new AbortController().signal);
  const logged: object[] = [];
  const log = { error: (line: object) => logged.push(line) } as unknown as Log;
  await checkMonths({ db, clock, log }, new AbortController().signal);
  assert.deepEqual(logged, []);
});

test("one check for a payment of several orders is divided among them, the order of the page first", async () => {
  const firm = await world.newFirm();
  const { partnerId } = firm.owner;
  const codes = [];
  for (let n = 0; n < 3; n++) codes.push(await world.orders.insert("QuoteReady", { partnerId, payBy: "firm" }));
  const ids = await Promise.all(codes.map(world.orderIdOf));
  const members = codes.map((code, n) => ({ id: ids[n] ?? 0, code }));
  const { checkoutUrl: url } = await sharedCheckout(
    deps,
    { groupId: randomUUID(), environment: "live" },
    async () => members,
  );
  const paid = stripe.pay(stripe.sessionOf(url));
  await world.take(paid);
  await lose(String(paid.data.object["payment_intent"]), 3 * total);
  const [first, second, third] = members;
  assert.ok(first && second && third);
  const [shown] = await lossesToBook(db, second.id);
  assert.deepEqual([shown?.openCents, shown?.openInAll, shown?.openOrders], [total, 3 * total, 3]);
  await assert.rejects(book(second, 3 * total + 1), /to \$297\.00/);
  await book(second, total, { reference: "1233" });
  await assert.rejects(book(third, total, { reference: "1233" }), /booked for this payment already/);
  await reverse(second, (await bookingsOf(second))[0]?.id ?? 0);
  await book(second, total + 1_000);
  let queries = 0;
  const query: typeof db.query = (statement) => {
    queries += 1;
    return db.query(statement);
  };
  assert.deepEqual(
    (await openLossesOfFirm({ query }, firm.owner)).map(({ openCents }) => openCents),
    [total - 1_000, 0, total],
  );
  assert.equal(queries, 3, "for three orders as for one");
  await assert.rejects(book(third, 100), /booked for this payment already/);
  await book(third, 2 * total - 1_000, { reference: "1235" });
  assert.equal(owedCents((await statementsOf(deps, firm.owner)).at(-1)?.sums ?? { owed: 1 }), 0);
});

test("a request to pay again is withdrawn when a check pays a part, and asks for the rest once it is allowed again", async () => {
  const lost = await lostOrder();
  await allow(lost.code);
  await book(lost, 4_000);
  assert.deepEqual(await stateOf(lost.code), ["withdrawn"]);
  assert.match(
    (await reasonsOf(lost)).join(),
    /request to pay this order again was withdrawn\. \$59\.00 is still owed/,
  );
  await allow(lost.code);
  assert.doesNotMatch((await reasonsOf(lost)).join(), /still owed/);
  await world.take(stripe.pay(await open(lost.code)));
  const { payments, owed, closing } = await sumsOf(lost);
  assert.deepEqual([payments, owed, closing], [2 * total, 0, 0]);
});

test("money from the firm that is not owed any more has a task to return it, which ends when its booking is reversed", async () => {
  const won = await lostOrder();
  await book(won, 4_000);
  await world.take(later(stripe.endDispute(won.dispute, "won")));
  const refunded = await lostOrder();
  await book(refunded, 4_000);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, refunded.code);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await work();
  assert.equal(await statusOf(refunded.code), "Refunded");
  for (const lost of [won, refunded]) {
    const [back = "", ...others] = await reasonsOf(lost);
    assert.match(back, /\$40\.00 that the firm paid .* is not owed any more\. Return it/);
    assert.deepEqual(others, [], "nobody has to decide about the loss any more");
    const { owed, held } = await sumsOf(lost);
    assert.deepEqual([owed, held], [0, 4_000]);
    await reverse(lost, (await bookingsOf(lost))[0]?.id ?? 0, "returned by check 77");
    assert.deepEqual(await reasonsOf(lost), []);
    assert.deepEqual([(await sumsOf(lost)).owed, (await sumsOf(lost)).closing], [0, 0]);
  }
});

test("postage that a bank took back and the firm paid by check counts once, also when the bank returns it", async () => {
  const { owner } = await world.newFirm();
  const code = await world.orders.insert("QuoteReady", { partnerId: owner.partnerId });
  const id = await world.orderIdOf(code);
  await world.take(stripe.pay(await open(code)));
  await askPostage(code, 407);
  world.advance(1000);
  const postage = stripe.pay(await open(code));
  await world.take(postage);
  const intent = String(postage.data.object["payment_intent"]);
  const dispute = await lose(intent, 407);
  await book({ code, id }, 407);
  const held = () => db.transaction(async (tx) => (await heldSupplements(tx, id)).map(({ cents }) => cents));
  assert.deepEqual(await held(), [407]);
  const about = { id: dispute, payment_intent: intent, amount: 407, currency: "usd", status: "won" };
  await world.take(later(stripe.event("charge.dispute.closed", about)));
  assert.deepEqual(await held(), [407]);
});

test("ten operators who book at once, and a bank that decides again, never book more than is owed", async () => {
  const lost = await lostOrder();
  const all = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => book(lost, 3_000, { reference: String(n) })),
  );
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 3);
  assert.deepEqual(await openOf(lost), [900]);
  const [booking] = await bookingsOf(lost);
  const undone = await Promise.allSettled(Array.from({ length: 5 }, () => reverse(lost, booking?.id ?? 0)));
  assert.equal(undone.filter(({ status }) => status === "fulfilled").length, 1);
  const won = later(stripe.endDispute(lost.dispute, "won"));
  await Promise.allSettled([book(lost, 3_900, { reference: "last" }), world.take(won)]);
  const { owed, held, closing } = await sumsOf(lost);
  assert.deepEqual([owed, held, closing], [0, closing, closing]);
  assert.ok(closing === 6_000 || closing === 9_900, String(closing));
  assert.match((await reasonsOf(lost)).join(), new RegExp(`\\$${closing / 100}\\.00 that the firm paid`));
});

test("a crash at any point of booking a check books it once", async () => {
  for (let point = 0; point < 4; point++) {
    const lost = await lostOrder();
    fuse.set(point);
    await book(lost, total).catch(() => undefined);
    fuse.set(null);
    await book(lost, total).catch((error: Error) => assert.match(error.message, /booked for this payment already/));
    assert.deepEqual([await openOf(lost), (await bookingsOf(lost)).length], [[0], 1], String(point));
  }
});

test("a booking that was altered in the database is refused", async () => {
  const lost = await lostOrder();
  await book(lost, 100);
  await db.query(sql`ALTER TABLE loss_payments DISABLE TRIGGER USER`);
  await db.query(
    sql`UPDATE loss_payments SET amount_cents = ${total} WHERE payment_id IN (SELECT id FROM payments WHERE order_id = ${lost.id})`,
  );
  await db.query(sql`ALTER TABLE loss_payments ENABLE TRIGGER USER`);
  await assert.rejects(unpaidLossOf(db, lost.code), { code: "unavailable" });
  await assert.rejects(statementsOf(deps, lost.firm.owner), { code: "unavailable" });
  await assert.rejects(book(lost, 100, { reference: "2" }), { code: "unavailable" });
});
