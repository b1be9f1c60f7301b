import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, changeOrder, testRowMac } from "@signsealship/testing/row-mac";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import type { Handler, Jobs } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { documentsOfOrder, payerOf } from "../../../../src/orders/billing/billing.ts";
import { linesOf } from "../../../../src/orders/billing/lines.ts";
import { type Mailable, mailableColumns, stillHolds } from "../../../../src/orders/fulfilment/client-mails.ts";
import { coveredBy } from "../../../../src/orders/fulfilment/together.ts";
import {
  closeCheckoutQueue,
  findOrder,
  lockOrder,
  type MailMoment,
  orderPayer,
  refundQueue,
  transition,
} from "../../../../src/orders/order/order.ts";
import { closeCheckouts } from "../../../../src/orders/payments/checkout/sessions.ts";
import { currentSessions } from "../../../../src/orders/payments/checkout/store.ts";
import {
  activeMethod,
  chargesOfCode,
  checkoutUrl,
  endCharge,
  letClientPay,
  letClientsPay,
  payerInProcess,
  paymentJobs,
  sharedCheckout,
} from "../../../../src/orders/payments/payments.ts";
import { updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { markRefunded, recordPayment } from "../../../../src/orders/payments/records/payments.ts";
import { clientStatus } from "../../../../src/pages/ui/orders/status-words.ts";
import { groupsOf } from "../charged-group.ts";
import { openMoneyWorld, type PayingFirm } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe } = world;
const day = 24 * 60 * 60_000;
const { charge, charged, group, membersOf, shownOf, intentsOf, runJobs, states, statuses, tasksOf } = groupsOf(world);
const all = <Value>(value: Value) => [value, value, value];

const payers = (codes: readonly string[]) =>
  Promise.all(codes.map(async (code) => orderPayer(db, await world.orderIdOf(code))));
const stateOf = (url: string) => stripe.sessions.get(stripe.sessionOf(url))?.["status"];

/** The moments (kinds) of all queued mails to the clients of these orders. */
async function mailed(codes: readonly string[]): Promise<string[]> {
  const orderIds = await Promise.all(codes.map(world.orderIdOf));
  const found = await db.query<{ moment: string }>(sql`
    SELECT payload ->> 'moment' AS moment FROM jobs
    WHERE queue = 'order-mail' AND (payload ->> 'orderId')::bigint = ANY (${orderIds}::bigint[])`);
  return found.map(({ moment }) => moment);
}

/** The facts that decide whether a mail to the client is sent or discarded. */
async function mailable(id: number): Promise<Mailable> {
  const [order] = await db.query<Mailable>(sql`SELECT ${mailableColumns} FROM orders o WHERE o.id = ${id}`);
  assert.ok(order);
  return order;
}

test("doesn't blame the client for a declined charge of the firm whose event comes after the client became the payer", async () => {
  const { firm, codes, intent } = await charged("card_declined");
  assert.deepEqual(await states(codes), all(["declined"]));
  await letClientsPay(deps, firm.principal, membersOf(codes), await shownOf(codes));
  assert.equal(await world.take(stripe.chargeEvent(intent)), true);
  assert.deepEqual(await states(codes), all(["failed"]), "the firm still sees its own failure");
  assert.deepEqual(await statuses(codes), all("QuoteReady"));
  assert.deepEqual(await mailed(codes), all("quote_ready"));
});

test("doesn't blame the client for a charge that a person ended before the client became the payer", async () => {
  const { firm, codes, intent } = await charged("processing");
  world.advance(11 * day);
  const [first] = await chargesOfCode(db, codes[0]);
  await endCharge(deps, { id: first?.id ?? "", environment: "live", actor: "operator:test" });
  await letClientPay(deps, firm.principal, codes[0]);
  assert.equal(await world.take(stripe.chargeEvent(intent)), true);
  assert.deepEqual(await statuses(codes), ["QuoteReady", "PaymentFailed", "PaymentFailed"]);
  assert.deepEqual(await mailed([codes[0]]), ["quote_ready"]);
});

