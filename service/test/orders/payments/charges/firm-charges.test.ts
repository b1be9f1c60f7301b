import assert from "node:assert/strict";
import { test } from "node:test";
import { type StripeEvent, startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, shipping } from "@signsealship/testing/inputs/order-form";
import { asService, changeRowsOf } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../../src/kernel/platform/database/state-mac.ts";
import { lockOrder, setPayer } from "../../../../src/orders/order/order.ts";
import {
  askSupplement,
  openProcessor,
  presentAccount,
  supplementsOfCode,
  watchPayments,
} from "../../../../src/orders/payments/payments.ts";
import { chargeState } from "../../../../src/orders/payments/records/charges.ts";
import { codeTo, giveLiveAccess, mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { openLiveService } from "../../fulfilment/live-service.ts";
import { silent } from "../../order/orders-database.ts";

const live = await forTests(openLiveService({}));
const { service } = live.harness;
const { stripe, db } = live;
const html = { Accept: "text/html", Origin: new URL(service.baseUrl).origin };
const key = live.headers.Authorization.slice("Bearer ".length);
const email = "owner@acme.example";
const owner = { ...(await newMember(service, email, key)).headers, ...html };
const [firm] = await db.query<{ partnerId: string; keyId: string }>(sql`
  SELECT partner_id AS "partnerId", key_id AS "keyId" FROM members`);
const { partnerId = "", keyId = "" } = firm ?? {};
await giveLiveAccess(service, partnerId);
await post("/dashboard/environment", { environment: "live" });

function post(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = owner) {
  return postForm(live.url() + path, fields, headers);
}
const look = async (path: string) => (await fetch(live.url() + path, { headers: owner })).text();
const deliver = (event: StripeEvent) => stripe.deliver(live.url(), event);

/**
 * Adds a payment method as an owner, and delivers the processor's confirmation. @returns the method's id at the
 * processor
 */
async function addMethod(finished: Parameters<typeof stripe.finishSetup>[1] = {}): Promise<string> {
  const left = await post("/dashboard/billing/method");
  assert.equal(left.status, 200);
  const [sessionId = ""] = /cs_test_[0-9a-f]+/.exec(await left.text()) ?? [];
  for (const event of stripe.finishSetup(sessionId, finished)) assert.equal((await deliver(event)).status, 200);
  const method = [...stripe.firm.methods.keys()].at(-1) ?? "";
  if (!finished.isVerifying) await until(async () => (await stateOfMethod(method)) === "active");
  return method;
}
const stateOfMethod = async (method: string) =>
  (await db.query<{ state: string }>(sql`SELECT state FROM payment_methods WHERE method = ${method}`))[0]?.state;
const setLimit = (perOrder: string, perMonth: string) =>
  post("/dashboard/billing/limits", { spender: `key:${keyId}`, perOrder, perMonth });
const placeForFirm = async () => (await live.place({ svc_sign: "true", pay_by: "firm" })).orderCode;

type Charge = { state: string; intent: string | null; reason: string | null };
const chargesOf = (code: string) =>
  db.query<Charge>(sql`
    SELECT c.state, c.payment_intent AS intent, c.reason FROM firm_charges c JOIN orders o ON o.id = c.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY c.asked_at`);
const charge = (code: string, wanted: string) =>
  until(async () => (await chargesOf(code)).find(({ state }) => state === wanted));
const intentsOf = (code: string) =>
  [...stripe.firm.intents.values()].filter(({ metadata }) => (metadata as { order_code?: string }).order_code === code);

const waiting: string[] = [];

test("without a method, an order's answer, the pages and one mail for all orders say why they are not charged", async () => {
  const { orderCode, checkoutUrl } = await live.place({ svc_sign: "true", pay_by: "firm" });
  waiting.push(orderCode, await placeForFirm());
  assert.match(checkoutUrl, /\/c\/pay\/cs_test/);
  for (const code of waiting) await charge(code, "refused");
  const { charge: refused, totalCents } = await orderOf(orderCode);
  assert.deepEqual([refused?.state, refused?.reason, refused?.amountCents], ["refused", "no_method", totalCents]);
  assert.match(await look(`/dashboard/orders/${orderCode}`), /Add a card or bank account/);
  const text = `2 orders wait for your firm’s payment: $${((2 * totalCents) / 100).toFixed(2)}`;
  for (const page of ["/dashboard", "/dashboard/billing"]) assert.ok((await look(page)).includes(text), page);
  assert.match(await look("/dashboard/billing"), /Not charged\. Your firm had no card or bank account/);
  const due = await db.query(sql`UPDATE jobs SET due_at = now() WHERE queue = 'firm-waiting-mail' RETURNING id`);
  assert.equal(due.length, 1);
  await db.query(sql`SELECT pg_notify('jobs', 'firm-waiting-mail')`);
  const isTold = (mail: string) => mail.includes("Subject: 2 orders wait for a payment of your firm");
  await until(() => mailsTo(service, email).some(isTold));
  assert.equal(mailsTo(service, email).filter((mail) => /Subject: .*waits? for/.test(mail)).length, 1);
  assert.equal(stripe.firm.intents.size, 0);
});

test("an owner adds a card on the processor's page; only the signed event makes it usable", async () => {
  const left = await post("/dashboard/billing/method");
  const [sessionId = ""] = /cs_test_[0-9a-f]+/.exec(await left.text()) ?? [];
  assert.doesNotMatch(await look("/dashboard/billing?setup=returned"), /4242/);
  const events = stripe.finishSetup(sessionId);
  assert.doesNotMatch(await look("/dashboard/billing"), /4242/);
  // Delivers the session's and the intent's events in reverse order, and then again.
  for (const event of [...events.reverse(), ...events]) assert.equal((await deliver(event)).status, 200);
  await until(async () => /Visa •••• 4242/.test(await look("/dashboard/billing")));
  const mails = await until(() => {
    const found = mailsTo(service, email).filter((mail) => /Subject: Your firm pays by another method/.test(mail));
    return found.length > 0 ? found : undefined;
  });
  assert.equal(mails.length, 1);
});

test("Billing warns of a card in its last month, until its bank has renewed it", async () => {
  const method = [...stripe.firm.methods.keys()].at(-1) ?? "";
  const [exp_month, exp_year] = [new Date().getUTCMonth() + 1, new Date().getUTCFullYear()];
  const shows = async (card: { last4: string; exp_month: number; exp_year: number }) => {
    assert.equal((await deliver(stripe.renewCard(method, card))).status, 200);
    return look("/dashboard/billing");
  };
  assert.match(
    await shows({ last4: "4242", exp_month, exp_year }),
    /Visa •••• 4242 expires at the end of this month|has expired/,
  );
  assert.match(await shows({ last4: "4242", exp_month, exp_year: exp_year - 1 }), /Visa •••• 4242 has expired/);
  const renewed = await shows({ last4: "4242", exp_month: 4, exp_year: 2031 });
  assert.doesNotMatch(renewed, /expires at the end|has expired/);
  assert.match(renewed, /04\/2031/);
});

test("a member who is not an owner can't add or remove a method, or set limits", async () => {
  const member = { ...(await newMember(service, "member@acme.example", key)).headers, ...html };
  await post("/dashboard/environment", { environment: "live" }, member);
  const [row] = await db.query<{ id: string }>(sql`SELECT id FROM payment_methods WHERE state = 'active'`);
  const spender = `key:${keyId}`;
  for (const [path, fields] of [
    ["/dashboard/billing/method", {}],
    [`/dashboard/billing/methods/${row?.id}/remove`, {}],
    ["/dashboard/billing/limits", { spender, perOrder: "1", perMonth: "1" }],
  ] as const)
    assert.equal((await post(path, fields, member)).status, 403, path);
  assert.equal((await db.query(sql`SELECT FROM spending_limits`)).length, 0);
});

test("a new card charges no order that waited; one press charges all of them, once, as the page showed them", async () => {
  for (const code of waiting)
    assert.deepEqual(
      (await chargesOf(code)).map(({ state }) => state),
      ["refused"],
    );
  assert.equal(stripe.firm.intents.size, 0);
  const page = await look("/dashboard/billing");
  const { totalCents } = await orderOf(waiting[0] ?? "");
  const sum = `$${((2 * totalCents) / 100).toFixed(2)}`;
  assert.ok(page.includes(`2 orders wait to be charged: ${sum}`));
  assert.ok(page.includes(`Charge all 2: ${sum} to Visa •••• 4242`));
  const sent = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? "";
  const shown = { orders: sent("orders"), method: sent("method") };
  const named = (code = "", cents = totalCents) => `${code}:${cents}`;
  assert.deepEqual(
    shown.orders.split(" "),
    waiting.map((code) => named(code)),
  );
  const send = (more: Record<string, string> = {}) => post("/dashboard/billing/charge-waiting", { ...shown, ...more });
  const press = async (more: Record<string, string> = {}) => (await send(more)).status;
  assert.equal(await press({ orders: waiting.join(" ") }), 409);
  assert.equal(await press({ orders: named(waiting[0], totalCents + 1) }), 409);
  assert.equal(await press({ method: partnerId }), 409);
  assert.equal(await press({ orders: `${named(waiting[0])} ${named("0".repeat(40))}` }), 404);
  for (const code of waiting) assert.equal((await chargesOf(code)).length, 1);
  const dearer = `${named(waiting[0])} ${named(waiting[1], totalCents + 1)}`;
  const partly = await Promise.all([send({ orders: dearer }), send({ orders: dearer })]);
  assert.deepEqual(partly.map(({ status }) => status).sort(), [200, 409]);
  const answer = await partly.find(({ status }) => status === 200)?.text();
  const name = (waiting[1] ?? "").slice(0, 6).toUpperCase();
  assert.ok(answer?.includes("One order was not charged"));
  assert.ok(answer?.includes(`Order ${name}: The price is`));
  assert.equal(await press({ orders: named(waiting[1]) }), 303);
  for (const code of waiting) {
    const { intent } = await charge(code, "answered");
    assert.deepEqual(
      intentsOf(code).map(({ amount }) => amount),
      [totalCents],
    );
    await deliver(stripe.chargeEvent(intent ?? ""));
    assert.equal(await live.statusOf(code), "EsignPending");
  }
  for (const path of ["/dashboard", "/dashboard/billing"]) assert.doesNotMatch(await look(path), /wait to be charged/);
});

test("a key without a limit can't charge, and invalid amounts are refused by name", async () => {
  const code = await placeForFirm();
  assert.equal((await charge(code, "refused")).reason, "no_limit");
  assert.equal((await orderOf(code)).charge?.reason, "no_limit");
  assert.match(await look("/dashboard/billing"), /1 order waits to be charged/);
  const mailed = await db.query<{ isSoon: boolean }>(sql`
    SELECT due_at < now() + interval '61 minutes' AS "isSoon" FROM jobs WHERE queue = 'firm-waiting-mail'`);
  assert.deepEqual(mailed, [{ isSoon: true }], "the mail about earlier orders was sent a moment ago");
  for (const perOrder of ["-1", "1.234", "many", "99999999"]) {
    const refused = await setLimit(perOrder, "10");
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /“Dollars for one order” must be an amount in dollars/);
  }
  const unknown = { spender: `key:${partnerId}`, perOrder: "1", perMonth: "1" };
  assert.equal((await post("/dashboard/billing/limits", unknown)).status, 404);
});

