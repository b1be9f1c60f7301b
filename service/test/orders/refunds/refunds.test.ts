import assert from "node:assert/strict";
import { test } from "node:test";
import { type StripeEvent, startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { asService, authenticate, authenticatePayments } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import type { Log } from "../../../src/kernel/platform/logs.ts";
import { watchPayments } from "../../../src/orders/payments/payments.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator, newSession } from "../../firms/operators/console-people.ts";

const pairs = Number(process.env["PAIRS"] ?? 3);
const minute = 60_000;

const stripe = await forTests(startStripe());
const running = await forTests(openHarness(stripe.settings("live")));
const { headers, key } = await newPartner(running.service, { live: true });
const owner = (await newMember(running.service, "owner@acme.example", key)).headers;
await postForm(`${running.service.baseUrl}/dashboard/environment`, { environment: "live" }, owner);
const agent = await newOperator(running, { roles: ["agent"] });
const approver = await newOperator(running, { roles: ["approver"] });

async function placeOrder(): Promise<{ code: string; sessionId: string }> {
  const body = orderForm({ ...minimal, svc_sign: "true", create_checkout: "true" });
  const placed = await fetch(`${running.service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode, checkoutUrl } = (await placed.json()) as { orderCode: string; checkoutUrl: string };
  return { code: orderCode, sessionId: stripe.sessionOf(checkoutUrl) };
}

/** A live order whose signing has begun. @returns its code, and the payment's intent */
async function paidOrder() {
  const { code, sessionId } = await placeOrder();
  const paid = stripe.pay(sessionId);
  await stripe.deliver(running.service.baseUrl, paid);
  assert.equal(await statusOf(code), "EsignPending");
  return { code, intent: String(paid.data.object["payment_intent"]) };
}

async function statusOf(code: string): Promise<string> {
  const answer = await fetch(`${running.service.baseUrl}/api/partner/orders/${code}`, { headers });
  return ((await answer.json()) as { status: string }).status;
}

const post = (path: string, { cookie }: { cookie: string }, fields: Record<string, string> = {}) =>
  postForm(`${running.service.baseUrl}/operator/refunds${path}`, fields, { cookie, Accept: "text/html" });

async function look(path: string, { cookie }: { cookie: string } = agent): Promise<string> {
  const page = await fetch(`${running.service.baseUrl}/operator/refunds${path}`, { headers: { cookie } });
  assert.equal(page.status, 200, path);
  return page.text();
}

const ask = (code: string, by: { cookie: string } = agent, reason = "paid twice") =>
  post("", by, { order: code, reason });

/** Requests a refund, as an agent does. @returns the request's id */
async function asked(code: string, by: { cookie: string } = agent): Promise<string> {
  const answer = await ask(code, by);
  assert.equal(answer.status, 303, await answer.text());
  return /refunds\/([0-9a-f-]{36})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
}

const refundsOf = (intent: string) => stripe.refunds.filter((each) => each["payment_intent"] === intent).length;

async function taskOf(code: string): Promise<string | undefined> {
  const [task] = await running.db.query<{ state: string }>(sql`
    SELECT t.state FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'refund_approval' ORDER BY t.id DESC LIMIT 1`);
  return task?.state;
}

async function refused(answer: Response, status: number, message: RegExp): Promise<void> {
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  assert.match(text, message);
}

test("one person requests and another approves: only then the refund is sent, once, and the log names both", async () => {
  const { code, intent } = await paidOrder();
  assert.match(await look(`/new?order=${code}`), /An envelope is open\. It will be voided/);
  const id = await asked(code);
  assert.equal(await statusOf(code), "EsignPending");
  assert.equal(await taskOf(code), "open");
  assert.match(await look("", approver), /paid twice/);
  const waiting = await fetch(`${running.service.baseUrl}/operator/tasks/refund_approval`, {
    headers: { cookie: approver.cookie },
  });
  assert.match(await waiting.text(), /\$\d+\.\d\d: paid twice/);
  await refused(await ask(code), 409, /A refund of this order was asked for already\./);

  assert.equal((await post(`/${id}/approve`, approver)).status, 303);
  assert.equal(await statusOf(code), "RefundPending");
  assert.equal(await taskOf(code), "done");
  await until(() => refundsOf(intent) === 1);
  await stripe.deliver(
    running.service.baseUrl,
    stripe.event("charge.refunded", { payment_intent: intent, refunded: true }),
  );
  assert.equal(await statusOf(code), "Refunded");
  const lines = await running.db.query<{ action: string; actor: string }>(sql`
    SELECT action, actor FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND (action LIKE 'refund.%' OR to_status = 'RefundPending') ORDER BY a.id`);
  assert.deepEqual(lines, [
    { action: "refund.requested", actor: `operator:${agent.id}` },
    { action: "refund.approved", actor: `operator:${approver.id}` },
    { action: "order.transition", actor: `operator:${approver.id}` },
  ]);
  assert.match(await look(`/${id}`), /Approved/);
  assert.equal(refundsOf(intent), 1);
});

async function wishFor(code: string, amountCents: number): Promise<void> {
  const wish = await fetch(`${running.service.baseUrl}/api/partner/orders/${code}/refund-request`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ reason: "The client waited too long.", amountCents }),
  });
  assert.equal(wish.status, 200, await wish.text());
}

test("a part is refunded by two people, the order continues, and the firm’s request is fulfilled", async () => {
  const { code, intent } = await paidOrder();
  await wishFor(code, 500);
  assert.match(await look(""), /A firm asks for a refund[\s\S]*href="\/operator\/tasks\/refund_asked"/);
  const form = await look(`/new?order=${code}`);
  assert.match(form, /The firm asks for \$5\.00: .*The client waited too long\./);
  assert.match(form, /<textarea[^>]*>\s*The client waited too long\.<[\s\S]*value="5\.00"/);
  const record = await fetch(`${running.service.baseUrl}/operator/orders/${code}`, {
    headers: { cookie: agent.cookie },
  });
  assert.match(await record.text(), /The firm asks for a refund<[\s\S]*\$5\.00: The client waited too long\./);
  const inTest = await newOperator(running, { roles: ["agent"] });
  await postForm(`${running.service.baseUrl}/operator/environment`, { environment: "test" }, { cookie: inTest.cookie });
  const today = await fetch(`${running.service.baseUrl}/operator`, { headers: { cookie: inTest.cookie } });
  assert.match(await today.text(), /[1-9]\d* more waits? in live/);
  assert.match(await look("", inTest), /1 more waits in live: press “Live”/);
  assert.doesNotMatch(await look("", inTest), /A firm asks/);
  await refused(
    await post("", agent, { order: code, reason: "Waited", amount: "five" }),
    400,
    /Amount must be dollars/,
  );
  await refused(
    await post("", agent, { order: code, reason: "Waited", amount: "0" }),
    400,
    /Amount must be above zero/,
  );
  await refused(await post("", agent, { order: code, reason: "Waited", amount: "9999" }), 409, /No single payment/);
  const answer = await post("", agent, { order: code, reason: "Waited", amount: "$5.00" });
  const id = /refunds\/([0-9a-f-]{36})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
  const wishes = await running.db.query(sql`
    SELECT t.state FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'refund_asked'`);
  assert.deepEqual(wishes, [{ state: "done" }]);
  assert.doesNotMatch(await look(""), /A firm asks/);
  assert.equal((await post(`/${id}/approve`, approver)).status, 303);
  await until(() => refundsOf(intent) === 1);
  assert.equal(await statusOf(code), "EsignPending");
});

async function requestedPart(code: string): Promise<string> {
  const answer = await post("", agent, { order: code, reason: "Waited", amount: "$5.00" });
  return /refunds\/([0-9a-f-]{36})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
}

async function approvedPart(code: string): Promise<string> {
  const id = await requestedPart(code);
  assert.equal((await post(`/${id}/approve`, approver)).status, 303);
  return id;
}

const deliver = async (event: StripeEvent) =>
  assert.equal((await stripe.deliver(running.service.baseUrl, event)).status, 200);
const noJobs = (queue: string) =>
  until(async () => (await running.db.query(sql`SELECT FROM jobs WHERE queue = ${queue}`)).length === 0);

test("a part waits for the bank’s decision, even when the task was ended; won, it goes back by itself", async () => {
  const { code, intent } = await paidOrder();
  const dispute = stripe.dispute(intent);
  await deliver(dispute);
  await asService(
    running,
    sql`
    UPDATE tasks SET state = 'done', ended_at = now(), ended_by = 'operator:x', outcome = 'answered' WHERE kind = 'dispute'`,
  );
  await authenticate(running, "tasks");
  await approvedPart(code);
  await noJobs("part-refund");
  assert.equal(refundsOf(intent), 0);
  const won = stripe.endDispute(String(dispute.data.object["id"]), "won");
  await deliver(won);
  await deliver({ ...won, id: `${won.id}_again` });
  await until(() => refundsOf(intent) === 1);
  await noJobs("part-refund-news");
  assert.equal(refundsOf(intent), 1);
});

test("lost, a part that waited ends with words, and no whole refund is sent: the order ends as refunded", async () => {
  const { code, intent } = await paidOrder();
  const dispute = stripe.dispute(intent);
  await deliver(dispute);
  const id = await approvedPart(code);
  await noJobs("part-refund");
  await deliver(stripe.endDispute(String(dispute.data.object["id"]), "lost"));
  await until(async () => /Refused: the bank took \$\d+\.\d\d of the payment back/.test(await look(`/${id}`)));
  assert.match(await look(`/${id}`), /Closed/);
  // The operator decides to end the order, because the bank has already returned the money.
  const whole = await asked(code);
  assert.equal((await post(`/${whole}/approve`, approver)).status, 303);
  await until(async () => (await statusOf(code)) === "Refunded");
  assert.equal(refundsOf(intent), 0);
});

test("a part whose refund fails at the bank ends with words, and can be asked for again", async () => {
  const { code, intent } = await paidOrder();
  const id = await approvedPart(code);
  await until(() => refundsOf(intent) === 1);
  const refund = stripe.refunds.at(-1) ?? {};
  for (const event of stripe.refundEvents(refund)) await deliver(event);
  await deliver(stripe.failRefund(String(refund["id"])));
  await until(async () => /the refund failed at the payer’s bank/.test(await look(`/${id}`)));
  await approvedPart(code);
  await until(() => refundsOf(intent) === 2);
});

test("a failed refund that was paid back by check is booked once: no page or refund counts the money as held", async () => {
  const { code, intent } = await paidOrder();
  await approvedPart(code);
  await until(() => refundsOf(intent) === 1);
  const refund = stripe.refunds.at(-1) ?? {};
  for (const event of stripe.refundEvents(refund)) await deliver(event);
  await deliver(stripe.failRefund(String(refund["id"])));
  await noJobs("part-refund-news");
  const held = async () => /Held for it<\/dt>\s*<dd>([^<]*)/.exec(await look(`/new?order=${code}`))?.[1];
  const before = await held();
  const page = async (path: string, cookie: string) =>
    (await fetch(running.service.baseUrl + path, { headers: { cookie } })).text();
  const tasks = await page("/operator/tasks/refund_failed", approver.cookie);
  const [task] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM tasks WHERE kind = 'refund_failed' AND subject = ${String(refund["id"])}`,
  );
  const act = (name: string, fields: Record<string, string> = {}) =>
    postForm(`${running.service.baseUrl}/operator/tasks/${task?.id}/${name}`, fields, { cookie: approver.cookie });
  assert.equal((await act("claim")).status, 303, tasks);
  const waits = /A refund of \$5\.00 came back .* Answer the email about it with where the money should go/;
  assert.match(await page(`/dashboard/orders/${code}`, owner["Cookie"] ?? ""), waits);
  assert.match(
    await page("/operator/tasks/refund_failed", approver.cookie),
    /<option value="check">Paid back by check/,
  );
  const outcome = "Check 1044";
  await refused(await act("done", { outcome }), 400, /Choose how the money went back/);
  const decidesFrom = (at: Date) =>
    asService(running, sql`UPDATE operators SET decides_from = ${at} WHERE user_id = ${approver.id}`);
  await decidesFrom(new Date(Date.now() + minute));
  await refused(await act("done", { outcome, how: "check" }), 409, /You may decide from/);
  await decidesFrom(new Date());
  const earlier = await newSession(running, approver.id, { at: new Date(Date.now() - 16 * minute) });
  const early = postForm(
    `${running.service.baseUrl}/operator/tasks/${task?.id}/done`,
    { outcome, how: "check" },
    { cookie: earlier.cookie, Accept: "text/html" },
  );
  await refused(await early, 403, /Confirm with your passkey/);
  const both = await Promise.all([act("done", { outcome, how: "check" }), act("done", { outcome, how: "wire" })]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [303, 409]);
  assert.match(both.map((each) => each.headers.get("location") ?? "").join(), /payback-booked/);
  assert.notEqual(await held(), before);
  assert.match(await page(`/operator/orders/${code}`, agent.cookie), /\$5\.00 paid back (by check|by wire)/);
  const cookie = owner["Cookie"] ?? "";
  assert.match(
    await page(`/dashboard/orders/${code}`, cookie),
    /Credit note CN-\d{4}-\d{5}<\/a>, \$5\.00, [^<]*paid back by/,
  );
  assert.doesNotMatch(await page(`/dashboard/orders/${code}`, cookie), waits);
  const month = /href="(\/dashboard\/statements\/\d{4}-\d{2})"/.exec(await page("/dashboard/statements", cookie))?.[1];
  assert.match(await page(month ?? "", cookie), /Paid back by/);

  // A wrong booking is reversed. The money can then be booked in another way, but only once.
  const [, undo = ""] = /action="([^"]+\/undo)"/.exec(await page(`/operator/orders/${code}`, approver.cookie)) ?? [];
  const correct = (by: string, reason = "The check was never sent") =>
    postForm(running.service.baseUrl + undo, { reason }, { cookie: by, Accept: "text/html" });
  await refused(await correct(earlier.cookie), 403, /Confirm with your passkey/);
  await refused(await correct(approver.cookie, " "), 400, /reason/);
  await decidesFrom(new Date(Date.now() + minute));
  await refused(await correct(approver.cookie), 409, /You may decide from/);
  await decidesFrom(new Date());
  const tooLong = "x".repeat(501);
  const kept = new RegExp(`<details class="ask" open><summary>Correct .*value="${tooLong}"`, "s");
  await refused(await correct(approver.cookie, tooLong), 400, kept);
  const corrections = await Promise.all([correct(approver.cookie), correct(approver.cookie)]);
  assert.deepEqual(corrections.map(({ status }) => status).sort(), [303, 409]);
  assert.equal(await held(), before);
  assert.match(await page(month ?? "", cookie), /Correction: not paid back by/);
  const [again] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM tasks WHERE kind = 'refund_failed' AND state = 'open' AND subject LIKE 'undone:%'`,
  );
  const rebook = () =>
    postForm(
      `${running.service.baseUrl}/operator/tasks/${again?.id}/done`,
      { outcome: "Wire 7", how: "wire" },
      { cookie: approver.cookie },
    );
  assert.deepEqual([(await rebook()).status, (await rebook()).status], [303, 409]);
  assert.notEqual(await held(), before);

  // Five dollars went back by wire, so the processor still counts them as not refunded. But the service refunds only
  // the rest of the payment.
  const whole = await asked(code);
  assert.equal((await post(`/${whole}/approve`, approver)).status, 303);
  await until(() => refundsOf(intent) === 2);
  const last = stripe.refunds.at(-1) ?? {};
  const [payment] = await running.db.query<{ cents: number }>(
    sql`SELECT amount_cents::float8 AS cents FROM payments WHERE payment_intent = ${intent}`,
  );
  assert.equal(last["amount"], (payment?.cents ?? 0) - 500);
  for (const event of stripe.refundEvents(last)) await deliver(event);
  await until(async () => (await statusOf(code)) === "Refunded");
});

test("a failed refund is not booked as paid by check while another one is open, and after one only as further money", async () => {
  const { code, intent } = await paidOrder();
  await approvedPart(code);
  await until(() => refundsOf(intent) === 1);
  const failed = stripe.refunds.at(-1) ?? {};
  for (const event of stripe.refundEvents(failed)) await deliver(event);
  await deliver(stripe.failRefund(String(failed["id"])));
  await noJobs("part-refund-news");
  const [task] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM tasks WHERE kind = 'refund_failed' AND subject = ${String(failed["id"])}`,
  );
  const act = (name: string, fields: Record<string, string> = {}) =>
    postForm(`${running.service.baseUrl}/operator/tasks/${task?.id}/${name}`, fields, { cookie: approver.cookie });
  const book = (more: Record<string, string> = {}) => act("done", { outcome: "Check 1044", how: "check", ...more });
  assert.equal((await act("claim")).status, 303);
  const again = await requestedPart(code);
  await refused(await book({ further: "on" }), 409, /Another refund of this order waits for its decision/);
  assert.equal((await post(`/${again}/approve`, approver)).status, 303);
  await until(() => refundsOf(intent) === 2);
  for (const event of stripe.refundEvents(stripe.refunds.at(-1) ?? {})) await deliver(event);
  await noJobs("part-refund-news");
  await refused(await book(), 409, /After this refund failed, \$5\.00 of the payment was refunded/);
  assert.equal((await book({ further: "on" })).status, 303);
});

