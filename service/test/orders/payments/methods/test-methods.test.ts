import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createClient, type TestMethod } from "@signsealship/sdk";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { enqueue } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { bookNow } from "../../../../src/kernel/test-clock/test-clock.ts";
import { ordersByNumber } from "../../../../src/orders/billing/billing.ts";
import { firmChargeQueue, setPayer } from "../../../../src/orders/order/order.ts";
import { closeCheckouts } from "../../../../src/orders/payments/checkout/sessions.ts";
import {
  type CheckoutSession,
  currentSessions,
  insertMinting,
} from "../../../../src/orders/payments/checkout/store.ts";
import { sandboxAccount } from "../../../../src/orders/payments/methods/sandbox-account.ts";
import { applySandboxSteps, openProcessor, refundAtProcessor } from "../../../../src/orders/payments/payments.ts";
import { activeMethod, updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { stepsOfPayment } from "../../../../src/orders/payments/records/sandbox-steps.ts";
import { mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { openLiveService } from "../../fulfilment/live-service.ts";
import { silent } from "../../order/orders-database.ts";

const day = 86_400;
const limits = { perOrderCents: 50_000, perMonthCents: 5_000_000 };

// The installation has a live key of the payment processor. No test order may use it.
const live = await forTests(openLiveService(ownProcess));
const { db, harness } = live;

async function firm() {
  const { key, partnerId, keyId } = await newPartner(harness.service, { name: "Elm Title" });
  const client = createClient({ baseUrl: harness.service.baseUrl, key });
  const { sandbox, orders, billing } = client;
  const { ok } = newClient(harness.service.baseUrl, key, (status) => status < 300);
  const place = async (fields: Record<string, string> = {}): Promise<string> => {
    const form = orderForm({ ...minimal, svc_sign: "true", pay_by: "firm", ...fields });
    return (await ok<{ orderCode: string }>("POST", "/api/partner/orders", form)).orderCode;
  };
  return {
    key,
    keyId,
    partnerId,
    client,
    place,
    charge: async (method: TestMethod, fields: Record<string, string> = {}) => {
      await sandbox.paymentMethod(method, limits);
      return place(fields);
    },
    statusIs: (code: string, status: string) => until(async () => (await orders.get(code)).status === status),
    billingPage: async () => {
      const email = `owner@${partnerId}.example`;
      const { headers } = await newMember(harness.service, email, key);
      return (await fetch(`${harness.service.baseUrl}/dashboard/billing`, { headers })).text();
    },
    kinds: async (code: string) => (await orders.receipts(code)).receipts.map(({ kind }) => kind),
    /** Advances the test clock by days, and waits until everything that is due has happened. */
    pass: async (days: number) => {
      await sandbox.clock.advance({ advanceSeconds: days * day });
      await until(async () => (await sandbox.clock.get()).status === "ready");
    },
    /** Advances the test clock to the next month's third day in UTC. By then the month has begun in every time zone. */
    passMonth: async () => {
      const { testTime } = await sandbox.clock.get();
      const at = new Date(testTime);
      await sandbox.clock.advance({
        to: new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 3)).toISOString(),
      });
      await until(async () => (await sandbox.clock.get()).status === "ready");
    },
    months: async () => (await billing.statements()).statements,
  };
}

test("a test card pays a test order although the operator has a live key, and nothing reaches the processor", async () => {
  const acme = await firm();
  const saved = await acme.client.sandbox.paymentMethod("card", limits);
  assert.deepEqual([saved.kind, saved.last4], ["card", "4242"]);
  const code = await acme.place({ external_reference: "2026-1187" });
  await acme.statusIs(code, "EsignPending");
  const { receipts } = await acme.client.orders.receipts(code);
  assert.deepEqual(
    receipts.map(({ kind, paidBy, method }) => [kind, paidBy, method]),
    [["receipt", "firm", "Visa •••• 4242"]],
  );
  const number = receipts[0]?.number ?? "";
  assert.match(number, /^TEST-R-/);
  const owner = { partnerId: acme.partnerId, environment: "test" } as const;
  assert.equal((await ordersByNumber(db, owner, number)).length, 1);
  assert.deepEqual(await ordersByNumber(db, owner, number.replace("TEST-", "")), [], "the number of a live receipt");
  assert.equal((await acme.client.orders.get(code)).charge?.state, "succeeded");
  assert.deepEqual(live.stripe.requests, []);
});