test("charges the card once, and only the processor's event changes the order's status", async () => {
  assert.equal((await setLimit("500.00", "5000")).status, 303);
  const code = await placeForFirm();
  const { intent } = await charge(code, "answered");
  assert.equal(await live.statusOf(code), "QuoteReady");
  const order = await look(`/dashboard/orders/${code}`);
  assert.match(order, /Being processed/);
  assert.match(order, /class="headline">Your firm’s payment is being processed</, "it is not ready to be paid again");
  const checkout = await fetch(`${live.url()}/api/partner/orders/${code}/checkout`, {
    method: "POST",
    headers: live.headers,
  });
  assert.deepEqual(
    [checkout.status, await checkout.json()],
    [409, { error: "A payment by your firm is under way. Wait until it has ended." }],
  );
  const event = stripe.chargeEvent(intent ?? "");
  for (const each of [event, event, { ...event, id: `${event.id}2` }]) await deliver(each);
  assert.equal(await live.statusOf(code), "EsignPending");
  const payments = await db.query<{ amount: number; total: number }>(sql`
    SELECT p.amount_cents::int AS amount, o.total_cents AS total FROM payments p JOIN orders o ON o.id = p.order_id
    WHERE p.payment_intent = ${intent}`);
  assert.equal(payments.length, 1);
  assert.equal(payments[0]?.amount, payments[0]?.total);
  assert.equal(intentsOf(code).length, 1);
  assert.equal((await charge(code, "succeeded")).intent, intent);
});