test("shows and mails the client only failures of their own payments after a charge of the firm failed", async () => {
  const { firm, codes, intent } = await charged("card_declined");
  assert.equal(await world.take(stripe.chargeEvent(intent)), true);
  await letClientsPay(deps, firm.principal, membersOf(codes), await shownOf(codes));
  const orderIds = await Promise.all(codes.map(world.orderIdOf));
  const shown = () =>
    Promise.all(
      codes.map(async (code) => {
        const order = await findOrder(db, code);
        return order && [order.status, clientStatus(order)];
      }),
    );
  const notMailed = async (id: number) => !stillHolds(() => true, "payment_failed", await mailable(id));
  assert.deepEqual(await shown(), all(["PaymentFailed", "QuoteReady"]));
  assert.deepEqual(await Promise.all(orderIds.map(notMailed)), all(true), "the mail was queued before the switch");
  const [orderId = 0] = orderIds;
  const session = stripe.sessionOf(await checkoutUrl(deps, codes[0], null));
  await world.take(stripe.payByBank(session));
  assert.equal(await notMailed(orderId), true, "the mail is dropped while the client's payment is under way, too");
  await world.take(stripe.bankAnswers(session, "failed"));
  const quote = ["PaymentFailed", "QuoteReady"];
  assert.deepEqual(await shown(), [["PaymentFailed", "PaymentFailed"], quote, quote]);
  assert.equal(await notMailed(orderId), false);
  const closingsOf = async () => [{ id: newUuid(), name: "Elm closing", orders: orderIds }];
  const about = { orderId, moment: "payment_failed", at: world.clock().toISOString() } as const;
  assert.deepEqual((await coveredBy({ db, closingsOf }, about))?.orderIds, [orderId]);
});

test("ends the firm's open checkout at the processor before the client becomes the payer", async () => {
  const { firm, codes } = await group();
  const url = await checkoutUrl(deps, codes[0], firm.owner);
  await letClientPay(deps, firm.principal, codes[0]);
  assert.equal(stateOf(url), "expired");
  assert.deepEqual(await payers([codes[0]]), ["client"]);
  const own = await checkoutUrl(deps, codes[0], null);
  assert.notEqual(own, url);
  assert.equal(stateOf(own), "open");
});

/** For an order: the payer that each receipt names, and true if the client is mailed about a payment. */
async function paidBy(code: string) {
  const receipts = await documentsOfOrder(db, code, null);
  const order = await mailable(await world.orderIdOf(code));
  return [receipts.map(payerOf), stillHolds(() => true, "payment_received", order)];
}

test("names the one who paid, the firm or the client, after the client became the payer", async () => {
  const { firm, codes } = await group();
  await letClientsPay(deps, firm.principal, membersOf(codes), await shownOf(codes));
  const [byFirm, byClient, ofEarlier] = codes;
  const openFirms = (code: string) => checkoutUrl(deps, code, firm.owner, { shown: "client" });
  const pay = async (url: string) => assert.equal(await world.take(stripe.pay(stripe.sessionOf(url))), true);
  const clients = await checkoutUrl(deps, byFirm, null);
  const firms = await openFirms(byFirm);
  assert.deepEqual([stateOf(clients), await openFirms(byFirm)], ["expired", firms]);
  await pay(firms);
  assert.deepEqual(await paidBy(byFirm), [["firm"], false]);
  const lines = await linesOf(db, firm.owner, { startsAt: null, endsAt: null });
  assert.deepEqual(lines.map(payerOf), ["firm"]);
  const abandoned = await openFirms(byClient);
  await pay(await checkoutUrl(deps, byClient, null));
  assert.deepEqual([stateOf(abandoned), await paidBy(byClient)], ["expired", [["client"], true]]);
  const earlier = await openFirms(ofEarlier);
  await pay(earlier);
  const own = sql`checkout_id = (SELECT id FROM checkout_sessions WHERE session_id = ${stripe.sessionOf(earlier)})`;
  for (const change of [
    sql`UPDATE checkout_payers SET payer = 'client' WHERE ${own}`,
    sql`DELETE FROM checkout_payers`,
  ])
    await assert.rejects(db.query(change), /append-only/, change.text);
  await db.query(sql`ALTER TABLE checkout_payers DISABLE TRIGGER checkout_payers_stay`);
  await db.query(sql`UPDATE checkout_payers SET payer = 'client' WHERE ${own}`);
  await assert.rejects(paidBy(ofEarlier), { code: "unavailable" });
  await db.query(sql`DELETE FROM checkout_payers WHERE ${own}`);
  assert.deepEqual(await paidBy(ofEarlier), [["client"], true], "as for a checkout of an earlier release");
  await db.query(sql`ALTER TABLE checkout_payers ENABLE TRIGGER checkout_payers_stay`);
});