test("a declined card leaves the order to be paid in another way, and another card can be charged", async () => {
  const acme = await firm();
  for (const [method, reason] of [
    ["card_declined", "card_declined"],
    ["card_needs_authentication", "authentication_required"],
  ] as const) {
    const code = await acme.charge(method);
    await acme.statusIs(code, "PaymentFailed");
    assert.deepEqual([(await acme.client.orders.get(code)).charge?.reason, await acme.kinds(code)], [reason, []]);
  }
});

test("the page of a test order offers what the mail about its declined charge names, and no checkout", async () => {
  const acme = await firm();
  const { service } = harness;
  const { headers } = await newMember(service, "owner@birch.example", acme.key);
  const pageOf = async (code: string) =>
    (await fetch(`${service.baseUrl}/dashboard/orders/${code}`, { headers })).text();
  const mailOf = (code: string) =>
    until(() =>
      mailsTo(service, "owner@birch.example").find(
        (mail) => mail.includes(code) && /payment of your firm fa/.test(mail),
      ),
    );
  const declined = await acme.charge("card_declined");
  await acme.statusIs(declined, "PaymentFailed");
  const page = await pageOf(declined);
  assert.match(page, /Failed\. Your bank declined the card\.[\s\S]*Charge \$[\d.]+ to Visa •••• 0002/);
  assert.match(page, /Decline the payment/);
  assert.doesNotMatch(page, /pen the checkout/);
  const mail = await mailOf(declined);
  assert.match(mail, /pay it in the sandbox\.\s+An owner can charge\s+again\s+there/);
  assert.doesNotMatch(mail, /checkout/);

  const asking = await acme.charge("card_needs_authentication");
  await acme.statusIs(asking, "PaymentFailed");
  assert.match(await pageOf(asking), /To have a person confirm the payment, pay it in the sandbox below/);
  assert.doesNotMatch(await pageOf(asking), /Charge \$[\d.]+ to/);
  assert.match(await mailOf(asking), /Charging the card\s+again\s+would\s+fail\s+again/);
});

test("the page of an order above a limit says so, and who can go on", async () => {
  const acme = await firm();
  const { service } = harness;
  const { headers } = await newMember(service, "owner@alder.example", acme.key);
  await acme.client.sandbox.paymentMethod("card", { perOrderCents: 100, perMonthCents: 100 });
  const code = await acme.place();
  await until(async () => (await acme.client.orders.get(code)).charge?.state === "refused");
  const page = await (await fetch(`${service.baseUrl}/dashboard/orders/${code}`, { headers })).text();
  assert.match(page, /Not charged\. The sum is above the limit for one order of the API key that asked for it\./);
  assert.match(
    page,
    /An owner of your firm can charge it here\. After a limit was raised under Billing, charge it again here[\s\S]*Charge \$[\d.]+ to Visa/,
  );
  const shown = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? "";
  const fields = { total_cents: shown("total_cents"), charged_method: shown("charged_method") };
  await postForm(`${service.baseUrl}/dashboard/orders/${code}/charge`, fields, headers);
  await acme.statusIs(code, "EsignPending");
});