test("Billing opens while a charge is altered: its payment and its spender's sum are not readable, and nothing is spent", async () => {
  const code = await placeForFirm();
  const { intent } = await charge(code, "answered");
  const own = sql`payment_intent = ${intent}`;
  await db.query(sql`UPDATE firm_charges SET reason = 'forged' WHERE ${own}`);
  const page = await look("/dashboard/billing");
  assert.match(page, /Not readable: a record was altered/);
  assert.ok(page.includes(`/dashboard/orders/${code}`));
  assert.match(page, /What is used this month can’t be read/);
  const other = await placeForFirm();
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'firm-charge'`)).length === 0);
  assert.deepEqual(await chargesOf(other), []);
  await changeRowsOf(db, chargeState, own, sql`reason = NULL`);
  assert.doesNotMatch(await look("/dashboard/billing"), /Not readable|can’t be read/);
  assert.equal((await pressCharge(other)).status, 303);
  for (const each of [code, other]) {
    const answered = await charge(each, "answered");
    await deliver(stripe.chargeEvent(answered.intent ?? ""));
    assert.equal(await live.statusOf(each), "EsignPending");
  }
});

const shownCents = (page: string): string => /name="total_cents" value="(\d+)"/.exec(page)?.[1] ?? "";
/** The sum and the method of a page's charge button. */
const shownIn = (page: string) => ({
  total_cents: shownCents(page),
  charged_method: /name="charged_method" value="([^"]+)"/.exec(page)?.[1] ?? "",
});
const activeId = async () =>
  (await db.query<{ id: string }>(sql`SELECT id FROM payment_methods WHERE state = 'active'`))[0]?.id ?? "";
/** Presses the button that charges the firm for an order. */
async function pressCharge(code: string) {
  const path = `/dashboard/orders/${code}`;
  return post(`${path}/charge`, shownIn(await look(path)));
}

for (const [outcome, words] of [
  ["authentication_required", /wants a person to confirm/],
  ["expired_card", /has expired/],
  ["card_declined", /declined the card/],
  ["insufficient_funds", /not enough money/],
] as const)
  test(`${outcome}: the event makes the order PaymentFailed, owners are mailed, and the checkout stays possible`, async () => {
    const method = [...stripe.firm.methods.keys()].at(-1) ?? "";
    stripe.firm.outcomes.set(method, outcome);
    const code = await placeForFirm();
    const { intent } = await charge(code, "declined");
    assert.equal(await live.statusOf(code), "QuoteReady");
    await deliver(stripe.chargeEvent(intent ?? ""));
    assert.equal(await live.statusOf(code), "PaymentFailed");
    await charge(code, "failed");
    const isTold = (mail: string) => /Subject: A payment of your firm failed/.test(mail) && mail.includes(code);
    await until(() => mailsTo(service, email).some((mail) => isTold(mail) && words.test(mail)));
    assert.equal(mailsTo(service, email).filter(isTold).length, 1);
    const page = await look(`/dashboard/orders/${code}`);
    assert.match(page, words);
    assert.match(page, /Open the checkout for/);
    stripe.firm.outcomes.delete(method);
    // The card needs its holder's confirmation, so the page now has no button. This posts a form that the owner opened
    // earlier.
    const fields = { total_cents: String((await orderOf(code)).totalCents), charged_method: await activeId() };
    assert.equal((await post(`/dashboard/orders/${code}/charge`, fields)).status, 303);
    const again = await charge(code, "answered");
    await deliver(stripe.chargeEvent(again.intent ?? ""));
    assert.equal(await live.statusOf(code), "EsignPending");
    assert.equal(intentsOf(code).length, 2);
  });

test("a charge button charges only the card that it names, on the order's page, the room's and Billing", async () => {
  const { roomCode, firms } = await closing();
  const [code = ""] = firms;
  const room = `/dashboard/rooms/${roomCode}`;
  const order = `/dashboard/orders/${code}`;
  const stale = [
    [`${order}/charge`, shownIn(await look(order))],
    [`${room}/charge`, shownIn(await look(room))],
  ] as const;
  const row = new RegExp(`action="${order}/charge">.*?</form>`).exec(await look("/dashboard/billing"))?.[0] ?? "";
  assert.deepEqual(shownIn(row), stale[0][1]);
  await addMethod();
  for (const [path, { total_cents, ...shown }] of stale) {
    for (const [more, why] of [
      [shown, "Your firm pays by another card or bank account now."],
      [{}, "The page was out of date."],
    ] as const) {
      const refused = await post(path, { total_cents, ...more });
      assert.equal(refused.status, 409, path);
      const page = await refused.text();
      assert.ok(page.includes(`${why} Nothing was charged: look at `), page);
      assert.notEqual(shownIn(page).charged_method, shown.charged_method);
    }
  }
  assert.deepEqual(
    (await chargesOf(code)).map(({ state }) => state),
    ["refused"],
  );
  assert.equal((await pressCharge(code)).status, 303);
  await deliver(stripe.chargeEvent((await charge(code, "answered")).intent ?? ""));
  // Closes the room, because the firm's tier allows few open rooms.
  assert.equal((await post(`${room}/close`)).status, 303);
});

test("an amount above a limit waits for an owner, who is mailed and charges it", async () => {
  await setLimit("1", "5000");
  const code = await placeForFirm();
  assert.equal((await charge(code, "refused")).reason, "above_order_limit");
  assert.equal(intentsOf(code).length, 0);
  await until(() => mailsTo(service, email).some((mail) => /above the limit for one order/.test(mail)));
  const path = `/dashboard/orders/${code}`;
  const shown = shownIn(await look(path));
  const stale = await post(`${path}/charge`, { ...shown, total_cents: String(Number(shown.total_cents) - 1) });
  assert.equal(stale.status, 409);
  assert.match(
    await stale.text(),
    /The sum is \$[\d.]+ now, not \$[\d.]+\. Nothing was charged: look at the order again\./,
  );
  assert.equal((await post(`${path}/charge`)).status, 400);
  assert.equal((await charge(code, "refused")).reason, "above_order_limit");
  await pressCharge(code);
  await deliver(stripe.chargeEvent((await charge(code, "answered")).intent ?? ""));
  assert.equal(await live.statusOf(code), "EsignPending");
});

test("concurrent charges stay within the month's limit", async () => {
  const [sum] = await db.query<{ cents: number; one: number }>(sql`
    SELECT coalesce(sum(c.amount_cents), 0)::int AS cents, (SELECT max(total_cents) FROM orders) AS one FROM firm_charges c
    WHERE c.asked_by = ${`key:${keyId}`} AND c.state IN ('asked', 'answered', 'pending', 'succeeded')`);
  const { cents = 0, one = 0 } = sum ?? {};
  await setLimit("500", ((cents + 3 * one) / 100).toFixed(2));
  const codes = await Promise.all(Array.from({ length: 20 }, placeForFirm));
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'firm-charge'`)).length === 0);
  assert.equal(codes.flatMap(intentsOf).length, 3);
  const refused = await db.query(sql`SELECT FROM firm_charges WHERE reason = 'above_month_limit'`);
  assert.equal(refused.length, 17);
  await setLimit("500", "9000");
});

test("a bank debit is pending for days, blocks a checkout, and its failure makes the order payable again", async () => {
  const method = await addMethod({ type: "us_bank_account" });
  stripe.firm.outcomes.set(method, "processing");
  for (const outcome of ["failed", "succeeded"] as const) {
    const code = await placeForFirm();
    const { intent } = await charge(code, "pending");
    await deliver(stripe.chargeEvent(intent ?? ""));
    assert.equal(await live.statusOf(code), "AwaitingPayment");
    await until(() =>
      mailsTo(service, email).some((mail) => /takes up to 4 business days/.test(mail) && mail.includes(code)),
    );
    const late = stripe.chargeEvent(intent ?? "");
    stripe.firm.bankAnswers(intent ?? "", outcome);
    await deliver(stripe.chargeEvent(intent ?? ""));
    // The event about the pending bank payment arrives after the event about the bank's answer.
    await deliver({ ...late, id: `${late.id}late` });
    assert.equal(await live.statusOf(code), outcome === "failed" ? "PaymentFailed" : "EsignPending");
  }
});

const mailAbout = (code: string, words: RegExp) =>
  until(() => mailsTo(service, email).find((mail) => mail.includes(code) && words.test(mail)));