test("a refund that somebody made at the processor, in part or of all, asks for a note where it can be noted", async () => {
  const [part, all] = [await paidOrder(), await paidOrder()];
  for (const event of stripe.refundByHand(part.intent, 300)) await deliver(event);
  await deliver(stripe.event("charge.refunded", { payment_intent: all.intent, refunded: true }));
  await until(async () => (await statusOf(all.code)) === "Refunded");
  const page = async (path: string) =>
    (await fetch(running.service.baseUrl + path, { headers: { cookie: approver.cookie } })).text();
  const queue = await until(async () => {
    const text = await page("/operator/tasks/refund_by_hand");
    return text.includes("$3.00 of the payment went back") ? text : undefined;
  });
  assert.match(queue, /The whole payment went back at the processor without a request here/);
  assert.match(queue, /<a href="\/operator\/tasks\/refund_by_hand">Find out about the refund/);
  assert.doesNotMatch(queue, /<a href="\/operator\/payments">Find out about the refund/);
  const ids = [...queue.matchAll(/\/operator\/tasks\/(\d+)\/claim/g)].map(([, id]) => id);
  for (const id of ids)
    for (const name of ["claim", "done"])
      await postForm(
        `${running.service.baseUrl}/operator/tasks/${id}/${name}`,
        { outcome: "The payer asked for it" },
        { cookie: approver.cookie },
      );
  assert.match(await page("/operator/tasks/refund_by_hand"), /Nothing is waiting/);
});