test("a bank debit settles or fails when the test clock has passed four days, and not before", async () => {
  const acme = await firm();
  const settles = await acme.charge("bank");
  await acme.statusIs(settles, "AwaitingPayment");
  const fails = await acme.charge("bank_insufficient_funds");
  await acme.statusIs(fails, "AwaitingPayment");
  // A payment in the sandbox would pay the order a second time, so it is refused.
  await assert.rejects(acme.client.sandbox.checkout(settles, "success"), /A payment by your firm is under way/);
  await assert.rejects(acme.client.sandbox.advance(settles), /A payment by your firm is under way/);
  await acme.pass(3);
  for (const code of [settles, fails]) assert.equal((await acme.client.orders.get(code)).status, "AwaitingPayment");
  await acme.pass(2);
  assert.equal((await acme.client.orders.get(fails)).status, "PaymentFailed");
  assert.notEqual((await acme.client.orders.get(settles)).status, "AwaitingPayment");
  assert.deepEqual([await acme.kinds(settles), await acme.kinds(fails)], [["receipt"], []]);
});

test("a debit that the bank never answers is overdue after ten days of the test clock, and an owner ends it", async () => {
  const acme = await firm();
  const { service } = harness;
  const owner = (await newMember(service, "owner@ash.example", acme.key)).headers;
  const look = async () => (await fetch(`${service.baseUrl}/dashboard/billing`, { headers: owner })).text();
  const code = await acme.charge("bank_no_answer");
  await until(async () => /Being processed by the bank/.test(await look()));
  await acme.pass(9);
  const end = /action="(\/dashboard\/billing\/charges\/[\w-]+\/end)"/;
  assert.doesNotMatch(await look(), end, "the bank still has time");
  await acme.pass(2);
  const [, path = ""] = end.exec(await look()) ?? [];
  const tasks = await db.query<{ reason: string }>(sql`
    SELECT t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = 'firm_charge' AND t.environment = 'test' AND ${isSealed(sql`o.code`, "order", code)}`);
  assert.match(tasks[0]?.reason ?? "", /The bank has not answered for ten days/);
  assert.match(await look(), /Being processed by the bank\. There has been no answer for too long\./);
  const lateMails = () =>
    mailsTo(service, "owner@ash.example").filter((mail) => /Your bank has not answered/.test(mail));
  await until(() => lateMails().length > 0);
  const pageOf = async () => (await fetch(`${service.baseUrl}/dashboard/orders/${code}`, { headers: owner })).text();
  assert.match(await pageOf(), /has had no answer[\s\S]*An owner can end the payment under Billing/);
  const at = async (address: string) => (await fetch(service.baseUrl + address, { headers: owner })).text();
  assert.match(await at("/dashboard"), /has had no answer/);
  const { roomCode } = await acme.client.rooms.create({ name: "12 Elm Street" });
  await acme.client.rooms.attach(roomCode, { orderCode: code });
  const attention = { start: /<strong>1<\/strong> Needs attention/, list: /Needs attention <span class="count">1</ };
  assert.match(await at("/dashboard"), attention.start);
  assert.match(await at("/dashboard/orders?status=attention"), attention.list);
  assert.ok((await at("/dashboard/orders?status=attention")).includes(`/dashboard/orders/${code}`));
  assert.match(await at("/dashboard/rooms"), /stuck: your firm’s payment has had no answer\.[\s\S]*See why/);
  assert.ok(!(await at("/dashboard/orders?status=working")).includes(`/dashboard/orders/${code}`));
  await acme.pass(2);
  assert.equal(lateMails().length, 1, "the firm is mailed once");
  const answer = await postForm(`${service.baseUrl}${path}`, {}, owner);
  assert.equal(answer.headers.get("location"), "/dashboard/billing?done=charge-ended#charges");
  assert.match(await look(), /Failed\. The payment processor did not confirm it in time/);
  await acme.statusIs(code, "PaymentFailed");
  const after = await pageOf();
  assert.match(after, /Failed\. The payment processor did not confirm it in time[\s\S]*Charge \$[\d.]+ to Test bank/);
  assert.doesNotMatch(after, /has not cleared yet|no answer/);
  assert.doesNotMatch(await at("/dashboard/rooms"), /has had no answer/);
  await acme.pass(5);
  assert.equal((await acme.client.orders.get(code)).status, "PaymentFailed");
  assert.deepEqual(await acme.kinds(code), []);
});