test("a bank account that is removed during a debit finishes the debit, and is charged for no new order", async () => {
  const code = (await live.place({ svc_sign: "true", pay_by: "firm", external_reference: "FILE-77" })).orderCode;
  const { intent } = await charge(code, "pending");
  const [row] = await db.query<{ id: string; method: string }>(
    sql`SELECT id, method FROM payment_methods WHERE state = 'active'`,
  );
  assert.equal((await post(`/dashboard/billing/methods/${row?.id}/remove`)).status, 303);
  const second = await placeForFirm();
  await until(
    async () =>
      (await db.query(sql`SELECT FROM jobs WHERE queue IN ('firm-charge', 'payment-method-end')`)).length === 0,
  );
  assert.deepEqual(await chargesOf(second), [{ state: "refused", intent: null, reason: "no_method" }]);
  assert.equal(stripe.firm.methods.get(row?.method ?? "")?.customer === null, false);
  stripe.firm.bankAnswers(intent ?? "", "succeeded");
  await deliver(stripe.chargeEvent(intent ?? ""));
  assert.equal(await live.statusOf(code), "EsignPending");
  await until(() => stripe.firm.methods.get(row?.method ?? "")?.customer === null);

  const [order] = await db.query<{ total: number }>(
    sql`SELECT total_cents AS total FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const total = order?.total ?? 0;
  const sum = new RegExp(`\\$${(total / 100).toFixed(2)}`);
  const dispute = { id: "dp_mail", payment_intent: intent, amount: total, currency: "usd" };
  const told = async (type: string, status: string, subject: RegExp) => {
    const event = stripe.event(`charge.dispute.${type}`, { ...dispute, status });
    for (const each of [event, event, { ...event, id: `${event.id}again` }]) await deliver(each);
    const mail = await mailAbout(code, subject);
    assert.match(mail, sum);
    assert.match(mail, /FILE-77/);
    assert.equal(mailsTo(service, email).filter((each) => subject.test(each)).length, 1);
    return mail;
  };
  assert.match(await told("created", "needs_response", /Subject: A bank asks for a payment back/), /is on hold/);
  assert.match(
    await told("closed", "lost", /Subject: A bank took a payment back/),
    /A payment of your firm came back[\s\S]*owes\s+the\s+price/,
  );
  assert.match(await look(`/dashboard/orders/${code}`), paymentStep(`The bank took $${(total / 100).toFixed(2)} back`));
  assert.match(await look(`/orders/${code}`), paymentStep("Done"), "the client must not learn of the firm’s loss");
  const method = await addMethod({ type: "us_bank_account" });
  stripe.firm.outcomes.set(method, "processing");
});

test("a bank account that is verified later is usable then, and a mail reports a failed one", async () => {
  for (const isRight of [false, true]) {
    const method = await addMethod({ type: "us_bank_account", isVerifying: true });
    const [setup] = [...stripe.firm.setups.values()].slice(-1);
    const id = String(setup?.["id"]);
    const state = async () =>
      (await db.query<{ state: string }>(sql`SELECT state FROM payment_methods WHERE setup_intent = ${id}`))[0]?.state;
    await until(async () => (await state()) === "verifying");
    assert.match(await look("/dashboard/billing"), /Waiting for your bank/);
    const intent = stripe.firm.verify(id, isRight);
    await deliver(stripe.event(`setup_intent.${isRight ? "succeeded" : "setup_failed"}`, { ...intent }));
    await until(async () => (await state()) === (isRight ? "active" : "failed"));
    if (isRight) assert.equal(await stateOfMethod(method), "active");
    else await until(() => mailsTo(service, email).some((mail) => /could not be verified/.test(mail)));
  }
  // Waits until the processor has forgotten all replaced payment methods, except those with a charge in progress.
  const moving = await db.query(sql`
    SELECT DISTINCT m.id FROM payment_methods m JOIN firm_charges c ON c.method_id = m.id
    WHERE m.state = 'removed' AND c.state IN ('asked', 'answered', 'pending')`);
  const attached = () => [...stripe.firm.methods.values()].filter(({ customer }) => customer !== null).length;
  await until(() => attached() <= 2 + moving.length);
});

test("an answer that was lost with its connection is found again, and nothing is charged twice", async () => {
  stripe.fail("cut", "cut");
  const code = await placeForFirm();
  await until(async () => {
    await live.hurry("firm-charge");
    return (await chargesOf(code))[0]?.state === "answered";
  });
  assert.equal(intentsOf(code).length, 1);
});

test("a charge whose job is repeated after the processor's keys expired is not sent twice", async () => {
  const code = await placeForFirm();
  await charge(code, "answered");
  stripe.forgetKeys();
  const charges = sql`state = 'answered' AND order_id = (SELECT max(id) FROM orders)`;
  const asked = sql`state = 'asked'`;
  // Simulates a crash before the response was stored.
  await db.transaction(async (tx) => {
    await tx.script("ALTER TABLE firm_charges DISABLE TRIGGER firm_charges_stay");
    await tx.query(sql`
      UPDATE firm_charges SET state = 'asked', payment_intent = NULL, asked_at = asked_at - interval '1 day',
        changed_at = changed_at - interval '1 day' WHERE ${charges}`);
    await writeStateMacs(tx, chargeState, asked);
    await tx.script("ALTER TABLE firm_charges ENABLE TRIGGER firm_charges_stay");
  });
  const deps = { db, clock: () => new Date(), log: silent };
  await watchPayments(deps);
  await watchPayments(deps);
  assert.equal((await live.tasksOf(code)).filter(({ kind }) => kind === "firm_charge").length, 1);
  // The owner lowers the limit after the charge. The existing payment stays valid.
  assert.equal((await setLimit("0.01", "9000")).status, 303);
  await db.query(sql`
    SELECT enqueue_job('firm-charge', jsonb_build_object('orderId', max(id))) FROM orders`);
  const { intent } = await charge(code, "answered");
  assert.equal((await setLimit("500.00", "9000")).status, 303);
  assert.equal(intentsOf(code).length, 1);
  await deliver(stripe.chargeEvent(intent ?? ""));
  assert.deepEqual(
    (await live.tasksOf(code)).filter(({ kind }) => kind === "firm_charge").map(({ state }) => state),
    ["done"],
  );
});

/** Simulates that the processor has not responded for a long time. */
const makeOverdue = (id: string) =>
  changeRowsOf(db, chargeState, sql`id = ${id}`, sql`changed_at = changed_at - interval '11 days'`);

test("an owner or an operator ends a charge that got stuck; nobody else does, and its order can be paid otherwise", async () => {
  const method = [...stripe.firm.methods.keys()].at(-1) ?? "";
  stripe.firm.outcomes.set(method, "processing");
  const operator = await newOperator(live.harness, { roles: ["approver"] });
  const agent = await newOperator(live.harness, { roles: ["agent"] });
  const member = { ...(await newMember(service, "member2@acme.example", key)).headers, ...html };
  await post("/dashboard/environment", { environment: "live" }, member);
  const byOperator = ({ cookie }: { cookie: string }, id: string) =>
    post(`/operator/payments/charges/${id}/end`, {}, { cookie, Accept: "text/html" });
  for (const isOwner of [true, false]) {
    const code = await placeForFirm();
    await charge(code, "pending");
    const [row] = await db.query<{ id: string }>(sql`SELECT id FROM firm_charges ORDER BY asked_at DESC LIMIT 1`);
    const id = row?.id ?? "";
    const end = `/dashboard/billing/charges/${id}/end`;
    assert.doesNotMatch(await look("/dashboard/billing"), new RegExp(id));
    const early = await post(end);
    assert.equal(early.status, 409);
    assert.match(await early.text(), /is under way, and not overdue/);
    await makeOverdue(id);
    assert.match(await look("/dashboard/billing"), new RegExp(end));
    const shown = await fetch(`${live.url()}/operator/payments`, { headers: { cookie: operator.cookie } });
    assert.match(await shown.text(), /Charges of firms without an answer/);
    assert.equal((await post(end, {}, member)).status, 403);
    assert.equal((await byOperator(agent, id)).status, 403);
    assert.equal((await (isOwner ? post(end) : byOperator(operator, id))).status, 303);
    assert.equal((await charge(code, "failed")).reason, "ended");
    const checkout = await fetch(`${live.url()}/api/partner/orders/${code}/checkout`, {
      method: "POST",
      headers: live.headers,
    });
    assert.equal(checkout.status, 200);
  }
  stripe.firm.outcomes.delete(method);
});

type RoomCharge = {
  paymentId: string;
  orders: { orderCode: string; chargeId: string; totalCents: number }[];
  totalCents: number;
};

/** A room with a client's order, and two uncharged orders that the firm pays. */
async function closing() {
  await setLimit("0", "0");
  const codes = [await placeForFirm(), (await live.place({ svc_sign: "true" })).orderCode, await placeForFirm()];
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'firm-charge'`)).length === 0);
  const json = { ...live.headers, "Content-Type": "application/json" };
  const call = async (path: string, body: object) =>
    (await fetch(live.url() + path, { method: "POST", headers: json, body: JSON.stringify(body) })).json();
  const { roomCode } = (await call("/api/rooms", { name: "12 Elm Street" })) as { roomCode: string };
  for (const orderCode of codes) await call(`/api/rooms/${roomCode}/orders`, { orderCode });
  return { roomCode, firms: codes.filter((_, index) => index !== 1), all: codes };
}

async function chargeRoom(roomCode: string, idempotencyKey: string) {
  const headers = { ...live.headers, "Idempotency-Key": idempotencyKey };
  const answer = await fetch(`${live.url()}/api/rooms/${roomCode}/charge`, { method: "POST", headers });
  return { status: answer.status, body: (await answer.json()) as RoomCharge & { error?: string } };
}