/**
 * Adds an owner to the firm. @returns a function that reads the sums in the mails to the owner about a failed bank
 * payment
 */
async function failuresToldTo(firm: PayingFirm) {
  const owner = newUuid();
  await asService(
    { db, rowMac: testRowMac },
    sql`INSERT INTO users (id, email, created_at) VALUES (${owner}, ${`${owner}@elm.example`}, now())`,
    sql`INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
      VALUES (${owner}, ${firm.owner.partnerId}, 'owner', true, now())`,
  );
  return () =>
    db.query<{ cents: number }>(sql`
      SELECT (payload ->> 'cents')::int AS cents FROM jobs
      WHERE queue = 'firm-money-mail' AND payload ->> 'to' = ${owner} AND payload ->> 'moment' = 'debit_failed' ORDER BY id`);
}

test("tells the firm that its bank payment of its own order failed, once", async () => {
  const { firm, codes } = await group();
  const [code] = codes;
  const told = await failuresToldTo(firm);
  const session = stripe.sessionOf(await checkoutUrl(deps, code, null));
  await world.take(stripe.payByBank(session));
  assert.deepEqual([await statuses([code]), await told()], [["AwaitingPayment"], []]);
  const failure = stripe.bankAnswers(session, "failed");
  await world.take(failure);
  await world.take({ ...failure, id: "evt_again" });
  assert.deepEqual([await statuses([code]), (await told()).length], [["PaymentFailed"], 1]);
});

test("names each order's own sum when the firm's bank payment of several orders failed, whatever sum its event states", async () => {
  const { firm, codes } = await group();
  const told = await failuresToldTo(firm);
  const shared = await sharedCheckout(deps, { groupId: newUuid(), environment: "live" }, membersOf(codes));
  const session = stripe.sessionOf(shared.checkoutUrl);
  await world.take(stripe.payByBank(session));
  const failure = stripe.bankAnswers(session, "failed");
  await world.take({ ...failure, data: { object: { ...failure.data.object, amount_total: 1 } } });
  assert.deepEqual(await statuses(codes), all("PaymentFailed"));
  const cents = (await told()).map((mail) => mail.cents);
  assert.deepEqual(cents, [9_500, 18_240, 1_020]);
});

test("tells the firm, and not the client, that the firm's checkout of the client's order failed", async () => {
  const { firm, codes } = await group();
  const [code] = codes;
  await letClientsPay(deps, firm.principal, membersOf(codes), await shownOf(codes));
  const told = await failuresToldTo(firm);
  const session = stripe.sessionOf(await checkoutUrl(deps, code, firm.owner, { shown: "client" }));
  const { metadata } = stripe.sessions.get(session) ?? {};
  await world.take(stripe.event("payment_intent.payment_failed", { id: "pi_of_firm", metadata }));
  assert.deepEqual([await statuses([code]), (await told()).length], [["QuoteReady"], 0]);
  await world.take(stripe.payByBank(session));
  assert.deepEqual([await statuses([code]), await payerInProcess(db, code)], [["QuoteReady"], "firm"]);
  const failure = stripe.bankAnswers(session, "failed");
  await world.take(failure);
  await world.take({ ...failure, id: "evt_repeated" });
  assert.deepEqual([await statuses([code]), await payerInProcess(db, code)], [["QuoteReady"], null]);
  assert.deepEqual([await mailed([code]), (await told()).length], [["quote_ready"], 1]);
  const own = stripe.sessionOf(await checkoutUrl(deps, code, null));
  await world.take(stripe.payByBank(own));
  assert.equal(await payerInProcess(db, code), "client");
  await world.take(stripe.bankAnswers(own, "failed"));
  assert.deepEqual([await statuses([code]), (await told()).length], [["PaymentFailed"], 1]);
});