test("nobody can approve or refuse their own request, and the database enforces it, too", async () => {
  const both = await newOperator(running, { roles: ["agent", "approver", "admin"] });
  const { code } = await paidOrder();
  const id = await asked(code, both);
  await refused(
    await post(`/${id}/approve`, both),
    409,
    /You asked for this refund yourself\. Another operator decides\./,
  );
  await refused(await post(`/${id}/refuse`, both, { note: "no" }), 409, /Withdraw the request instead/);
  const write = (state: string, by: string | null, solo: boolean, later: string) =>
    running.db.query(sql`
      UPDATE refund_requests SET state = ${state}, decided_by = ${by}, solo = ${solo},
        decided_at = requested_at + ${later}::interval WHERE id = ${id}`);
  for (const [state, by, solo, later] of [
    ["approved", both.id, false, "2 hours"],
    ["approved", null, false, "2 hours"],
    ["approved", null, true, "2 hours"],
    ["approved", both.id, true, "59 minutes 59 seconds"],
    ["refused", both.id, true, "2 hours"],
  ] as const)
    await assert.rejects(write(state, by, solo, later), /refund_decided_by_another/, `${state} ${by} ${solo} ${later}`);
  for (const change of [
    sql`UPDATE refund_requests SET requested_by = ${agent.id} WHERE id = ${id}`,
    sql`UPDATE refund_requests SET amount_cents = 1 WHERE id = ${id}`,
    sql`DELETE FROM refund_requests WHERE id = ${id}`,
  ])
    await assert.rejects(running.db.query(change), /a refund request is decided once/);
  assert.equal((await post(`/${id}/withdraw`, both)).status, 303);
  assert.equal(await taskOf(code), "dropped");
  await assert.rejects(write("approved", approver.id, false, "2 hours"), /a refund request is decided once/);
  assert.equal(await statusOf(code), "EsignPending");
});