const orderOf = async (code: string) =>
  (await (await fetch(`${live.url()}/api/partner/orders/${code}`, { headers: live.headers })).json()) as {
    totalCents: number;
    charge?: { chargeId: string; state: string; amountCents: number; reason: string | null };
  };

test("a key charges the orders of a room that its firm pays, once for one Idempotency-Key", async () => {
  const { roomCode, firms, all } = await closing();
  await setLimit("500.00", "9000");
  const same = await Promise.all(Array.from({ length: 3 }, () => chargeRoom(roomCode, "charge-room-1")));
  for (const { status, body } of same) {
    assert.equal(status, 202, body.error);
    assert.deepEqual(body, same[0]?.body);
  }
  const charged = same[0]?.body.orders ?? [];
  assert.deepEqual(
    charged.map(({ orderCode }) => orderCode),
    firms,
  );
  assert.equal(
    same[0]?.body.totalCents,
    charged.reduce((sum, { totalCents }) => sum + totalCents, 0),
  );
  for (const { orderCode, chargeId } of charged) {
    await charge(orderCode, "answered");
    const { charge: shown, totalCents } = await orderOf(orderCode);
    assert.deepEqual([shown?.chargeId, shown?.state, shown?.amountCents], [chargeId, "processing", totalCents]);
  }
  const paymentId = same[0]?.body.paymentId;
  const payments = [...stripe.firm.intents.values()].filter(
    ({ metadata }) => (metadata as { charge?: string }).charge === paymentId,
  );
  assert.deepEqual(
    payments.map(({ amount }) => amount),
    [same[0]?.body.totalCents],
    "one payment",
  );
  await deliver(stripe.chargeEvent(String(payments[0]?.["id"])));
  for (const orderCode of firms) {
    assert.equal((await orderOf(orderCode)).charge?.state, "succeeded");
    assert.equal(intentsOf(orderCode).length, 0, "none of its own");
  }
  assert.equal("charge" in (await orderOf(all[1] ?? "")), false);
  const again = await chargeRoom(roomCode, "charge-room-2");
  assert.deepEqual(
    [again.status, again.body.error],
    [409, `Order ${firms[0]}: An order in EsignPending is not payable.`],
  );
});

test("a room's charge above a limit, or without one, charges none of its orders and names the first", async () => {
  const { roomCode, firms } = await closing();
  const none = await chargeRoom(roomCode, "charge-room-3");
  assert.equal(none.status, 409);
  assert.match(none.body.error ?? "", new RegExp(`^Order ${firms[0]}: An owner has not allowed you to spend`));
  const [spent] = await db.query<{ cents: number; one: number }>(sql`
    SELECT coalesce(sum(c.amount_cents), 0)::int AS cents, (SELECT max(total_cents) FROM orders) AS one FROM firm_charges c
    WHERE c.asked_by = ${`key:${keyId}`} AND c.state IN ('asked', 'answered', 'pending', 'succeeded')`);
  await setLimit("500", (((spent?.cents ?? 0) + (spent?.one ?? 0)) / 100).toFixed(2));
  const above = await chargeRoom(roomCode, "charge-room-4");
  assert.equal(above.status, 409);
  assert.match(above.body.error ?? "", new RegExp(`^Order ${firms[1]}: The sum is above what is left of your limit`));
  for (const code of firms)
    assert.deepEqual(
      (await chargesOf(code)).map(({ state }) => state),
      ["refused"],
    );
  assert.equal((await chargeRoom("f".repeat(40), "charge-room-5")).status, 404);
  assert.equal((await chargeRoom(roomCode, "short")).status, 400);
  await setLimit("500.00", "9000");
});