test("doesn't thank the client for the firm's money after the client's wrong sum was refunded", async () => {
  const { firm, codes } = await group();
  const [code] = codes;
  await letClientPay(deps, firm.principal, code);
  const wrong = stripe.pay(stripe.sessionOf(await checkoutUrl(deps, code, null)));
  await world.take({ ...wrong, data: { object: { ...wrong.data.object, amount_total: 1 } } });
  const orderId = await world.orderIdOf(code);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.equal(order?.status, "OnHold");
    await markRefunded(tx, orderId, String(wrong.data.object["payment_intent"]), world.clock());
    await transition(tx, order, "released", { actor: "system", at: world.clock(), log: deps.log, reason: "asked" });
  });
  const holds = async (moment: MailMoment) => stillHolds(() => true, moment, await mailable(orderId));
  assert.equal(await holds("refunded_part"), true, "until somebody pays again");
  await world.take(stripe.pay(stripe.sessionOf(await checkoutUrl(deps, code, firm.owner, { shown: "client" }))));
  assert.deepEqual(await statuses([code]), ["EsignPending"]);
  assert.deepEqual([await holds("payment_received"), await holds("refunded")], [false, false]);
  const early = {
    paymentIntent: "pi_early",
    sessionId: "refund:pi_early",
    amount: 0,
    currency: "usd",
    simulated: false,
  };
  await db.transaction(async (tx) => {
    const at = world.clock();
    await recordPayment(tx, { orderId, ...early, at, refundedAt: at, isPlaceholder: true });
  });
  assert.equal(await holds("payment_received"), false, "no money arrived with a refund");
});

test("opens no checkout for the firm from a page that was opened before the client became the payer", async () => {
  const { firm, codes } = await group();
  const open = () => checkoutUrl(deps, codes[0], firm.owner, { shown: "firm" });
  assert.equal(stateOf(await open()), "open");
  await letClientPay(deps, firm.principal, codes[0]);
  const clients = await checkoutUrl(deps, codes[0], null);
  await assert.rejects(open(), /The client pays this order by now/);
  assert.equal(stateOf(clients), "open");
});

test("doesn't blame the client for a declined card in the firm's checkout whose event comes after the switch", async () => {
  const { firm, codes } = await group();
  const url = await checkoutUrl(deps, codes[0], firm.owner);
  const { metadata } = stripe.sessions.get(stripe.sessionOf(url)) ?? {};
  await letClientPay(deps, firm.principal, codes[0]);
  assert.equal(await world.take(stripe.event("payment_intent.payment_failed", { id: "pi_declined", metadata })), true);
  assert.deepEqual(await statuses([codes[0]]), ["QuoteReady"]);
  assert.deepEqual(await mailed([codes[0]]), ["quote_ready"]);
});

test("leaves the firm the payer if it has just paid in its checkout, of one order or of several", async () => {
  const { firm, codes } = await group();
  const url = await checkoutUrl(deps, codes[0], firm.owner);
  const one = stripe.pay(stripe.sessionOf(url));
  await assert.rejects(letClientPay(deps, firm.principal, codes[0]), /A payment was just made/);
  const rest = codes.slice(1);
  const environment = "live" as const;
  const shared = await sharedCheckout(deps, { groupId: newUuid(), environment }, membersOf(rest));
  const several = stripe.pay(stripe.sessionOf(shared.checkoutUrl));
  await assert.rejects(
    letClientsPay(deps, firm.principal, membersOf(rest), await shownOf(rest)),
    /A payment was just made/,
  );
  assert.deepEqual(await payers(codes), all("firm"));
  for (const event of [one, several]) assert.equal(await world.take(event), true);
  assert.deepEqual(await statuses(codes), all("EsignPending"));
});

test("the switch and a new checkout at once leave no session that was opened for the firm", async () => {
  let switches = 0;
  for (let round = 0; round < 5; round++) {
    const { firm, codes } = await group();
    const before = await checkoutUrl(deps, codes[0], firm.owner, { shown: "firm" });
    const [switched, opened] = await Promise.allSettled([
      letClientPay(deps, firm.principal, codes[0]),
      checkoutUrl(deps, codes[0], firm.owner, { shown: "firm" }),
    ]);
    const isSwitched = switched.status === "fulfilled";
    if (!isSwitched) assert.match(String(switched.reason), /just changed/);
    assert.deepEqual(await payers([codes[0]]), [isSwitched ? "client" : "firm"]);
    if (!isSwitched) continue;
    switches += 1;
    const urls = opened.status === "fulfilled" ? [before, opened.value] : [before];
    assert.deepEqual(new Set(urls.map(stateOf)), new Set(["expired"]));
    const own = await checkoutUrl(deps, codes[0], null);
    assert.equal(urls.includes(own), false);
  }
  assert.ok(switches > 0, "no round had a switch");
});

