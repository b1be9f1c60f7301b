import assert from "node:assert/strict";
import { after, test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { changeOrder } from "@signsealship/testing/row-mac";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";

const folder = temporaryFolder();

after(() => service.stop());
const stripe = await forTests(startStripe());
let service = await startService({
  DATA_DIR: folder.path,
  RATE_LIMITS: "off",
  ...stripe.settings("live"),
  ...ownProcess,
});
const { headers } = await newPartner(service, { live: true });
const db = await forTests(databaseOf(folder.path));

type Order = { orderCode: string; checkoutUrl: string; status: string };

async function placeOrder(fields: Record<string, string> = {}): Promise<{ code: string; sessionId: string }> {
  const body = orderForm({ ...minimal, svc_sign: "true", create_checkout: "true", ...fields });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode, checkoutUrl } = (await response.json()) as Order;
  return { code: orderCode, sessionId: stripe.sessionOf(checkoutUrl) };
}

async function statusOf(code: string): Promise<string> {
  return ((await (await fetch(`${service.baseUrl}/api/partner/orders/${code}`, { headers })).json()) as Order).status;
}

test("the processor's signed event pays the order, and its repetition changes nothing", async () => {
  const { code, sessionId } = await placeOrder();
  const event = stripe.pay(sessionId);
  for (let times = 0; times < 3; times++) {
    const response = await stripe.deliver(service.baseUrl, event);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { received: true });
  }
  assert.equal(await statusOf(code), "EsignPending");
  const { history } = await service.cli<{ history: { toStatus: string; actor: string }[] }>("order", "show", code);
  assert.deepEqual(
    history.slice(2).map(({ toStatus, actor }) => `${toStatus} by ${actor}`),
    ["Paid by processor", "EsignPending by processor"],
  );
});