test("the room's page shows a payment under way, and asks for the orders alone that it does not pay", async () => {
  const { roomCode, firms } = await closing();
  await setLimit("500.00", "9000");
  const path = `/dashboard/rooms/${roomCode}`;
  const queued = await db.query<{ id: number }>(sql`
    SELECT enqueue_job('firm-charge', jsonb_build_object('orderIds', (SELECT json_agg(o.id) FROM (
      SELECT id FROM orders WHERE pay_by = 'firm' ORDER BY id DESC LIMIT 2) AS o)), now() + interval '1 h')::text AS id`);
  assert.equal(queued.length, 1);
  const sending = await look(path);
  assert.match(sending, /Your firm’s payment for 2 orders of this room, \$[\d.]+: Being sent/);
  assert.doesNotMatch(sending, /Charge the firm/);
  await db.query(sql`DELETE FROM jobs WHERE queue = 'firm-charge' AND due_at > now() + interval '30 min'`);
  assert.equal((await post(`${path}/charge`, shownIn(await look(path)))).status, 303);
  for (const code of firms) await charge(code, "answered");
  await setLimit("0", "0");
  const later = await placeForFirm();
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'firm-charge'`)).length === 0);
  await setLimit("500.00", "9000");
  const headers = { ...live.headers, "Content-Type": "application/json" };
  const body = JSON.stringify({ orderCode: later });
  await fetch(`${live.url()}/api/rooms/${roomCode}/orders`, { method: "POST", headers, body });
  const page = await look(path);
  assert.match(page, /Your firm’s payment for 2 orders of this room, \$[\d.]+: Being processed/);
  assert.match(page, /1 order of this room that your firm pays can be paid now/);
  assert.equal(shownCents(page), String((await orderOf(later)).totalCents));
});

test("a member charges the firm on the room's page, which shows the state of the one payment", async () => {
  const { roomCode, firms } = await closing();
  await setLimit("500.00", "9000");
  const path = `/dashboard/rooms/${roomCode}`;
  const before = await look(path);
  const [, sum] = /Charge the firm: (\$[\d.]+) to [^<]+/.exec(before) ?? assert.fail("no button");
  const fields = shownIn(before);
  const stale = await post(`${path}/charge`, { ...fields, total_cents: String(Number(fields.total_cents) - 1) });
  assert.equal(stale.status, 409);
  assert.ok((await stale.text()).includes(`The sum is ${sum} now, not `));
  assert.equal((await post(`${path}/charge`)).status, 400);
  for (const code of firms)
    assert.deepEqual(
      (await chargesOf(code)).map(({ state }) => state),
      ["refused"],
    );
  assert.equal((await post(`${path}/charge`, fields)).status, 303);
  for (const code of firms) await charge(code, "answered");
  const closingOf = async (code: string) =>
    (await fetch(`${live.url()}/dashboard/orders/${code}/closing`, { headers: owner, redirect: "manual" })).headers;
  assert.equal((await closingOf(firms[1] ?? "")).get("location"), path, "mails about the payment link here");
  assert.equal((await closingOf("f".repeat(40))).get("location"), "/dashboard/billing#charges");
  const page = await look(path);
  assert.ok(page.includes(`Your firm’s payment for 2 orders of this room, ${sum}: Being processed`), page);
  assert.doesNotMatch(page, /Charge the firm/);
  const refused = await post(`${path}/charge`, fields);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /A payment by your firm is under way/);
  const { intent } = await charge(firms[0] ?? "", "answered");
  await deliver(stripe.chargeEvent(intent ?? ""));
  for (const code of firms) assert.equal(await live.statusOf(code), "EsignPending");
  const paid = await look(path);
  assert.doesNotMatch(paid, /Your firm’s payment/);
  assert.ok(paid.includes(`Your firm paid 2 orders of this room: ${sum}.`));
  const billing = await look("/dashboard/billing");
  const shown = firms.map((code) => code.slice(0, 6).toUpperCase());
  assert.match(billing, new RegExp(`${shown.join("</a>, <a[^>]*>")}|${shown.reverse().join("</a>, <a[^>]*>")}`));
  assert.doesNotMatch(paid, /efunded/);
  await deliver(stripe.event("charge.refunded", { payment_intent: intent ?? "", refunded: true }));
  for (const code of firms) assert.equal(await live.statusOf(code), "Refunded");
  assert.ok((await look(path)).includes(`Your firm paid 2 orders of this room: ${sum}. Refunded since: 2 orders. `));
  await post(`${path}/close`);
});

test("after a decline, a member lets the client pay on the order's page or the room's, and the client gets the link", async () => {
  const method = [...stripe.firm.methods.keys()].at(-1) ?? "";
  stripe.firm.outcomes.set(method, "card_declined");
  const client = "jordan.payer@example.com";
  const place = async () => {
    const { orderCode } = await live.place({ svc_sign: "true", pay_by: "firm", email: client });
    await deliver(stripe.chargeEvent((await charge(orderCode, "declined")).intent ?? ""));
    return orderCode;
  };
  const codes = [await place(), await place()];
  stripe.firm.outcomes.delete(method);
  const isDecline = (mail: string) =>
    /A payment of your firm failed/.test(mail) && codes.some((code) => mail.includes(code));
  const told = await until(() => mailsTo(service, email).find(isDecline));
  assert.match(told.replace(/=?\s+/g, " "), /let the client pay instead: the order’s page has a button for it/);
  assert.deepEqual(mailsTo(service, client), [], "the client hears nothing of the firm's money");
  const [alone = "", inRoom = ""] = codes;
  const json = { ...live.headers, "Content-Type": "application/json" };
  const call = async (path: string, body: object) =>
    (await fetch(live.url() + path, { method: "POST", headers: json, body: JSON.stringify(body) })).json();
  const { roomCode } = (await call("/api/rooms", { name: "14 Elm Street" })) as { roomCode: string };
  await call(`/api/rooms/${roomCode}/orders`, { orderCode: inRoom });
  for (const [code, path] of [
    [alone, `/dashboard/orders/${alone}`],
    [inRoom, `/dashboard/rooms/${roomCode}`],
  ] as const) {
    const shown = await look(path);
    assert.match(shown, /Let the client pay instead/);
    const [, orders = ""] = /name="orders" value="([^"]*)"/.exec(shown) ?? [];
    assert.match(orders, code === inRoom ? new RegExp(`^${code}:\\d+$`) : /^$/);
    if (code === inRoom) assert.equal((await post(`${path}/client-pays`)).status, 400, "without what the page shows");
    assert.equal((await post(`${path}/client-pays`, { orders })).status, 303);
    assert.equal((await post(`${path}/client-pays`, { orders })).status, 409, "a second click");
    await until(() => mailsTo(service, client).some((mail) => mail.includes(code)));
    const page = await look(path);
    assert.doesNotMatch(page, /Let the client pay instead/);
    const answer = await fetch(`${live.url()}/api/partner/orders/${code}`, { headers: live.headers });
    assert.equal("payBy" in ((await answer.json()) as object), false);
    const checkout = await fetch(`${live.url()}/api/partner/orders/${code}/checkout`, {
      method: "POST",
      headers: live.headers,
    });
    const { checkoutUrl } = (await checkout.json()) as { checkoutUrl: string };
    if (code === inRoom) await deliver(stripe.pay(stripe.sessionOf(checkoutUrl)));
    else await payInstead(code, checkoutUrl);
    assert.equal(await live.statusOf(code), "EsignPending");
  }
  /** The firm pays instead of the client, whose page and mails don't show this. */
  async function payInstead(code: string, clients: string): Promise<void> {
    const path = `/dashboard/orders/${code}/checkout`;
    assert.match(await look(`/dashboard/orders/${code}`), /name="pay_by" value="client"/);
    for (const fields of [{ pay_by: "firm" }, {}]) assert.ok((await post(path, fields)).status >= 400);
    const [session = ""] = /cs_test_[0-9a-f]+/.exec(await (await post(path, { pay_by: "client" })).text()) ?? [];
    assert.doesNotMatch(clients, new RegExp(session));
    const paid = stripe.pay(session);
    await deliver(paid);
    assert.doesNotMatch(await (await fetch(`${live.url()}/orders/${code}`)).text(), /\/receipts\//);
    const intent = String((paid.data.object as { payment_intent?: unknown }).payment_intent);
    for (const event of stripe.refundByHand(intent, 100)) await deliver(event);
    const mail = await until(() => mailsTo(service, email).find((each) => /\$1\.00 of what/.test(each)));
    assert.match(mail, /\$1\.00 of what your firm paid/);
    const own = mailsTo(service, client).filter((each) => each.includes(code));
    assert.deepEqual(
      own.filter((each) => /Subject: .*(received|refunded)/.test(each)),
      [],
    );
  }
  assert.match(await look(`/dashboard/orders/${alone}`), /The client pays in place of the firm/);
  // Closes the room, because the firm's tier allows few open rooms.
  assert.equal((await post(`/dashboard/rooms/${roomCode}/close`)).status, 303);
});

test("a closing that the firm pays is charged by one payment when it is placed", async () => {
  const upload = async () => {
    const body = new FormData();
    body.set("document", new File([new Uint8Array(examplePdf)], "Deed.pdf", { type: "application/pdf" }));
    const answer = await fetch(`${live.url()}/dashboard/closings/new/file`, {
      method: "POST",
      headers: { ...owner, Accept: "application/json" },
      body,
    });
    return ((await answer.json()) as { file: string }).file;
  };
  const documents: Record<string, string>[] = [];
  for (const n of [1, 2, 3])
    documents.push({ [`doc${n}`]: await upload(), [`doc${n}_name`]: `Paper ${n}`, [`doc${n}_sign`]: "on" });
  const before = stripe.firm.intents.size;
  const form = {
    submission: /name="submission" value="([^"]*)"/.exec(await look("/dashboard/closings/new"))?.[1] ?? "",
    environment: "live",
    closing_name: "Ortega closing",
    ...Object.assign({}, ...documents),
    email: "ann@example.com",
    name: "Ann Roe",
    client_signs: "on",
    byod_confirmed: "on",
    pay_by: "firm",
  };
  const quote = await (await post("/dashboard/closings/new/quote", form)).text();
  const charged_method = /name="charged_method" value="([^"]*)"/.exec(quote)?.[1] ?? "";
  const placed = await post("/dashboard/closings/new", { ...form, charged_method, total_cents: shownCents(quote) });
  assert.equal(placed.status, 303, await placed.text());
  const room = await look(placed.headers.get("location") ?? "");
  const codes = new Set([...room.matchAll(/\/dashboard\/orders\/([0-9a-f]{40})/g)].map(([, code = ""]) => code));
  assert.equal(codes.size, 3);
  for (const code of codes) await charge(code, "answered");
  assert.equal(stripe.firm.intents.size, before + 1, "one payment");
  const [{ intent } = { intent: null }] = await chargesOf([...codes][0] ?? "");
  await deliver(stripe.chargeEvent(intent ?? ""));
  for (const code of codes) assert.equal(await live.statusOf(code), "EsignPending");
});

test("no refund is sent while the payment is disputed at the bank", async () => {
  const refunds = stripe.refunds.length;
  const code = await placeForFirm();
  const { intent } = await charge(code, "answered");
  await deliver(stripe.chargeEvent(intent ?? ""));
  const dispute = { id: "dp_firm", payment_intent: intent, amount: 100, status: "needs_response" };
  await deliver(stripe.event("charge.dispute.created", dispute));
  assert.equal(await live.statusOf(code), "OnHold");
  await service.cli("order", "move", code, "RefundPending", "--reason", "asked by the firm");
  // The job ends without a refund. The bank's decision queues the job again.
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'refund'`)).length === 0);
  assert.deepEqual(stripe.refunds.slice(refunds), []);
  await deliver(stripe.event("charge.dispute.closed", { ...dispute, status: "won" }));
  await until(async () => {
    await live.hurry("refund");
    return stripe.refunds.length === 1;
  });
});

