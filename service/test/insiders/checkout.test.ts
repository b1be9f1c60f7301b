import assert from "node:assert/strict";
import { test } from "node:test";
import { type StripeEvent, startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { postForm } from "../firms/members/signed-in-member.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { openInsider } from "./insider.ts";

const stripe = await forTests(startStripe());
const running = await forTests(openHarness(stripe.settings("live")));
const insider = await forTests(openInsider(running.service.dataDir));
const { headers } = await newPartner(running.service, { live: true });
const approver = await newOperator(running, { roles: ["approver"] });

async function placeOrder() {
  const body = orderForm({ ...minimal, svc_sign: "true", create_checkout: "true" });
  const placed = await fetch(`${running.service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode: code, checkoutUrl } = (await placed.json()) as { orderCode: string; checkoutUrl: string };
  const [row] = await insider.run<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  return { code, id: row?.id ?? 0, sessionId: stripe.sessionOf(checkoutUrl) };
}

type Order = Awaited<ReturnType<typeof placeOrder>>;

const deliver = async (event: StripeEvent) => (await stripe.deliver(running.service.baseUrl, event)).status;
const statusOf = async ({ id }: Order) =>
  (await insider.run<{ status: string }>(sql`SELECT status FROM orders WHERE id = ${id}`))[0]?.status;
const checkout = ({ code }: Order) =>
  fetch(`${running.service.baseUrl}/api/partner/orders/${code}/checkout`, { method: "POST", headers });
const paymentsPage = async () =>
  (await fetch(`${running.service.baseUrl}/operator/payments`, { headers: { cookie: approver.cookie } })).text();
const resolve = (eventId: string) =>
  postForm(
    `${running.service.baseUrl}/operator/payments/${eventId}/resolve`,
    { note: "sent back" },
    { cookie: approver.cookie, Accept: "text/html" },
  );

async function isRefused(answer: Response): Promise<void> {
  const text = await answer.text();
  assert.equal(answer.status, 503, text);
  assert.match(text, /not what the service wrote/);
}

/** An order that was canceled before its money arrived, and the event about the money. */
async function unappliedMoney() {
  const order = await placeOrder();
  await running.service.cli("order", "move", order.code, "Cancelled", "--reason", "not wanted");
  const paid = stripe.pay(order.sessionId);
  assert.equal(await deliver(paid), 200);
  return { order, paid };
}

test("money pays no order to which its session was moved in the database", async () => {
  const [mine, victim] = [await placeOrder(), await placeOrder()];
  const paid = stripe.pay(victim.sessionId);
  for (const statement of [
    sql`UPDATE checkout_sessions SET order_id = ${mine.id} WHERE session_id = ${victim.sessionId}`,
    sql`DELETE FROM checkout_sessions WHERE session_id = ${victim.sessionId}`,
  ])
    await assert.rejects(insider.run(statement), /append-only/, statement.text);
  await insider.run(sql`
    UPDATE checkout_sessions SET session_id = NULL, status = 'failed' WHERE order_id = ${victim.id}`);
  await insider.run(sql`UPDATE checkout_sessions SET session_id = ${victim.sessionId} WHERE order_id = ${mine.id}`);
  assert.equal(await deliver(paid), 503, "the processor sends it again");
  assert.deepEqual([await statusOf(mine), await statusOf(victim)], ["QuoteReady", "QuoteReady"]);
});

test("redirects no payer to an address that somebody wrote into the database", async () => {
  for (const change of [
    sql`url = 'https://pay.example/'`,
    sql`amount_cents = 1`,
    sql`expires_at = now() + interval '1 day'`,
    sql`row_mac = NULL`,
  ]) {
    const order = await placeOrder();
    assert.equal((await checkout(order)).status, 200);
    await insider.run(sql`UPDATE checkout_sessions SET ${change} WHERE order_id = ${order.id}`);
    await isRefused(await checkout(order));
  }
});

test("an earlier row of a session with its earlier MAC proves nothing", async () => {
  const order = await placeOrder();
  type Kept = { version: number; mac: Buffer; status: string };
  const [before] = await insider.run<Kept>(sql`
    SELECT state_version AS version, row_mac AS mac, status FROM checkout_sessions WHERE order_id = ${order.id}`);
  assert.ok(before);
  const expired = stripe.event("checkout.session.expired", { id: order.sessionId });
  assert.equal(await deliver(expired), 200);
  await insider.run(sql`
    UPDATE checkout_sessions SET status = ${before.status}, state_version = ${before.version}, row_mac = ${before.mac}
    WHERE order_id = ${order.id}`);
  await isRefused(await checkout(order));
});

const eventId = (paid: { id: string }): Statement => sql`event_id = ${paid.id}`;

test("keeps showing money that moved no order, whatever happens to the processor's event", async () => {
  const { paid } = await unappliedMoney();
  for (const change of [sql`outcome = 'moved'`, sql`order_id = NULL`])
    await assert.rejects(
      insider.run(sql`UPDATE processor_events SET ${change} WHERE ${eventId(paid)}`),
      /append-only/,
      change.text,
    );
  await assert.rejects(insider.run(sql`DELETE FROM processor_events WHERE ${eventId(paid)}`), /permission denied/);
  assert.match(await paymentsPage(), new RegExp(String(paid.data.object["payment_intent"])));
  assert.equal((await resolve(paid.id)).status, 303);
});

test("asks nobody to return money because of an inserted event, and does not treat it as a repetition", async () => {
  const order = await placeOrder();
  const paid = stripe.pay(order.sessionId);
  await insider.run(sql`
    INSERT INTO processor_events (event_id, type, order_id, outcome, received_at, row_mac)
    VALUES (${paid.id}, 'checkout.session.completed', ${order.id}, 'unapplied', now(), (SELECT row_mac FROM payments LIMIT 1))`);
  assert.match(await paymentsPage(), /Altered outside the service/);
  await isRefused(await resolve(paid.id));
  assert.equal(await deliver(paid), 503, "the processor sends it again");
  assert.equal(await statusOf(order), "QuoteReady");
});

test("an inserted note on a payment resolves nothing", async () => {
  const { paid } = await unappliedMoney();
  await insider.run(sql`
    INSERT INTO payment_resolutions (event_id, resolved_by, resolved_at, note)
    VALUES (${paid.id}, ${approver.id}, now(), 'planted note')`);
  const page = await paymentsPage();
  assert.doesNotMatch(page, /planted note/);
  assert.match(page, new RegExp(String(paid.data.object["payment_intent"])));
  await isRefused(await resolve(paid.id));
  const { paid: other } = await unappliedMoney();
  assert.equal((await resolve(other.id)).status, 303);
  await assert.rejects(
    insider.run(sql`UPDATE payment_resolutions SET note = 'x' WHERE ${eventId(other)}`),
    /permission denied/,
  );
});