test("an event about an altered order is refused, with one task, and counts when the order is as it was", async () => {
  const { code, sessionId } = await placeOrder();
  const event = stripe.pay(sessionId);
  const [before] = await db.query<{ name: string | null }>(
    sql`SELECT customer_name AS name FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  await db.query(sql`UPDATE orders SET customer_name = 'Somebody Else' WHERE ${isSealed(sql`code`, "order", code)}`);
  for (let times = 0; times < 2; times++) assert.equal((await stripe.deliver(service.baseUrl, event)).status, 503);
  const tasks = await db.query<{ reason: string }>(sql`
    SELECT t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = 'order_altered' AND ${isSealed(sql`o.code`, "order", code)}`);
  assert.equal(tasks.length, 1);
  assert.match(tasks[0]?.reason ?? "", /checkout\.session\.completed about pi_/);
  await changeOrder(db, code, sql`customer_name = ${before?.name ?? null}`);
  assert.equal((await stripe.deliver(service.baseUrl, event)).status, 200);
  assert.equal(await statusOf(code), "EsignPending");
});

test("forged, altered, stale and unsigned events get a 400 and change nothing", async () => {
  const { code, sessionId } = await placeOrder();
  const event = stripe.pay(sessionId);
  const body = JSON.stringify(event);
  const long = new Date(Date.now() - 301_000);
  const signed = (text: string): [string, string] => [text, stripe.sign(text)];
  const tries: [string, string | undefined][] = [
    [body, undefined],
    [body, "t=1,v1=00"],
    [body, "nonsense"],
    [body, stripe.sign(body, { secret: "whsec_other" })],
    [body, stripe.sign(body, { at: long })],
    [`${body} `, stripe.sign(body)],
    [body.replace("usd", "eur"), stripe.sign(body)],
    ["", stripe.sign("")],
    ["[", stripe.sign("[")],
    [body, stripe.sign(body, { at: new Date(Date.now() + 310_000) })],
    ...["null", "{}", "[]", "1", '""', '{"id":"evt_1"}', '{"id":1,"type":"x","data":{"object":{}}}'].map(signed),
    ...['{"id":"evt_1","type":"charge.refunded"}', '{"id":"evt_1","type":"x","data":{"object":null}}'].map(signed),
  ];
  for (const [sent, signature] of tries) {
    const response = await fetch(`${service.baseUrl}/api/payments/stripe/webhook`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(signature && { "Stripe-Signature": signature }) },
      body: sent,
    });
    assert.equal(response.status, 400, String(signature));
  }
  assert.equal(await statusOf(code), "QuoteReady");
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /processor_events_total\{type="other",outcome="forged"\} \d/);
});

test("a signed event with a NUL in a text gets a 400", async () => {
  const { code, sessionId } = await placeOrder();
  const nul = String.fromCharCode(0);
  const event = stripe.pay(sessionId);
  for (const broken of [
    { ...event, id: `evt${nul}` },
    { ...event, type: `checkout${nul}` },
    { ...event, data: { object: { id: nul, metadata: { order_code: nul } } } },
  ]) {
    const body = JSON.stringify(broken);
    const response = await fetch(`${service.baseUrl}/api/payments/stripe/webhook`, {
      method: "POST",
      headers: { "Stripe-Signature": stripe.sign(body) },
      body,
    });
    assert.equal(response.status, 400, body);
  }
  assert.equal(await statusOf(code), "QuoteReady");
});

test("a wrong amount holds the order visibly, and a person may refund it", async () => {
  const { code, sessionId } = await placeOrder();
  await stripe.deliver(service.baseUrl, stripe.pay(sessionId, { amount_total: 1 }));
  assert.equal(await statusOf(code), "OnHold");
  await service.cli("order", "move", code, "RefundPending", "--reason", "wrong sum");
  await until(() => stripe.refunds.length === 1);
  const intent = stripe.sessions.get(sessionId)?.["payment_intent"];
  assert.equal(stripe.refunds[0]?.["payment_intent"], intent);
  assert.equal(await statusOf(code), "RefundPending");
  await stripe.deliver(service.baseUrl, stripe.event("charge.refunded", { payment_intent: intent, refunded: true }));
  assert.equal(await statusOf(code), "Refunded");
});

test("events of unknown orders are answered, logged and counted", async () => {
  const event = stripe.event("checkout.session.completed", { id: "cs_foreign", client_reference_id: "f".repeat(40) });
  assert.equal((await stripe.deliver(service.baseUrl, event)).status, 200);
  await until(() => service.stderr().includes("an event of the processor is not ours"));
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /processor_events_total\{type="checkout.session.completed",outcome="unknown"\} 1/);
});

test("a test event pays nothing with a live key, even if it is signed", async () => {
  const { code, sessionId } = await placeOrder();
  const event = { ...stripe.pay(sessionId), livemode: false };
  assert.equal((await stripe.deliver(service.baseUrl, event)).status, 200);
  assert.equal(await statusOf(code), "QuoteReady");
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /processor_events_total\{type="checkout.session.completed",outcome="foreign"\} 1/);
});

test("a canceled order's checkout is closed at the processor", async () => {
  const { code, sessionId } = await placeOrder();
  await service.cli("order", "move", code, "Cancelled", "--reason", "asked by the client");
  await until(() => stripe.sessions.get(sessionId)?.["status"] === "expired");
  await stripe.deliver(
    service.baseUrl,
    stripe.event("checkout.session.expired", { ...stripe.sessions.get(sessionId) }),
  );
  assert.equal(await statusOf(code), "Cancelled");
});

test("an event of a killed service never moves an order partially: it is applied completely when sent again", async () => {
  const { code, sessionId } = await placeOrder();
  const event = stripe.pay(sessionId);
  const cut = stripe.deliver(service.baseUrl, event).catch(() => null);
  await service.kill();
  await cut;
  service = await service.restart();
  await stripe.deliver(service.baseUrl, event);
  assert.equal(await statusOf(code), "EsignPending");
  const { payments } = await service.cli<{ payments: object[] }>("order", "show", code);
  assert.equal(payments.length, 1);
});

test("test orders never reach a processor that moves money", async () => {
  const { headers: testHeaders } = await newPartner(service);
  const asked = stripe.requests.length;
  const body = orderForm({ ...minimal, create_checkout: "true" });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers: testHeaders, body });
  const order = (await response.json()) as Order;
  assert.equal(order.checkoutUrl, null);
  const checkout = `${service.baseUrl}/api/partner/orders/${order.orderCode}/checkout`;
  assert.equal((await fetch(checkout, { method: "POST", headers: testHeaders })).status, 503);
  assert.equal(stripe.requests.length, asked);
});