test("a node without the processor's key leaves an open checkout to a node with the key", async () => {
  const { firm, codes } = await group();
  const node = { ...deps, processor: null };
  const orderId = await world.orderIdOf(codes[0]);
  const url = await checkoutUrl(deps, codes[0], firm.owner);
  const refused = { code: "payments_not_configured" };
  await assert.rejects(letClientPay(node, firm.principal, codes[0]), refused);
  await assert.rejects(closeCheckouts(node, orderId), refused);
  assert.deepEqual([await payers([codes[0]]), await checkoutUrl(deps, codes[0], firm.owner)], [["firm"], url]);
  await letClientPay(deps, firm.principal, codes[0]);
  assert.equal(stateOf(url), "expired");
  await checkoutUrl(deps, codes[0], null);
  world.advance(day);
  await closeCheckouts(node, orderId);
  assert.deepEqual(await currentSessions(db, [orderId]), []);
});

test("jobs that find an open page on a node without the processor's key wait for a node with the key", async () => {
  const handlers = new Map<string, Handler<object>>();
  const work: Jobs["work"] = (queue, handler) => void handlers.set(queue, handler as Handler<object>);
  const jobs: Jobs = { work, start: async () => {}, stop: async () => {} };
  paymentJobs(jobs, { ...deps, processor: null });
  const { firm, codes } = await group();
  const orderId = await world.orderIdOf(codes[0]);
  const url = await checkoutUrl(deps, codes[0], firm.owner);
  await changeOrder(db, codes[0], sql`status = 'RefundPending'`);
  for (const queue of [closeCheckoutQueue, refundQueue])
    for (const attempt of [1, 10]) {
      await db.query(sql`DELETE FROM jobs`);
      await handlers.get(queue)?.({ orderId }, { attempt, signal: new AbortController().signal });
      const waiting = await db.query(sql`
        SELECT queue, payload, due_at BETWEEN now() + interval '1 minute' AND now() + interval '1 hour' AS "isLater" FROM jobs`);
      assert.deepEqual(waiting, [{ queue, payload: { orderId }, isLater: true }]);
    }
  assert.equal(stateOf(url), "open");
  await runJobs();
  assert.equal(stateOf(url), "expired", "a node with the key closes it");
});

test("a crash at any point while the firm's checkout ends leaves a switch that can be repeated", async () => {
  for (let points = 0; points < 8; points++) {
    const { firm, codes } = await group();
    const url = await checkoutUrl(deps, codes[0], firm.owner);
    world.fuse.set(points);
    await letClientPay(deps, firm.principal, codes[0]).catch(() => {});
    world.fuse.set(null);
    const [payer] = await payers([codes[0]]);
    if (payer === "firm") await letClientPay(deps, firm.principal, codes[0]);
    assert.deepEqual([stateOf(url), await payers([codes[0]])], ["expired", ["client"]]);
    assert.deepEqual(await mailed([codes[0]]), ["quote_ready"]);
  }
});

test("opens no task about a failed debit that a person ended", async () => {
  const found = await group();
  const { firm, codes } = found;
  const saved = { method: firm.method, kind: "bank", brand: null, last4: "6789", expires: null } as const;
  await db.transaction(async (tx) => {
    const method = await activeMethod(tx, firm.owner);
    await updateMethod(tx, method?.id ?? "", { state: "active", saved });
  });
  stripe.firm.outcomes.set(firm.method, "processing");
  await charge(found);
  await runJobs();
  const intent = String(intentsOf(firm)[0]?.["id"]);
  world.advance(11 * day);
  const [first] = await chargesOfCode(db, codes[0]);
  await endCharge(deps, { id: first?.id ?? "", environment: "live", actor: "operator:test" });
  assert.equal(await world.take(stripe.chargeEvent(intent)), true);
  assert.deepEqual(await statuses(codes), all("PaymentFailed"));
  assert.deepEqual(await tasksOf(codes, "debit_failed"), all([]));
});