test("two concurrent approvals, each with a double click, refund once", async () => {
  const other = await newOperator(running, { roles: ["approver"] });
  for (let pair = 0; pair < pairs; pair++) {
    const { code, intent } = await paidOrder();
    const id = await asked(code);
    const answers = await Promise.all([approver, other, approver, other].map((by) => post(`/${id}/approve`, by)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409, 409, 409]);
    await until(() => refundsOf(intent) === 1);
    const jobs = await running.db.query(sql`
      SELECT FROM audit_log a JOIN orders o ON o.id = a.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND to_status = 'RefundPending'`);
    assert.equal(jobs.length, 1);
  }
});

test("a request whose order is refunded in another way closes itself", async () => {
  const { code } = await paidOrder();
  const id = await asked(code);
  await running.service.cli("order", "move", code, "RefundPending", "--reason", "by phone");
  assert.equal(await taskOf(code), "dropped");
  assert.match(await look(`/${id}`), /Closed.*The refund was asked for by another way\./s);
  await refused(
    await post(`/${id}/approve`, approver),
    409,
    /This request was closed\. The refund was asked for by another way\./,
  );
  await refused(await ask(code), 409, /An order in RefundPending cannot be refunded\./);
});

test("a refused request states the reason; another one may be made", async () => {
  const { code } = await paidOrder();
  const id = await asked(code);
  await refused(await post(`/${id}/refuse`, approver, { note: " " }), 400, /note must have 1 to 500 characters/);
  await refused(
    await post(`/${id}/withdraw`, await newOperator(running, { roles: ["agent"] })),
    409,
    /Only the person who asked/,
  );
  assert.equal((await post(`/${id}/refuse`, approver, { note: "it was not paid twice" })).status, 303);
  await refused(await post(`/${id}/approve`, approver), 409, /This request was refused before by Person/);
  assert.match(await look(`/${id}`), /Refused.*it was not paid twice/s);
  assert.notEqual(await asked(code), id);
});