test("a late failure of an earlier charge does not undo a debit in progress", async () => {
  // The service no longer charges the bank account whose payment was disputed, so this test adds another one.
  const method = await addMethod({ type: "us_bank_account" });
  stripe.firm.outcomes.set(method, "insufficient_funds");
  const code = await placeForFirm();
  const first = (await charge(code, "declined")).intent ?? "";
  const late = stripe.chargeEvent(first);
  stripe.firm.outcomes.set(method, "processing");
  // Posts the charge's form directly, like an owner who opened the page earlier.
  const fields = { total_cents: String((await orderOf(code)).totalCents), charged_method: await activeId() };
  assert.equal((await post(`/dashboard/orders/${code}/charge`, fields)).status, 303);
  await deliver(stripe.chargeEvent((await charge(code, "pending")).intent ?? ""));
  await deliver(late);
  assert.equal(await live.statusOf(code), "AwaitingPayment");
  stripe.firm.outcomes.delete(method);
});

/** Matches an order's page that shows this note at the payment step of the order's progress. */
const paymentStep = (note: string) =>
  new RegExp(`<span class="step-label">Payment</span><span class="step-note">${note.replaceAll(/[$.]/g, "\\$&")}<`);

const isToldOfPostage = (code: string) =>
  mailsTo(service, email).some(
    (mail) =>
      mail.includes("Subject: Postage to a corrected address costs more: your firm can pay it") &&
      mail.includes(code.slice(0, 6)) &&
      mail.includes("$4.07"),
  );

test("dearer postage waits until a member charges it, and only its event settles it", async () => {
  assert.equal((await setLimit("500.00", "100000")).status, 303);
  const { orderCode: code } = await live.place({ ...shipping, pay_by: "firm" });
  const { intent } = await charge(code, "answered");
  await deliver(stripe.chargeEvent(intent ?? ""));
  await until(async () => (await live.statusOf(code)) === "ShippingPending");
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await askSupplement(tx, order, { amountCents: 407, label: "Postage", actor: "system", at: new Date() });
  });
  await until(() => isToldOfPostage(code));
  const due = await look(`/dashboard/orders/${code}`);
  assert.match(due, /Charge \$4\.07 to/);
  assert.match(due, paymentStep("$4.07 not paid yet"));
  assert.doesNotMatch(due, /Your firm’s payment: Paid/, "that payment was the price");
  const isDone = async () =>
    (await db.query(sql`SELECT FROM jobs WHERE queue IN ('firm-charge', 'firm-wait')`)).length === 0;
  await until(isDone);
  assert.equal((await chargesOf(code)).length, 1, "nobody has seen the amount");
  // Queues the charge of the supplement, as nodes of an earlier release did.
  await db.query(sql`
    SELECT enqueue_job('firm-charge', jsonb_build_object('orderId', id)) FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  await until(isDone);
  assert.equal((await chargesOf(code)).length, 1, "nobody has seen the amount");
  const billing = await look("/dashboard/billing");
  assert.ok(billing.includes(`${code}:407`), "the button that charges all orders that wait names it with its sum");
  assert.match(billing, /, more postage/);
  const chargeAt = async (cents: number) =>
    (await post("/dashboard/billing/charge-waiting", { orders: `${code}:${cents}`, method: await activeId() })).status;
  assert.deepEqual([await chargeAt(408), await chargeAt(407), await chargeAt(407)], [409, 303, 409]);
  const extra = await until(async () =>
    (await chargesOf(code)).find((each) => each.state === "answered" && each.intent !== intent),
  );
  const page = await look(`/dashboard/orders/${code}`);
  assert.match(page, /\$4\.07 for Postage is to be paid/);
  assert.doesNotMatch(page, /Your firm’s payment is being processed/, "the work began long ago");
  assert.equal((await supplementsOfCode(db, code))[0]?.state, "asked");
  const event = stripe.chargeEvent(extra.intent ?? "");
  for (const each of [event, event, { ...event, id: `${event.id}2` }]) await deliver(each);
  assert.equal((await supplementsOfCode(db, code))[0]?.state, "paid");
  assert.match(await look(`/dashboard/orders/${code}`), paymentStep("Done"));
  const paid = await db.query<{ amount: number }>(sql`
    SELECT amount_cents::int AS amount FROM payments WHERE payment_intent = ${extra.intent}`);
  assert.deepEqual(paid, [{ amount: 407 }]);
  assert.equal(await live.statusOf(code), "ShippingPending");
  assert.equal((await chargesOf(code)).length, 2);
  assert.notEqual((await orderOf(code)).charge?.amountCents, 407);
});

test("the firm is mailed about dearer postage, and pays it by a checkout", async () => {
  assert.equal((await setLimit("500.00", "100000")).status, 303);
  const { orderCode: code } = await live.place({ ...shipping, pay_by: "firm" });
  const { intent } = await charge(code, "answered");
  await deliver(stripe.chargeEvent(intent ?? ""));
  await until(async () => (await live.statusOf(code)) === "ShippingPending");
  await setLimit("0", "0");
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await askSupplement(tx, order, { amountCents: 407, label: "Postage", actor: "system", at: new Date() });
  });
  await until(() => isToldOfPostage(code));
  // The firm has paid the price, so it also pays the postage.
  const json = { ...live.headers, "Content-Type": "application/json" };
  const made = await fetch(`${live.url()}/api/rooms`, {
    method: "POST",
    headers: json,
    body: '{"name":"16 Elm Street"}',
  });
  const { roomCode } = (await made.json()) as { roomCode: string };
  const body = JSON.stringify({ orderCode: code });
  await fetch(`${live.url()}/api/rooms/${roomCode}/orders`, { method: "POST", headers: json, body });
  for (const path of [`/dashboard/orders/${code}`, `/dashboard/rooms/${roomCode}`]) {
    const shown = await look(path);
    assert.match(shown, /Open the checkout for \$4\.07/);
    assert.doesNotMatch(shown, /Let the client pay instead/);
    assert.equal((await post(`${path}/client-pays`, { orders: `${code}:407` })).status, 409);
  }
  const closings = await look("/dashboard/rooms");
  assert.match(closings, /your firm must pay more postage before we ship it/);
  assert.match(closings, /#payment">Pay<span class="visually-hidden"> in 16 Elm Street/);
  await post(`/dashboard/rooms/${roomCode}/close`);
  const opened = await fetch(`${live.url()}/api/partner/orders/${code}/checkout`, {
    method: "POST",
    headers: live.headers,
  });
  const { checkoutUrl } = (await opened.json()) as { checkoutUrl: string };
  await deliver(stripe.pay(stripe.sessionOf(checkoutUrl)));
  assert.equal((await supplementsOfCode(db, code))[0]?.state, "paid");
  await setLimit("500.00", "100000");
});

test("a firm whose customer the processor no longer knows gets a new one", async () => {
  const before = stripe.firm.customers.splice(0).length;
  assert.ok(before > 0);
  const left = await post("/dashboard/billing/method");
  assert.match(await left.text(), /cs_test_/);
  assert.equal(stripe.firm.customers.length, 1);
});

test("an owner whose sign-in is not recent is asked for a code first", async () => {
  await asService(live.harness, sql`UPDATE sessions SET confirmed_at = confirmed_at - interval '16 min'`);
  const asked = await post("/dashboard/billing/method");
  assert.equal(asked.status, 403);
  assert.doesNotMatch(await asked.text(), /cs_test_/);
  const confirmed = await post("/dashboard/billing/method", { confirm_code: await codeTo(service, email) });
  assert.match(await confirmed.text(), /cs_test_/);
});

test("Billing and a mail tell owners that a bank account is unusable, and a new method replaces it", async () => {
  const method = await addMethod({ type: "us_bank_account" });
  const event = stripe.event("mandate.updated", { object: "mandate", payment_method: method, status: "inactive" });
  for (const each of [event, event]) assert.equal((await deliver(each)).status, 200);
  const page = await look("/dashboard/billing");
  assert.match(page, /STRIPE TEST BANK •••• 6789 can’t be charged any more/);
  assert.match(page, />Add a card or bank account</);
  // An earlier test already caused one of these mails, about the bank account with the disputed payment.
  const told = () => mailsTo(service, email).filter((mail) => /Subject: Your bank account is not charged/.test(mail));
  const mails = await until(() => (told().length > 1 ? told() : undefined));
  assert.equal(mails.length, 2);
  for (const mail of mails) assert.match(mail, /ask your bank to allow debits first/);
  const code = await placeForFirm();
  assert.match(await look(`/dashboard/orders/${code}`), /Add a card or bank account/);
  await addMethod();
  assert.equal(await stateOfMethod(method), "removed");
  assert.doesNotMatch(await look("/dashboard/billing"), /can’t be charged any more/);
});

test("Billing and a mail ask owners to add a card again that only an earlier account of the processor has", async () => {
  const method = await addMethod();
  const there = await forTests(startStripe());
  const keys = { secretKey: "sk_live_other", webhookSecret: there.webhookSecret, apiBase: there.url };
  const processor = openProcessor(keys, "https://sss.example");
  const [first] = await db.query<{ account: string }>(sql`SELECT account FROM processor_accounts ORDER BY id LIMIT 1`);
  assert.ok(await presentAccount({ db, clock: () => new Date(), processor }));
  await until(async () => (await stateOfMethod(method)) === "unusable");
  assert.match(
    await look("/dashboard/billing"),
    /now uses another account of the payment processor, which doesn’t have it/,
  );
  const told = () => mailsTo(service, email).filter((mail) => /now uses another account/.test(mail));
  await until(() => told().length > 0);
  const code = await placeForFirm();
  assert.match(await look(`/dashboard/orders/${code}`), /Add a card or bank account/);
  assert.equal(intentsOf(code).length, 0, "it is not charged");
  // The service uses the first account of the processor again.
  const name = first?.account ?? "";
  const back = { ...processor, accountAgain: name, account: async () => name };
  await presentAccount({ db, clock: () => new Date(), processor: back });
  await addMethod();
  assert.equal(await stateOfMethod(method), "removed");
});

test("only the method that the form showed is charged, and none if nobody agreed to a charge", async () => {
  const [removed] = await db.query<{ id: string }>(sql`SELECT id FROM payment_methods WHERE state = 'removed' LIMIT 1`);
  await setLimit("500", "9000");
  const runJob = async (queue: string, methodId: string | null) => {
    const code = (await live.place({ svc_sign: "true" })).orderCode;
    const [order] = await db.query<{ id: number }>(sql`SELECT max(id) AS id FROM orders`);
    await db.transaction((tx) => setPayer(tx, order?.id ?? 0, "firm"));
    await db.query(sql`
      SELECT enqueue_job(${queue}, jsonb_build_object('orderId', max(id), 'methodId', ${methodId}::text)) FROM orders`);
    await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = ${queue}`)).length === 0);
    assert.equal(intentsOf(code).length, 0);
    return chargesOf(code);
  };
  const notAgreed = [{ state: "refused", intent: null, reason: "not_agreed" }];
  assert.deepEqual(await runJob("firm-wait", null), notAgreed);
  assert.deepEqual(await runJob("firm-charge", null), notAgreed, "a job of an earlier release");
  assert.deepEqual(await runJob("firm-charge", removed?.id ?? ""), [
    { state: "refused", intent: null, reason: "method_changed" },
  ]);
});

