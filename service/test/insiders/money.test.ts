import assert from "node:assert/strict";
import { test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../src/kernel/platform/database/sql.ts";
import { postForm } from "../firms/members/signed-in-member.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { openInsider } from "./insider.ts";

type Person = Awaited<ReturnType<typeof newOperator>>;

const stripe = await forTests(startStripe());
const running = await forTests(openHarness(stripe.settings("live")));
const insider = await forTests(openInsider(running.service.dataDir));
const { headers } = await newPartner(running.service, { live: true });
const agent = await newOperator(running, { roles: ["agent"] });
const approver = await newOperator(running, { roles: ["approver"] });

type Order = { code: string; id: number; sessionId: string };

async function placeOrder(): Promise<Order> {
  const body = orderForm({ ...minimal, svc_sign: "true", create_checkout: "true" });
  const placed = await fetch(`${running.service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode: code, checkoutUrl } = (await placed.json()) as { orderCode: string; checkoutUrl: string };
  const [row] = await insider.run<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  return { code, id: row?.id ?? 0, sessionId: stripe.sessionOf(checkoutUrl) };
}

async function paidOrder(): Promise<Order & { intent: string }> {
  const order = await placeOrder();
  const paid = stripe.pay(order.sessionId);
  assert.equal((await stripe.deliver(running.service.baseUrl, paid)).status, 200);
  return { ...order, intent: String(paid.data.object["payment_intent"]) };
}

const post = (path: string, { cookie }: Person, fields: Record<string, string> = {}) =>
  postForm(`${running.service.baseUrl}/operator/refunds${path}`, fields, { cookie, Accept: "text/html" });
const ask = (code: string) => post("", agent, { order: code, reason: "paid twice" });

async function asked(code: string): Promise<string> {
  const answer = await ask(code);
  assert.equal(answer.status, 303, await answer.text());
  return /refunds\/([0-9a-f-]{36})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
}

const page = async (path: string, { cookie }: Person = approver) =>
  fetch(`${running.service.baseUrl}/operator${path}`, { headers: { cookie } });

const refundsOf = (intent: string) => stripe.refunds.filter((each) => each["payment_intent"] === intent).length;
const statusOf = async ({ id }: Order) =>
  (await insider.run<{ status: string }>(sql`SELECT status FROM orders WHERE id = ${id}`))[0]?.status;

async function isRefused(answer: Response): Promise<void> {
  const text = await answer.text();
  assert.equal(answer.status, 503, text);
  assert.match(text, /not what the service wrote/);
}

async function isLoggedOnce(table: string, id: string | number): Promise<void> {
  const logged = () =>
    `${running.service.stdout()}\n${running.service.stderr()}`
      .split("\n")
      .filter((line) => line.includes("is not vouched for") && line.includes(table) && line.includes(`id=${id} `));
  await until(() => logged().length > 0);
  assert.equal(logged().length, 1);
}

const plant = async ({ id }: Order, intent: string, sessionId = intent): Promise<number> => {
  const [row] = await insider.run<{ id: number }>(sql`
    INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at, row_mac)
    VALUES (${id}, ${intent}, ${sessionId}, 5, 'usd', false, now(), (SELECT row_mac FROM payments LIMIT 1)) RETURNING id`);
  return row?.id ?? 0;
};

const refunded = (intent: string) => stripe.event("charge.refunded", { payment_intent: intent, refunded: true });

test("refunds no payment that was inserted into the database, and accepts no request for that", async () => {
  const order = await paidOrder();
  const planted = await plant(order, "pi_of_somebody_else");
  await isRefused(await ask(order.code));
  await isRefused(await page(`/refunds/new?order=${order.code}`, agent));
  await isRefused(await page(`/orders/${order.code}`, agent));
  assert.equal(refundsOf("pi_of_somebody_else"), 0);
  await isLoggedOnce("payments", planted);
});

test("keeps showing money whose payment was marked as refunded in the database", async () => {
  const order = await paidOrder();
  await insider.run(sql`UPDATE payments SET refunded_at = now() WHERE order_id = ${order.id}`);
  await isRefused(await ask(order.code));
  assert.equal((await stripe.deliver(running.service.baseUrl, refunded(order.intent))).status, 503);
  assert.equal(await statusOf(order), "EsignPending");
});

test("refuses a refund that was requested before its payment was marked as refunded in the database", async () => {
  const order = await paidOrder();
  const id = await asked(order.code);
  await insider.run(sql`UPDATE payments SET refunded_at = now() WHERE order_id = ${order.id}`);
  await isRefused(await post(`/${id}/approve`, approver));
  assert.equal(refundsOf(order.intent), 0);
});

test("a refunded payment can't be held again, deleted or moved", async () => {
  const order = await paidOrder();
  const other = await placeOrder();
  await post(`/${await asked(order.code)}/approve`, approver);
  await until(() => refundsOf(order.intent) === 1);
  const [before] = await insider.run<{ mac: Buffer }>(
    sql`SELECT row_mac AS mac FROM payments WHERE order_id = ${order.id}`,
  );
  await stripe.deliver(running.service.baseUrl, refunded(order.intent));
  assert.equal(await statusOf(order), "Refunded");
  await assert.rejects(
    insider.run(sql`UPDATE payments SET refunded_at = NULL, row_mac = ${before?.mac} WHERE order_id = ${order.id}`),
    /refunded once/,
  );
  for (const statement of [
    sql`DELETE FROM payments WHERE order_id = ${order.id}`,
    sql`UPDATE payments SET order_id = ${other.id} WHERE order_id = ${order.id}`,
  ])
    await assert.rejects(insider.run(statement), /permission denied/, statement.text);
});

test("moves no order because of a refund of a payment that was inserted for it in the database", async () => {
  const [victim, mine] = [await paidOrder(), await paidOrder()];
  await plant(mine, victim.intent);
  assert.equal((await stripe.deliver(running.service.baseUrl, refunded(victim.intent))).status, 200);
  assert.deepEqual([await statusOf(victim), await statusOf(mine)], ["Refunded", "EsignPending"]);
});

test("does not treat a payment as repeated because a row of its session was inserted", async () => {
  const order = await placeOrder();
  await plant(order, "pi_planted", order.sessionId);
  assert.equal((await stripe.deliver(running.service.baseUrl, stripe.pay(order.sessionId))).status, 503);
});

test("refunds nothing because of an inserted job alone", async () => {
  const order = await paidOrder();
  await insider.run(sql`SELECT enqueue_job('refund', ${JSON.stringify({ orderId: order.id })}::jsonb, now())`);
  await until(async () => (await insider.run(sql`SELECT FROM jobs WHERE queue = 'refund'`)).length === 0);
  assert.equal(refundsOf(order.intent), 0);
});

const plantRequest = async ({ id }: Order, more = sql`'requested', NULL, NULL`): Promise<string> => {
  const [row] = await insider.run<{ id: string }>(sql`
    INSERT INTO refund_requests (id, order_id, reason, amount_cents, payments, requested_by, requested_at, state, decided_by, decided_at)
    SELECT gen_random_uuid(), ${id}, 'planted reason', 1,
      (SELECT jsonb_agg(jsonb_build_object('id', id, 'amountCents', amount_cents, 'currency', currency)) FROM payments WHERE order_id = ${id}),
      ${agent.id}, now(), ${more} RETURNING id`);
  return row?.id ?? "";
};

test("shows and approves no refund that nobody requested", async () => {
  const order = await paidOrder();
  const id = await plantRequest(order);
  assert.equal((await (await page("/refunds")).text()).includes("planted reason"), false);
  await isRefused(await page(`/refunds/${id}`));
  await isRefused(await post(`/${id}/approve`, approver));
  await isRefused(await post(`/${id}/refuse`, approver, { note: "no" }));
  await isRefused(await ask(order.code));
  assert.deepEqual([await statusOf(order), refundsOf(order.intent)], ["EsignPending", 0]);
  await isLoggedOnce("refund_requests", id);
});

test("shows no refund as approved, refused or closed without a real decision", async () => {
  const planted = await plantRequest(await paidOrder(), sql`'approved', ${approver.id}, now()`);
  await isRefused(await page(`/refunds/${planted}`));
  for (const change of [
    sql`state = 'approved', decided_by = ${approver.id}, decided_at = now()`,
    sql`state = 'refused', decided_by = ${approver.id}, decided_at = now(), note = 'planted'`,
    sql`state = 'withdrawn', decided_by = ${agent.id}, decided_at = now()`,
    sql`state = 'closed', decided_at = now(), note = 'planted'`,
  ]) {
    const order = await paidOrder();
    const id = await asked(order.code);
    await insider.run(sql`UPDATE refund_requests SET ${change} WHERE id = ${id}`);
    await isRefused(await page(`/refunds/${id}`));
    assert.equal((await (await page("/refunds")).text()).includes(id), false);
    assert.equal(refundsOf(order.intent), 0);
  }
});

test("shows a request that another refund of its order closed", async () => {
  const order = await paidOrder();
  const id = await asked(order.code);
  await stripe.deliver(running.service.baseUrl, refunded(order.intent));
  assert.equal(await statusOf(order), "Refunded");
  const shown = await page(`/refunds/${id}`);
  assert.equal(shown.status, 200);
  assert.match(await shown.text(), /asked for by another way/);
});