test("a debit that is ended before its bank refuses it moves its order at once", async () => {
  const acme = await firm();
  const code = await acme.charge("bank_insufficient_funds");
  await acme.statusIs(code, "AwaitingPayment");
  const id = (await acme.client.orders.get(code)).charge?.chargeId ?? "";
  const ended = { id, customer: "", paymentIntent: null, amountCents: 100, currency: "usd" };
  const sandbox = sandboxAccount({ db, clock: () => new Date() });
  for (let i = 0; i < 2; i += 1)
    assert.equal((await sandbox.end(ended, new Date())).state, "canceled", "a second click changes nothing");
  await acme.statusIs(code, "PaymentFailed");
  assert.equal((await acme.client.orders.get(code)).charge?.state, "failed");
  await acme.pass(5);
  assert.deepEqual(
    (await stepsOfPayment(db, id)).map(({ kind, isDone }) => [kind, isDone]),
    [
      ["processing", true],
      ["fails", true],
    ],
  );
});

test("a debit whose end is repeated after a crash is canceled, and not taken for paid", async () => {
  const acme = await firm();
  const code = await acme.charge("bank");
  await acme.statusIs(code, "AwaitingPayment");
  const id = (await acme.client.orders.get(code)).charge?.chargeId ?? "";
  const ended = { id, customer: "", paymentIntent: null, amountCents: 100, currency: "usd" };
  const sandbox = sandboxAccount({ db, clock: () => new Date() });
  for (let i = 0; i < 2; i += 1) assert.equal((await sandbox.end(ended, new Date())).state, "canceled");
  await acme.statusIs(code, "PaymentFailed");
  assert.equal((await sandbox.end(ended, new Date())).state, "canceled", "also after its event");
  const paid = await acme.charge("bank");
  await acme.statusIs(paid, "AwaitingPayment");
  await acme.pass(5);
  const other = { ...ended, id: (await acme.client.orders.get(paid)).charge?.chargeId ?? "" };
  assert.equal((await sandbox.end(other, new Date())).state, "paid");
});

test("a debit that the bank takes back ends the use of its account", async () => {
  const acme = await firm();
  const code = await acme.charge("bank_returned");
  await acme.statusIs(code, "AwaitingPayment");
  await acme.pass(5);
  assert.deepEqual(await acme.kinds(code), ["receipt"]);
  await acme.pass(5);
  assert.deepEqual(await acme.kinds(code), ["receipt", "loss"]);
  assert.equal((await acme.client.orders.get(code)).status, "OnHold");
  const methods = await db.query<{ state: string }>(
    sql`SELECT state FROM payment_methods WHERE partner_id = ${acme.partnerId}`,
  );
  assert.deepEqual(methods, [{ state: "unusable" }]);
  const page = await acme.billingPage();
  assert.match(page, /Paid\. The bank took \$[1-9][\d.]+ back\./);
});

test("a dispute holds the order, and ends as its card says", async () => {
  const acme = await firm();
  const won = await acme.charge("card_dispute_won");
  await acme.statusIs(won, "EsignPending");
  const lost = await acme.charge("card_dispute_lost");
  await acme.statusIs(lost, "EsignPending");
  await acme.pass(8);
  for (const code of [won, lost]) assert.equal((await acme.client.orders.get(code)).status, "OnHold");
  assert.equal((await acme.billingPage()).match(/Paid\. A bank asks for it back\./g)?.length, 2);
  await acme.pass(23);
  assert.deepEqual([await acme.kinds(won), await acme.kinds(lost)], [["receipt"], ["receipt", "loss"]]);
  const states = await db.query<{ state: string }>(sql`
    SELECT d.state FROM disputes d JOIN payments p USING (payment_intent) JOIN orders o ON o.id = p.order_id
    WHERE o.partner_id = ${acme.partnerId} ORDER BY d.state`);
  assert.deepEqual(states, [{ state: "lost" }, { state: "won" }]);
  assert.deepEqual(live.stripe.requests, []);
});