test("impossible refunds are refused by name: unpaid, unknown, of the other environment, without a reason", async () => {
  const { code: unpaid } = await placeOrder();
  await refused(await ask(unpaid), 409, /An order in QuoteReady cannot be refunded\./);
  const { code } = await paidOrder();
  for (const reason of ["", " ", "x".repeat(501), "a\u0000b"])
    await refused(await ask(code, agent, reason), 400, /reason must have 1 to 500 characters/);
  const inTest = await newOperator(running, { roles: ["agent"], environment: "test" });
  for (const [by, asked] of [
    [agent, "0".repeat(40)],
    [agent, "\u0000"],
    [inTest, code],
  ] as const)
    assert.equal((await ask(asked, by)).status, 404);
  for (const id of ["nope", "00000000-0000-4000-8000-000000000000"])
    assert.equal((await post(`/${id}/approve`, approver)).status, 404);
});

test("payments that have changed since are not approved, even with no amount; each currency is stated separately", async () => {
  const { code } = await paidOrder();
  const add = async (intent: string, cents: number) => {
    await running.db.query(sql`
      INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
      SELECT id, ${intent}, ${intent}, ${cents}, 'EUR', false, now() FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
    await authenticatePayments(running.db, sql`payment_intent = ${intent}`);
  };
  await add("pi_second", 5);
  const id = await asked(code);
  assert.match(await look(`/${id}`), /\$[\d,.]+ and 5 \(eur, smallest unit\)/);
  await add("pi_third", 0);
  await refused(await post(`/${id}/approve`, approver), 409, /The money held for this order has changed/);
});

test("approving needs a recent passkey, and a named person", async () => {
  const { code } = await paidOrder();
  const id = await asked(code);
  const earlier = await newSession(running, approver.id, { at: new Date(Date.now() - 16 * minute) });
  await refused(await post(`/${id}/approve`, earlier), 403, /Confirm with your passkey/);
  const { url } = await running.service.cli("operator", "link");
  const answer = await postForm(running.service.baseUrl + new URL(url ?? "").pathname, {});
  const byLink = { cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
  await refused(await post(`/${id}/approve`, byLink), 409, /Refunds need people with names/);
  await refused(await ask(code, byLink), 409, /Refunds need people with names/);
  for (const path of [`/${id}`, `/new?order=${(await paidOrder()).code}`]) {
    const page = await look(path, byLink);
    assert.match(page, /Refunds need people with names\. Sign in by email, or use order move/, path);
    assert.doesNotMatch(page, /action="\/operator\/refunds/, path);
  }
  assert.equal(await statusOf(code), "EsignPending");
});

test("money that matches no order waits for an approver's decision, and moves nothing", async () => {
  const { code, sessionId } = await placeOrder();
  await running.service.cli("order", "move", code, "Cancelled", "--reason", "not wanted");
  const paid = stripe.pay(sessionId);
  await stripe.deliver(running.service.baseUrl, paid);
  const pages = `${running.service.baseUrl}/operator/payments`;
  const resolve = (by: { cookie: string }, note: string, eventId = paid.id) =>
    postForm(`${pages}/${eventId}/resolve`, { note }, { cookie: by.cookie, Accept: "text/html" });
  const shown = async () => (await fetch(pages, { headers: { cookie: approver.cookie } })).text();
  const states = () =>
    running.db.query<{ state: string }>(
      sql`SELECT state FROM tasks WHERE kind = 'payment_unapplied' AND subject = ${paid.id}`,
    );
  assert.match(await shown(), new RegExp(String(paid.data.object["payment_intent"])));
  assert.deepEqual(await states(), [{ state: "open" }]);
  await refused(await resolve(agent, "sent back"), 403, /Your roles do not permit this/);
  await refused(await resolve(approver, " "), 400, /note must have 1 to 500 characters/);
  for (const unknown of ["evt_unknown", "%00"]) assert.equal((await resolve(approver, "x", unknown)).status, 404);
  assert.equal((await resolve(approver, "sent back at the processor")).status, 303);
  await refused(await resolve(approver, "again"), 409, /Somebody has resolved this payment already/);
  assert.match(await shown(), /sent back at the processor/);
  assert.deepEqual(await states(), [{ state: "done" }]);
  assert.equal(await statusOf(code), "Cancelled");
});

/** Two orders that are paid together. The second is canceled before the payment arrives, so its share pays no order. */
async function shareOfCanceled() {
  const [kept, gone] = [await placeOrder(), await placeOrder()];
  const call = async <T>(path: string, body?: object) => {
    const init = { method: "POST", headers: { ...headers, ...(body && { "Content-Type": "application/json" }) } };
    const answer = await fetch(running.service.baseUrl + path, {
      ...init,
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as T;
  };
  const { roomCode } = await call<{ roomCode: string }>("/api/rooms", { name: "12 Elm Street" });
  for (const { code } of [kept, gone]) await call(`/api/rooms/${roomCode}/orders`, { orderCode: code });
  const { checkoutUrl } = await call<{ checkoutUrl: string }>(`/api/rooms/${roomCode}/checkout`);
  const paid = stripe.pay(stripe.sessionOf(checkoutUrl));
  await running.service.cli("order", "move", gone.code, "Cancelled", "--reason", "not wanted");
  await stripe.deliver(running.service.baseUrl, paid);
  assert.deepEqual([await statusOf(kept.code), await statusOf(gone.code)], ["EsignPending", "Cancelled"]);
  const [event] = await running.db.query<{ id: string; state: string }>(sql`
    SELECT t.subject AS id FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = 'payment_unapplied' AND ${isSealed(sql`o.code`, "order", gone.code)}`);
  return {
    kept: kept.code,
    gone: gone.code,
    intent: String(paid.data.object["payment_intent"]),
    eventId: event?.id ?? "",
  };
}

const askShare = (eventId: string, by: { cookie: string }, reason = "canceled before it was paid") =>
  postForm(
    `${running.service.baseUrl}/operator/payments/${encodeURIComponent(eventId)}/refund`,
    { reason },
    {
      cookie: by.cookie,
      Accept: "text/html",
    },
  );

const givenOf = (intent: string) => stripe.refunds.filter((each) => each["payment_intent"] === intent);

test("the share of an order that was canceled before a shared payment is refunded by two people, and nothing else", async () => {
  const { kept, gone, intent, eventId } = await shareOfCanceled();
  const pages = `${running.service.baseUrl}/operator/payments`;
  const shown = async () => (await fetch(pages, { headers: { cookie: agent.cookie } })).text();
  assert.match(await shown(), /Never send the whole payment back/);
  const orderPage = async (code: string) =>
    (await fetch(`${running.service.baseUrl}/dashboard/orders/${code}`, { headers: owner })).text();
  const extra = /A payment of \$12\.00 arrived .*, which this order did not need\. (.*?)<\/p>/;
  const extraEnd = async () => extra.exec(await orderPage(gone))?.[1] ?? "";
  assert.equal(await extraEnd(), "The operator of this service decides how it goes back.");
  assert.doesNotMatch(await orderPage(kept), /which this order did not need/);
  await refused(await askShare(eventId, agent, " "), 400, /reason must have 1 to 500 characters/);
  assert.equal((await askShare("evt_unknown", agent)).status, 404);
  const asked = await askShare(eventId, agent);
  assert.equal(asked.status, 303);
  const id = asked.headers.get("location")?.split("/").at(-1)?.split("?")[0] ?? "";
  await refused(await askShare(eventId, approver), 409, /Another refund of this order waits for its decision/);
  assert.match(await look(`/${id}`), /a payment that changed no order: the order stays as before/);
  await refused(await post(`/${id}/approve`, agent), 403, /Your roles do not permit this/);
  assert.equal((await post(`/${id}/approve`, approver)).status, 303);
  await until(() => givenOf(intent).length === 1);
  assert.equal(givenOf(intent)[0]?.["amount"], 1200);
  await refused(await askShare(eventId, agent), 409, /not held any more, or its refund was approved before/);
  for (const event of stripe.refundEvents(givenOf(intent)[0] ?? {}))
    await stripe.deliver(running.service.baseUrl, event);
  const tasks = await running.db.query<{ state: string }>(
    sql`SELECT state FROM tasks WHERE kind = 'payment_unapplied' AND subject = ${eventId}`,
  );
  assert.deepEqual(tasks, [{ state: "done" }]);
  assert.match(await extraEnd(), /^All of it was given back <time [^>]*>[^<]*<\/time>\.$/);
  assert.deepEqual([await statusOf(kept), await statusOf(gone)], ["EsignPending", "Cancelled"]);
  await refused(await askShare(eventId, agent), 409, /not held any more/);
});

test("a refund made at the processor is assigned to its orders on the page of payments, by two people", async () => {
  const { kept, gone, intent } = await shareOfCanceled();
  for (const event of stripe.refundByHand(intent, 500)) await stripe.deliver(running.service.baseUrl, event);
  const tasks = () => running.db.query(sql`SELECT FROM tasks WHERE kind = 'refund_by_hand' AND state = 'open'`);
  await until(async () => (await tasks()).length === 1);
  const page = async (by: { cookie: string }) =>
    (await fetch(`${running.service.baseUrl}/operator/payments`, { headers: { cookie: by.cookie } })).text();
  const send = (path: string, by: { cookie: string }, fields: Record<string, string> = {}) =>
    postForm(`${running.service.baseUrl}/operator/payments/assignments${path}`, fields, {
      cookie: by.cookie,
      Accept: "text/html",
    });
  const form = await page(agent);
  assert.match(form, /Refunds made at the payment processor/);
  const [first = "", second = ""] = [...form.matchAll(/name="(part-\d+)"/g)].map(([, name]) => name);
  const refund = /name="refund" value="([^"]+)"/.exec(form)?.[1] ?? "";
  const fields = { refund, reason: "the payer asked", [first]: "3.00", [second]: "2" };
  const wrong = await send("", agent, { ...fields, [second]: "1" });
  const again = await wrong.clone().text();
  await refused(wrong, 400, /must add up to the refund of \$5\.00\. Their sum is \$4\.00/);
  for (const typed of ['value="3.00"', 'value="1"', "the payer asked</textarea>"])
    assert.ok(again.includes(typed), typed);
  await refused(await send("", agent, { ...fields, [second]: "0" }), 400, /Amount must be above zero/);
  await refused(await send("", agent, { ...fields, [second]: "two" }), 400, /Amount must be dollars/);
  assert.equal((await send("", agent, fields)).status, 303);
  const asked = await page(approver);
  assert.match(asked, /\$3\.00 for .*\$2\.00 for .*the payer asked/s);
  const id = /assignments\/([0-9a-f-]{36})\/approve/.exec(asked)?.[1] ?? "";
  assert.equal((await send(`/${id}/approve`, agent)).status, 403);
  assert.equal((await send(`/${id}/approve`, approver)).status, 303);
  assert.doesNotMatch(await page(agent), /Refunds made at the payment processor/);
  assert.deepEqual(await tasks(), []);
  assert.deepEqual([await statusOf(kept), await statusOf(gone)], ["EsignPending", "Cancelled"]);
  const answer = await fetch(`${running.service.baseUrl}/api/partner/orders/${kept}/receipts`, { headers });
  const { receipts } = (await answer.json()) as { receipts: { kind: string; amountCents: number }[] };
  assert.deepEqual(
    receipts.filter(({ kind }) => kind === "credit_note").map(({ amountCents }) => amountCents),
    [300],
  );
  const order = await fetch(`${running.service.baseUrl}/operator/orders/${kept}`, {
    headers: { cookie: agent.cookie },
  });
  assert.match(await order.text(), /, of which \$3\.00 went back/);
});

test("a share that many people request and approve concurrently is refunded once", async () => {
  const { intent, eventId } = await shareOfCanceled();
  const asks = await Promise.all(Array.from({ length: 6 }, () => askShare(eventId, agent)));
  const made = asks.filter(({ status }) => status === 303);
  assert.equal(made.length, 1);
  const id = made[0]?.headers.get("location")?.split("/").at(-1)?.split("?")[0] ?? "";
  const decided = await Promise.all(Array.from({ length: 6 }, () => post(`/${id}/approve`, approver)));
  assert.equal(decided.filter(({ status }) => status === 303).length, 1);
  await until(() => givenOf(intent).length === 1);
  await running.db.query(
    sql`SELECT enqueue_job('part-refund', jsonb_build_object('requestId', ${id}::text)) FROM generate_series(1, 3)`,
  );
  await until(async () => (await running.db.query(sql`SELECT FROM jobs WHERE queue = 'part-refund'`)).length === 0);
  assert.equal(givenOf(intent).length, 1);
});

test("a bank that never answers becomes a task, and its order can be paid again once the processor reports the failure", async () => {
  const { code, sessionId } = await placeOrder();
  await stripe.deliver(running.service.baseUrl, stripe.payByBank(sessionId));
  assert.equal(await statusOf(code), "AwaitingPayment");
  const waiting = () =>
    running.db.query<{ state: string; id: string }>(sql`
      SELECT t.state, t.subject AS id FROM tasks t JOIN orders o ON o.id = t.order_id
      WHERE t.kind = 'bank_payment' AND ${isSealed(sql`o.code`, "order", code)}`);
  const logged: unknown[] = [];
  const log = { error: (line: object) => logged.push(line) } as unknown as Log;
  const inDays = (days: number) => ({
    db: running.db,
    log,
    clock: () => new Date(Date.now() + days * 24 * 60 * minute),
  });
  const altered = await placeOrder();
  await stripe.deliver(running.service.baseUrl, stripe.payByBank(altered.sessionId));
  await running.db.query(sql`
    UPDATE checkout_sessions SET created_at = created_at - interval '1 hour' WHERE session_id = ${altered.sessionId}`);
  await watchPayments(inDays(9));
  assert.deepEqual(await waiting(), []);
  await watchPayments(inDays(11));
  await watchPayments(inDays(11));
  const [{ id } = { id: "" }, ...more] = await waiting();
  assert.deepEqual(more, []);
  assert.equal(logged.length, 2, "the altered one is logged, and stops no other");
  const look = async () =>
    (await fetch(`${running.service.baseUrl}/operator/payments`, { headers: { cookie: approver.cookie } })).text();
  assert.match(await look(), /Waiting for a bank/);
  const ask = (by: { cookie: string }, name = id) =>
    postForm(
      `${running.service.baseUrl}/operator/payments/pending/${name}/ask`,
      {},
      { cookie: by.cookie, Accept: "text/html" },
    );
  await refused(await ask(agent), 403, /Your roles do not permit this/);
  for (const unknown of ["x", "00000000-0000-4000-8000-000000000000"])
    assert.equal((await ask(approver, unknown)).status, 404);
  await refused(await ask(approver), 409, /still waits for the bank/);
  const session = stripe.sessions.get(sessionId) ?? assert.fail("no session");
  stripe.sessions.delete(sessionId);
  await refused(await ask(approver), 409, /does not know this checkout/);
  stripe.sessions.set(sessionId, session);
  Object.assign(session, { intent_status: "requires_payment_method" });
  assert.equal((await ask(approver)).status, 303);
  assert.deepEqual(await waiting(), [{ state: "done", id }]);
  assert.equal(await statusOf(code), "AwaitingPayment");
  assert.equal((await ask(approver)).status, 404);
  const again = await fetch(`${running.service.baseUrl}/api/partner/orders/${code}/checkout`, {
    method: "POST",
    headers,
  });
  assert.equal(again.status, 200);
  await stripe.deliver(running.service.baseUrl, stripe.bankAnswers(sessionId, "succeeded"));
  assert.equal(await statusOf(code), "EsignPending", "money that comes after all still pays");
});

test("an approver whom an admin appointed within a day can't decide on money, and learns from when on", async () => {
  const fresh = await newOperator(running, { roles: ["approver"] });
  const from = new Date(Date.now() + 23 * 60 * minute);
  const decidesFrom = (at: Date) =>
    asService(running, sql`UPDATE operators SET decides_from = ${at} WHERE user_id = ${fresh.id}`);
  await decidesFrom(from);
  const { code, intent } = await paidOrder();
  const id = await asked(code);
  const told = new RegExp(`You may decide from ${from.toISOString().slice(0, 16).replace("T", " ")} UTC`);
  await refused(await post(`/${id}/approve`, fresh), 409, told);
  await refused(await post(`/${id}/refuse`, fresh, { note: "no" }), 409, told);
  await refused(
    await postForm(
      `${running.service.baseUrl}/operator/payments/evt_x/resolve`,
      { note: "sent back" },
      {
        cookie: fresh.cookie,
        Accept: "text/html",
      },
    ),
    409,
    told,
  );
  assert.equal(refundsOf(intent), 0);
  await decidesFrom(new Date());
  assert.equal((await post(`/${id}/approve`, fresh)).status, 303);
  await until(() => refundsOf(intent) === 1);
});

test("the form says what the firm asked for, even after a part went back in another way", async () => {
  for (const [ofPrice, returned, words] of [
    [(price: number) => price, (_: number) => 300, /The firm asks for the whole payment: /],
    [(_: number) => 500, (price: number) => price - 500, /The firm asks for \$5\.00: /],
  ] as const) {
    const { code, intent } = await paidOrder();
    const [payment] = await running.db.query<{ cents: number }>(
      sql`SELECT amount_cents::float8 AS cents FROM payments WHERE payment_intent = ${intent}`,
    );
    const { cents: price = 0 } = payment ?? {};
    await wishFor(code, ofPrice(price));
    assert.match(await look(`/new?order=${code}`), words);
    for (const event of stripe.refundByHand(intent, returned(price))) await deliver(event);
    assert.match(await look(`/new?order=${code}`), words);
  }
});

test("in a service that one person runs, that person approves an hour later, after a new sign-in", async () => {
  const alone = await newOperator(running, { roles: ["agent", "approver"] });
  const { code, intent } = await paidOrder();
  const id = await asked(code, alone);
  const [request] = await running.db.query<{ at: Date }>(
    sql`SELECT requested_at AS at FROM refund_requests WHERE id = ${id}`,
  );
  const hourLater = (request?.at.getTime() ?? 0) + 60 * minute;
  await running.service.stop();
  running.service = await running.service.restart({ NODE_ENV: "test", TIME_TRAVEL: "3720", REFUND_APPROVAL: "solo" });
  const signedIn = (at: number) => newSession(running, alone.id, { at: new Date(at) });
  const tooEarly = await signedIn(hourLater - 1);
  assert.match(await look(`/${id}`, tooEarly), /One person may refund alone here/);
  await refused(await post(`/${id}/approve`, tooEarly), 409, /Sign in again 60 minutes after that/);
  const inTime = await signedIn(hourLater + 1000);
  assert.equal((await post(`/${id}/approve`, inTime)).status, 303);
  await until(() => refundsOf(intent) === 1);
  const [row] = await running.db.query<{ solo: boolean }>(sql`SELECT solo FROM refund_requests WHERE id = ${id}`);
  assert.equal(row?.solo, true);
});
