import assert from "node:assert/strict";
import { after, test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { authenticate, rowMacOf } from "@signsealship/testing/row-mac";
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

async function placeOrder(): Promise<string> {
  const body = orderForm({ ...minimal, svc_sign: "true" });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  return ((await response.json()) as { orderCode: string }).orderCode;
}

async function checkout(code: string) {
  const response = await fetch(`${service.baseUrl}/api/partner/orders/${code}/checkout`, { method: "POST", headers });
  const body = (await response.json()) as { checkoutUrl?: string; error?: string };
  return { status: response.status, error: body.error, session: stripe.sessionOf(body.checkoutUrl ?? "") };
}

async function openCheckout(code: string): Promise<string> {
  const { status, error, session } = await checkout(code);
  assert.equal(status, 200, error);
  return session;
}

const deliver = (event: ReturnType<typeof stripe.event>) => stripe.deliver(service.baseUrl, event);
async function endsSoon(sessionId: string | null): Promise<void> {
  await db.query(
    sql`UPDATE checkout_sessions SET expires_at = now() + interval '4 min' WHERE session_id IS NOT DISTINCT FROM ${sessionId}::text`,
  );
  await authenticate({ db, rowMac: await rowMacOf(folder.path) }, "checkout_sessions");
}
const stateOf = (sessionId: string) => stripe.sessions.get(sessionId)?.["status"];
const isOpen = (sessionId: string) => stateOf(sessionId) === "open";
const sessionsOf = async (code: string) =>
  (
    await db.query<{ status: string }>(sql`
      SELECT s.status FROM checkout_sessions s JOIN orders o ON o.id = s.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY s.created_at, s.status`)
  ).map(({ status }) => status);

async function orderOf(code: string): Promise<{ status: string; payments: object[] }> {
  return service.cli<{ status: string; payments: object[] }>("order", "show", code);
}

const openAtProcessor = (code: string) =>
  [...stripe.sessions.values()].filter((each) => each["client_reference_id"] === code && each["status"] === "open");

test("refuses a second checkout while a bank debit is in process, and collects its money once", async () => {
  const code = await placeOrder();
  const session = await openCheckout(code);
  await deliver(stripe.payByBank(session));
  assert.equal((await orderOf(code)).status, "AwaitingPayment");
  const refused = await checkout(code);
  assert.equal(refused.status, 409);
  assert.match(refused.error ?? "", /^A bank payment is being processed\./);
  assert.deepEqual(openAtProcessor(code), []);
  await deliver(stripe.bankAnswers(session, "succeeded"));
  const { status, payments } = await orderOf(code);
  assert.deepEqual([status, payments.length], ["EsignPending", 1]);
});

test("offers a checkout again once the bank has refused its debit, and has a task for that until it is paid", async () => {
  const code = await placeOrder();
  const session = await openCheckout(code);
  await deliver(stripe.payByBank(session));
  await deliver(stripe.bankAnswers(session, "failed"));
  assert.equal((await orderOf(code)).status, "PaymentFailed");
  const taskOf = () =>
    db.query<{ state: string; reason: string }>(sql`
      SELECT t.state, t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
      WHERE t.kind = 'debit_failed' AND ${isSealed(sql`o.code`, "order", code)}`);
  const [task, ...more] = await taskOf();
  assert.match(task?.reason ?? "", /A debit of the payer’s bank account failed/);
  assert.deepEqual([task?.state, more], ["open", []]);
  const next = await openCheckout(code);
  assert.notEqual(next, session);
  await deliver(stripe.pay(next));
  assert.equal((await orderOf(code)).status, "EsignPending");
  assert.equal((await taskOf())[0]?.state, "done");
});

test("keeps a debit's money when its events come in reverse order", async () => {
  const code = await placeOrder();
  const session = await openCheckout(code);
  const begun = stripe.payByBank(session);
  await deliver(stripe.bankAnswers(session, "succeeded"));
  await deliver(begun);
  assert.equal((await orderOf(code)).status, "EsignPending");
  assert.deepEqual(await sessionsOf(code), ["complete"]);
});

test("shows no button to pay on the order's page while a bank debit is in process", async () => {
  const code = await placeOrder();
  const page = async () => (await fetch(`${service.baseUrl}/orders/${code}`)).text();
  assert.match(await page(), new RegExp(`/orders/${code}/checkout"`));
  await deliver(stripe.payByBank(await openCheckout(code)));
  const text = await page();
  assert.doesNotMatch(text, new RegExp(`/orders/${code}/checkout"`));
  assert.match(text, /Your bank payment is being processed/);
});

test("ends a session at the processor before another replaces it", async () => {
  const code = await placeOrder();
  const first = await openCheckout(code);
  await endsSoon(first);
  const second = await openCheckout(code);
  assert.notEqual(second, first);
  assert.equal(stateOf(first), "expired");
  assert.equal((await fetch(`${stripe.url}/c/pay/${first}`, { method: "POST" })).status, 410);
  assert.deepEqual(await sessionsOf(code), ["expired", "open"]);
  await deliver(stripe.pay(second));
  assert.equal((await orderOf(code)).status, "EsignPending");
});

test("replaces no session that was paid a moment ago, and its event still pays the order", async () => {
  const code = await placeOrder();
  const session = await openCheckout(code);
  await endsSoon(session);
  const paid = stripe.pay(session);
  const refused = await checkout(code);
  assert.deepEqual([refused.status, refused.error], [409, "A payment was just made. Wait a moment."]);
  await deliver(paid);
  const { status, payments } = await orderOf(code);
  assert.deepEqual([status, payments.length], ["EsignPending", 1]);
});

test("keeps the old session on record when the processor cannot be asked to end it", async () => {
  const code = await placeOrder();
  const first = await openCheckout(code);
  await endsSoon(first);
  stripe.fail({ status: 500 }, { status: 500 });
  assert.equal((await checkout(code)).status, 502);
  assert.ok(isOpen(first));
  assert.deepEqual(await sessionsOf(code), ["replacing"]);
  await openCheckout(code);
  assert.equal(stateOf(first), "expired");
});

test("twenty concurrent requests replace a session by one", async () => {
  const code = await placeOrder();
  await endsSoon(await openCheckout(code));
  const answers = await Promise.all(Array.from({ length: 20 }, () => checkout(code)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), JSON.stringify(answers));
  assert.equal(new Set(answers.map(({ session }) => session)).size, 1);
  assert.equal(openAtProcessor(code).length, 1);
});

test("ends a session whose creation was interrupted, even if nobody knows its id", async () => {
  const code = await placeOrder();
  stripe.fail("cut", "cut");
  assert.equal((await checkout(code)).status, 502);
  assert.equal(openAtProcessor(code).length, 1);
  await service.cli("order", "move", code, "Cancelled", "--reason", "asked by the client");
  await until(() => openAtProcessor(code).length === 0);
});

test("counts a debit by a session whose creation was interrupted", async () => {
  const code = await placeOrder();
  stripe.fail("cut", "cut");
  assert.equal((await checkout(code)).status, 502);
  const session = String(openAtProcessor(code)[0]?.["id"]);
  await deliver(stripe.payByBank(session));
  assert.equal((await checkout(code)).status, 409);
  await deliver(stripe.bankAnswers(session, "succeeded"));
  const { status, payments } = await orderOf(code);
  assert.deepEqual([status, payments.length], ["EsignPending", 1]);
});

test("finds a session whose creation was interrupted and that was paid, after the processor forgot its key", async () => {
  const code = await placeOrder();
  stripe.fail("cut", "cut");
  assert.equal((await checkout(code)).status, 502);
  const session = String(openAtProcessor(code)[0]?.["id"]);
  // The event of this debit doesn't arrive.
  stripe.payByBank(session);
  stripe.forgetKeys();
  await endsSoon(null);
  const again = await checkout(code);
  assert.deepEqual([again.status, again.error], [409, "A payment was just made. Wait a moment."]);
  assert.deepEqual(openAtProcessor(code), []);
});

// Each cut loses one of four responses: to the look-up of the old session, to its expiry, to the look-up after the
// expiry, or to the creation of the new session.
for (const [cut, answered] of [
  ["before the processor was asked", 0],
  ["before the processor ended the old session", 1],
  ["after the processor ended the old session", 2],
  ["while the new session is minted", 3],
] as const)
  test(`leaves one payable session after a kill ${cut}`, async () => {
    const code = await placeOrder();
    const first = await openCheckout(code);
    await endsSoon(first);
    const before = stripe.requests.length;
    stripe.hangAfter(answered);
    const lost = checkout(code).catch(() => null);
    await until(() => stripe.requests.length === before + answered + 1);
    await service.kill();
    await lost;
    service = await service.restart();
    const next = await openCheckout(code);
    assert.deepEqual([stateOf(first), stateOf(next), openAtProcessor(code).length], ["expired", "open", 1]);
    await deliver(stripe.pay(next));
    const { status, payments } = await orderOf(code);
    assert.deepEqual([status, payments.length], ["EsignPending", 1]);
  });