test("a delayed payment of a client settles with the test clock, unless it was paid before", async () => {
  const acme = await firm();
  const [waits, paid] = [await acme.place({ pay_by: "client" }), await acme.place({ pay_by: "client" })];
  for (const code of [waits, paid]) await acme.client.sandbox.checkout(code, "delayed");
  await acme.client.sandbox.checkout(paid, "success");
  await acme.pass(5);
  for (const code of [waits, paid]) assert.deepEqual(await acme.kinds(code), ["receipt"]);
});

test("one test payment pays the orders of a room, and a refund of one of them leaves the others paid", async () => {
  const acme = await firm();
  const codes = [await acme.place(), await acme.place()];
  const { roomCode } = await acme.client.rooms.create({ name: "Ortega closing" });
  for (const code of codes) await acme.client.rooms.attach(roomCode, { orderCode: code });
  await acme.client.sandbox.paymentMethod("card", limits);
  const charged = await acme.client.rooms.charge(roomCode);
  assert.equal(charged.orders.length, 2);
  for (const code of codes) await acme.statusIs(code, "EsignPending");
  const [refunded = "", paid = ""] = codes;
  await harness.service.cli("order", "move", refunded, "RefundPending", "--reason", "asked by the firm");
  await acme.statusIs(refunded, "Refunded");
  assert.deepEqual([await acme.kinds(refunded), await acme.kinds(paid)], [["receipt", "credit_note"], ["receipt"]]);
});

/** The month that follows a month: `2026-12` for `2026-11`. */
const monthAfter = (month = "") => {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 15)).toISOString().slice(0, 7);
};