test("an order that a person priced is not charged before somebody of the firm has seen the price", async () => {
  const toPuertoRico = { ...shipping, ship_state: "PR", ship_postal: "00000" };
  const code = (await live.place({ svc_sign: "true", pay_by: "firm", ...toPuertoRico })).orderCode;
  await service.cli("order", "move", code, "QuoteReady", "--amount-cents", "38800", "--label", "By hand");
  const { totalCents } = await orderOf(code);
  const sum = `$${(totalCents / 100).toFixed(2)}`;
  const isTold = (mail: string) =>
    mail.includes("Subject: An order has its price, and waits for your firm") && mail.includes(sum);
  await until(() => mailsTo(service, email).some(isTold));
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'firm-charge'`)).length === 0);
  assert.deepEqual(await chargesOf(code), []);
  assert.equal(mailsTo(service, email).filter(isTold).length, 1);
  const page = await look(`/dashboard/orders/${code}`);
  assert.ok(page.includes(`Charge ${sum} to Visa`), "the button names the price");
  assert.equal((await pressCharge(code)).status, 303);
  await deliver(stripe.chargeEvent((await charge(code, "answered")).intent ?? ""));
  assert.equal(await live.statusOf(code), "EsignPending");
});

test("a method that was altered in the database is not charged, a task names the order, and Start says so", async () => {
  await db.query(sql`UPDATE payment_methods SET brand = 'forged' WHERE state = 'active'`);
  const code = await placeForFirm();
  const [task] = await until(async () => {
    const tasks = await db.query<{ reason: string }>(sql`
      SELECT t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
      WHERE t.kind = 'order_altered' AND ${isSealed(sql`o.code`, "order", code)}`);
    return tasks.length > 0 ? tasks : undefined;
  });
  assert.match(task?.reason ?? "", /The firm was not charged for it/);
  assert.equal(intentsOf(code).length, 0);
  const start = await look("/dashboard");
  assert.match(start, /A record of your firm’s payments was altered in the database\. The operator has to restore it/);
  assert.ok(start.includes(`/dashboard/orders/${code}`), "the page has its other parts");
});

test("no form promises a mail with the link to pay a test order, which no live account takes", async () => {
  const closing = { doc1: `${"a".repeat(40)} 1 Deed.pdf`, doc1_name: "Deed", doc1_sign: "on" };
  const promise = /The client gets an email with the link to pay/;
  for (const [environment, check] of [
    ["live", assert.match],
    ["test", assert.doesNotMatch],
  ] as const) {
    await post("/dashboard/environment", { environment });
    for (const [path, fields] of [
      ["/dashboard/orders/new/quote", { svc_sign: "on", pages: "1" }],
      ["/dashboard/closings/new/quote", closing],
    ] as const) {
      const text = await (await post(path, fields)).text();
      assert.match(text, /After you place it:/);
      check(text, promise, `${environment} ${path}`);
    }
    check(await look("/dashboard/orders/new"), /name="create_checkout"/);
  }
  await post("/dashboard/environment", { environment: "live" });
});

test("Billing opens although the records of the card, a limit and the time zone were altered, and names each", async () => {
  assert.equal((await setLimit("500", "9000")).status, 303);
  await db.query(sql`UPDATE payment_methods SET brand = 'forged' WHERE state = 'active'`);
  await db.query(sql`UPDATE spending_limits SET order_cents = order_cents + 1`);
  await db.query(sql`
    INSERT INTO billing_parties (partner_id, content, created_by, created_at)
    VALUES (${partnerId}, '{"name": "Elm", "address": [], "zone": "UTC"}', 'system', now())`);
  const answer = await fetch(`${live.url()}/dashboard/billing`, { headers: owner });
  assert.equal(answer.status, 200);
  const page = await answer.text();
  assert.match(page, /The time zone of your firm can’t be read/);
  assert.match(page, /Your firm’s card or bank account can’t be shown/);
  assert.match(page, /The record of these limits was altered in the database/);
  assert.match(page, /<a class="keep" href="\/dashboard\/orders\/\w+">/, "the payments are listed");
});