test("a month of a test firm closes with its clock, and later receipts are in the next month", async () => {
  const acme = await firm();
  const first = await acme.charge("card", { external_reference: "FILE-1" });
  await acme.statusIs(first, "EsignPending");
  const [open] = await acme.months();
  assert.deepEqual([open?.status, (await acme.months()).length], ["open", 1]);
  await acme.passMonth();
  const second = await acme.place({ external_reference: "FILE-2" });
  await acme.statusIs(second, "EsignPending");
  const [next, closed] = await acme.months();
  assert.deepEqual([closed?.month, closed?.status, next?.status], [open?.month, "closed", "open"]);
  assert.equal(next?.month, monthAfter(open?.month));
  assert.equal(next?.openingCents, closed?.closingCents);
  assert.ok((closed?.paymentsCents ?? 0) > 0 && next?.paymentsCents === closed?.paymentsCents);
  const linesOf = async (month = "") =>
    (await acme.client.billing.statement(month)).lines.map((line) => line.fileNumber);
  assert.deepEqual([await linesOf(closed?.month), await linesOf(next?.month)], [["FILE-1"], ["FILE-2"]]);
  const { headers } = await newMember(harness.service, `owner@${acme.partnerId}.example`, acme.key);
  const find = async (file: string) =>
    (
      await fetch(`${harness.service.baseUrl}/dashboard/statements?${new URLSearchParams({ file })}`, { headers })
    ).text();
  const month = await fetch(`${harness.service.baseUrl}/dashboard/statements/${closed?.month}`, { headers });
  assert.match(await month.text(), /These dates follow the test clock/);
  const monthsIn = (page: string) => [...page.matchAll(/<li><a href="\/dashboard\/statements\/(\d{4}-\d\d)\?file=/g)];
  assert.deepEqual(
    monthsIn(await find("file-2")).map(([, month]) => month),
    [next?.month],
  );
  assert.deepEqual(
    monthsIn(await find(" FILE ")).map(([, month]) => month),
    [next?.month, closed?.month],
  );
  for (const none of ["FILE-9", "%", "_ILE-1", "<b>"])
    assert.match(await find(none), /No month has “[^”]*” in a file number/);
  assert.match(await find("\0"), /Find a file number/);
  const [receipt] = (await acme.client.orders.receipts(second)).receipts;
  const clock = await acme.client.sandbox.clock.get();
  assert.ok(Math.abs(Date.parse(receipt?.issuedAt ?? "") - Date.parse(clock.testTime)) < day * 1000);

  // After the test clock is reset, payments are booked into the open month, because an earlier one may be closed.
  await acme.client.sandbox.clock.reset();
  const third = await acme.place({ external_reference: "FILE-3" });
  await acme.statusIs(third, "EsignPending");
  assert.deepEqual(await linesOf(next?.month), ["FILE-2", "FILE-3"]);
  assert.equal((await acme.months()).length, 2);
});

test("the limit of a month begins again when the test clock passes the month's end", async () => {
  const acme = await firm();
  const price = (await acme.client.orders.get(await acme.place({ pay_by: "client" }))).totalCents ?? 0;
  await acme.client.sandbox.paymentMethod("card", { perOrderCents: price, perMonthCents: price });
  const [first, above] = [await acme.place(), await acme.place()];
  const state = async (code: string) => (await acme.client.orders.get(code)).charge?.state;
  // The service may charge either of the two orders first.
  for (const code of [first, above])
    await until(async () => ["succeeded", "refused"].includes((await state(code)) ?? ""));
  const states = [await state(first), await state(above)].sort();
  assert.deepEqual(states, ["refused", "succeeded"]);
  await acme.passMonth();
  const next = await acme.place();
  await until(async () => (await state(next)) === "succeeded");
  const again = await acme.place();
  await until(async () => (await state(again)) === "refused");
});

test("an owner chooses a test card on a page; a member, a live key and wrong input are refused", async () => {
  const acme = await firm();
  const { service } = harness;
  const owner = (await newMember(service, "owner@elm.example", acme.key)).headers;
  const member = (await newMember(service, "member@elm.example", acme.key)).headers;
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string>) =>
    postForm(`${service.baseUrl}${path}`, fields, headers);
  const look = async (path: string) => (await fetch(service.baseUrl + path, { headers: owner })).text();
  assert.equal((await post("/dashboard/billing/method", {}, member)).status, 403);
  const left = await post("/dashboard/billing/method", {}, owner);
  assert.equal(left.status, 303);
  const page = left.headers.get("location") ?? "";
  assert.match(await look(page), /Choose a test card or a test bank account[\s\S]*Each debit settles after 4 days/);
  assert.equal((await post(page, { method: "bank" }, member)).status, 403);
  assert.match(
    await (await post(page, { method: "gold" }, owner)).text(),
    /Choose a test card or a test bank account\./,
  );
  assert.equal(
    (await post(page, { method: "bank" }, owner)).headers.get("location"),
    "/dashboard/billing?done=method-added",
  );
  assert.match(await look("/dashboard/billing"), /Test bank •••• 6789/);
  assert.equal((await post(page, { method: "card" }, owner)).status, 404);
  const other = await firm();
  const stranger = (await newMember(service, "owner@oak.example", other.key)).headers;
  const begun = (await post("/dashboard/billing/method", {}, owner)).headers.get("location") ?? "";
  assert.equal((await post(begun, { method: "card" }, stranger)).status, 404);

  const send = (key: string, body: object) =>
    fetch(`${service.baseUrl}/api/partner/sandbox/billing/method`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  assert.equal((await send(live.key, { method: "card" })).status, 409);
  for (const [body, words] of [
    [{ method: "gold" }, /^method must be one of card, /],
    [{ method: ["card"] }, /^method must be one of card, /],
    [{ method: { toString: 1 } }, /^method must be one of card, /],
    [{}, /^method must be one of card, /],
    [{ method: "card", perOrderCents: 100 }, /belong together/],
    [{ method: "card", perOrderCents: 1.5, perMonthCents: 2 }, /^perOrderCents must be a whole number of cents/],
  ] as const) {
    const refused = await send(acme.key, body);
    assert.equal(refused.status, 400);
    assert.match(((await refused.json()) as { error: string }).error, words);
  }
  assert.deepEqual(live.stripe.requests, []);
});

test("a method of the processor's test mode on file is shown as unusable, and is not charged", async () => {
  const acme = await firm();
  await acme.client.sandbox.paymentMethod("card", limits);
  const owner = { partnerId: acme.partnerId, environment: "test" } as const;
  const { id = "" } = (await activeMethod(db, owner)) ?? {};
  const saved = { method: "pm_1", kind: "card", brand: "visa", last4: "1881", expires: "12/2034" } as const;
  await db.transaction((tx) => updateMethod(tx, id, { state: "active", saved }));
  assert.equal(await activeMethod(db, owner), undefined);
  const code = await acme.place();
  const { headers } = await newMember(harness.service, "owner@pine.example", acme.key);
  const page = await (await fetch(`${harness.service.baseUrl}/dashboard/billing`, { headers })).text();
  assert.match(page, /Visa •••• 1881 can’t be charged any more/);
  assert.match(page, /Choose a test card or a test bank account of the sandbox/);
  await untilCharged(code);
  assert.equal((await acme.client.orders.get(code)).charge?.reason, "no_method");
  await acme.client.sandbox.paymentMethod("card", limits);
  await acme.statusIs(await acme.place(), "EsignPending");
});

test("the sandbox doesn't end a payment of the processor's test mode", async () => {
  const { end } = sandboxAccount({ db, clock: () => new Date() });
  const payment = { id: randomUUID(), customer: "cus_1", paymentIntent: "pi_1", amountCents: 100, currency: "usd" };
  await assert.rejects(end(payment, new Date()), /payment processor’s test mode. Cancel it there/);
});

/** Waits until no charge of the order is queued. */
const untilCharged = (code: string) =>
  until(async () => {
    const waiting = await db.query(sql`
      SELECT FROM jobs j JOIN orders o ON j.payload ->> 'orderId' = o.id::text
      WHERE j.queue = 'firm-charge' AND ${isSealed(sql`o.code`, "order", code)}`);
    return waiting.length === 0;
  });

test("a checkout of a test order from an earlier configuration is closed without the processor", async () => {
  const acme = await firm();
  const code = await acme.place({ pay_by: "client" });
  const [order] = await db.query<{ orderId: number; amountCents: number }>(sql`
    SELECT id AS "orderId", total_cents::float8 AS "amountCents" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.ok(order);
  const { orderId, amountCents } = order;
  await db.transaction((tx) => setPayer(tx, orderId, "firm"));
  const session = { groupId: null, status: "minting", sessionId: null, url: null, supplementId: null } as const;
  const times = { createdAt: new Date(), expiresAt: new Date(Date.now() + day * 1000) };
  await db.transaction((tx) =>
    insertMinting(tx, { ...session, id: randomUUID(), amountCents, currency: "usd", ...times }, [
      { orderId, orderCode: code, amountCents, supplementId: null },
    ]),
  );
  await acme.client.sandbox.paymentMethod("card", limits);
  await db.transaction((tx) => enqueue(tx, firmChargeQueue, { orderId }));
  await acme.statusIs(code, "EsignPending");
  assert.deepEqual(live.stripe.requests, []);
});

test("jobs about a test order of an earlier configuration reach no processor with a live key", async () => {
  const acme = await firm();
  const code = await acme.place({ pay_by: "client" });
  const [order] = await db.query<{ orderId: number; amountCents: number }>(sql`
    SELECT id AS "orderId", total_cents::float8 AS "amountCents" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.ok(order);
  const { orderId, amountCents } = order;
  const part = { orderId, orderCode: code, amountCents, supplementId: null };
  const session: CheckoutSession = {
    id: randomUUID(),
    groupId: null,
    status: "minting",
    sessionId: null,
    url: null,
    supplementId: null,
    amountCents,
    currency: "usd",
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + day * 1000),
  };
  await db.transaction((tx) => insertMinting(tx, session, [part]));
  const processor = openProcessor(
    { secretKey: "sk_live_double", webhookSecret: live.stripe.webhookSecret, apiBase: live.stripe.url },
    "https://sss.example",
  );
  const deps = { db, clock: () => new Date(), log: silent, processor };
  await closeCheckouts(deps, orderId);
  assert.deepEqual(await currentSessions(db, [orderId]), []);
  // A payment of the processor's test mode, which the live key doesn't know.
  const payment = { orderId, paymentIntent: "pi_test", amountCents, part: null };
  await assert.rejects(
    refundAtProcessor(deps, payment, (own) => own.refund("1", "pi_test")),
    /payments are not configured: the refund waits/,
  );
  assert.deepEqual(live.stripe.requests, []);
});

test("the steps of a payment keep their order when the test clock moves those that are left", async () => {
  const acme = await firm();
  const code = await acme.charge("bank");
  await acme.statusIs(code, "AwaitingPayment");
  const [charge] = await db.query<{ id: string }>(
    sql`SELECT id FROM firm_charges WHERE partner_id = ${acme.partnerId}`,
  );
  const kindsOf = async () => (await stepsOfPayment(db, charge?.id ?? "")).map(({ kind }) => kind);
  assert.deepEqual(await kindsOf(), ["processing", "settles"]);
  await acme.pass(40);
  assert.deepEqual(await kindsOf(), ["processing", "settles"]);
});

test("steps that several nodes apply at once count once, and an altered step does nothing", async () => {
  const acme = await firm();
  const code = await acme.charge("bank");
  await acme.statusIs(code, "AwaitingPayment");
  const forged = await acme.place();
  await acme.statusIs(forged, "AwaitingPayment");
  const ofForged = sql`payment_id = (SELECT c.id FROM firm_charges c WHERE c.partner_id = ${acme.partnerId}
    ORDER BY c.asked_at DESC LIMIT 1) AND kind = 'settles'`;
  await db.transaction(async (tx) => {
    await tx.script("ALTER TABLE sandbox_steps DISABLE TRIGGER sandbox_steps_stay");
    await tx.query(sql`UPDATE sandbox_steps SET amount_cents = amount_cents - 1 WHERE ${ofForged}`);
    await tx.script("ALTER TABLE sandbox_steps ENABLE TRIGGER sandbox_steps_stay");
  });
  const later = () => new Date(Date.now() + 5 * day * 1000);
  await Promise.all(
    Array.from({ length: 5 }, () => applySandboxSteps({ db, clock: later, log: silent }, undefined, acme.partnerId)),
  );
  assert.deepEqual([await acme.kinds(code), await acme.kinds(forged)], [["receipt"], []]);
});

test("a killed service settles a debit once, when it runs again", async () => {
  const acme = await firm();
  const code = await acme.charge("bank");
  await acme.statusIs(code, "AwaitingPayment");
  await acme.client.sandbox.clock.advance({ advanceSeconds: 31 * day });
  await harness.service.kill();
  harness.service = await harness.service.restart();
  const headers = { Authorization: `Bearer ${acme.key}` };
  const get = async (path: string) => (await fetch(harness.service.baseUrl + path, { headers })).json();
  await until(async () => ((await get("/api/partner/sandbox/clock")) as { status: string }).status === "ready");
  const { receipts } = (await get(`/api/partner/orders/${code}/receipts`)) as { receipts: { kind: string }[] };
  assert.deepEqual(
    receipts.map(({ kind }) => kind),
    ["receipt"],
  );
});

test("books of live orders bear real time, whatever the test clock shows", async () => {
  const acme = await firm();
  await acme.pass(40);
  const now = new Date("2026-11-27T12:00:00Z");
  const shown = async (environment: "live" | "test") => bookNow(db, { partnerId: acme.partnerId, environment }, now);
  assert.deepEqual(await shown("live"), now);
  assert.deepEqual(await shown("test"), new Date(now.getTime() + 40 * day * 1000));
});
