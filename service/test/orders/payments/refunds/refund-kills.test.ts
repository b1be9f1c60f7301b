import assert from "node:assert/strict";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { type Order, openKillsWorld } from "../kills-world.ts";

const world = await forTests(openKillsWorld());
const { stripe, agent, approver, post, statusOf, killAt, killAsking, deliver, rows, audited } = world;

/**
 * The subjects of all expected mails about a paid order, to the firm and to the client. Adds the two mails that every
 * client gets.
 */
const told = (firm: string[], client: string[]) => ({
  firm,
  client: ["Your document: please sign", "Your quote is ready", ...client]
    .map((words) => `[Acme Title] ${words}`)
    .sort(),
});
const ask = (order: string, amount = "") => post("/operator/refunds", agent, { order, amount, reason: "paid twice" });
const approve = (id: string) => post(`/operator/refunds/${id}/approve`, approver);
const requests = (code: string, state: string) => rows(sql`refund_requests`, code, sql`t.state = ${state}`);
const tasks = (code: string, kind: string, state: string) =>
  rows(sql`tasks`, code, sql`t.kind = ${kind} AND t.state = ${state}`);
const documents = (code: string, kind: string) =>
  rows(
    sql`(SELECT d.kind, p.order_id FROM billing_documents d JOIN payments p ON p.id = d.payment_id)`,
    code,
    sql`t.kind = ${kind}`,
  );
const refundsOf = (intent: string) => stripe.refunds.filter((each) => each["payment_intent"] === intent);

/**
 * Requests a refund twice. The first time, the service is killed before it records the request.
 * @returns the id of the second request
 */
async function asked({ code }: Order, amount?: string): Promise<string> {
  await killAt(sql`refund_requests`, () => ask(code, amount));
  assert.deepEqual([await rows(sql`refund_requests`, code), await rows(sql`tasks`, code)], [0, 0]);
  const answer = await ask(code, amount);
  assert.equal(answer.status, 303, await answer.text());
  return /refunds\/([0-9a-f-]{36})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
}

/**
 * Asserts that the processor made one refund, and delivers its events. Kills the service before the commit of the
 * first.
 */
async function creditedOnce({ code, intent }: Order): Promise<void> {
  await world.idle();
  const [refund, ...more] = refundsOf(intent);
  assert.ok(refund && more.length === 0);
  const events = stripe.refundEvents(refund);
  await killAt(sql`billing_documents`, () => deliver(...events));
  assert.equal(await documents(code, "credit_note"), 0);
  assert.equal(await rows(sql`processor_events`, code, sql`starts_with(t.type, 'refund')`), 0);
  await deliver(...events);
  assert.equal(await documents(code, "credit_note"), 1);
  await world.requireBooks(code);
}

test("a part that two people refund, killed at each step: it goes back once, with one credit note", async () => {
  const order = await world.paidOrder();
  const { code, intent } = order;
  const id = await asked(order, "5.00");

  await killAt(sql`audit_log`, () => approve(id));
  assert.deepEqual([await requests(code, "requested"), await tasks(code, "refund_approval", "open")], [1, 1]);
  assert.equal(refundsOf(intent).length, 0);

  await killAsking("POST /v1/refunds", () => approve(id));
  assert.equal((await approve(id)).status, 409);
  await creditedOnce(order);
  assert.equal(refundsOf(intent)[0]?.["amount"], 500);
  assert.equal(await statusOf(code), "EsignPending");
  assert.deepEqual(await audited(code, "refund."), ["refund.requested", "refund.approved"]);
  assert.deepEqual(
    await world.subjects(order),
    told(["A payment of the client was refunded in part"], ["Part of your payment was refunded"]),
  );
});

test("a whole order that two people refund, killed at each step: it goes back once, and the order ends", async () => {
  const order = await world.paidOrder();
  const { code, intent } = order;
  const id = await asked(order);

  await killAt(sql`orders`, () => approve(id));
  assert.deepEqual([await statusOf(code), await requests(code, "requested")], ["EsignPending", 1]);
  assert.equal(refundsOf(intent).length, 0);

  await killAsking("POST /v1/refunds", () => approve(id));
  assert.equal((await approve(id)).status, 409);
  assert.equal(await statusOf(code), "RefundPending");
  await creditedOnce(order);
  assert.equal(await statusOf(code), "Refunded");
  assert.deepEqual(await audited(code, "refund."), ["refund.requested", "refund.approved"]);
  assert.deepEqual(await world.subjects(order), told(["An order of your firm was refunded"], ["Payment refunded"]));
});

/**
 * Delivers an event about a dispute, with a kill before its commit. @param done returns true if the event has been
 * applied
 */
async function disputed(event: StripeEvent, done: () => Promise<boolean>): Promise<void> {
  await killAt(sql`tasks`, () => deliver(event));
  assert.equal(await done(), false);
  await deliver(event);
  assert.equal(await done(), true);
}

test("a dispute, killed when it is opened and when it is won: the order is held once, and a part that waited goes back once", async () => {
  const order = await world.paidOrder();
  const { code, intent } = order;
  const opened = stripe.dispute(intent);
  const id = String(opened.data.object["id"]);
  await killAt(sql`orders`, () => deliver(opened));
  assert.deepEqual([await statusOf(code), await rows(sql`tasks`, code)], ["EsignPending", 0]);
  await deliver(opened);
  assert.deepEqual([await statusOf(code), await tasks(code, "dispute", "open")], ["OnHold", 1]);
  const answer = await ask(code, "5.00");
  await approve(/refunds\/([0-9a-f-]{36})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "");
  await world.idle();

  const won = stripe.endDispute(id, "won");
  await disputed(won, async () => (await tasks(code, "dispute", "open")) === 0);
  await until(() => refundsOf(intent).length === 1);
  await creditedOnce(order);
  assert.deepEqual(
    await world.subjects(order),
    told(
      [
        "A bank asks for a payment back",
        "A bank left a payment with us",
        "A payment of the client was refunded in part",
      ],
      ["Part of your payment was refunded", "Your order is on hold"],
    ),
  );
});

test("a dispute, killed when it is lost, when the firm's check is booked, and when the bank decides again: each is booked once", async () => {
  const order = await world.paidOrder();
  const { code, intent } = order;
  const opened = stripe.dispute(intent);
  await deliver(opened);
  const later = (event: StripeEvent, seconds: number) => ({ ...event, created: opened.created + seconds });
  const id = String(opened.data.object["id"]);
  await disputed(later(stripe.endDispute(id, "lost"), 1), async () => (await documents(code, "loss")) === 1);
  await world.requireBooks(code);
  const bookings = sql`(SELECT x.id, p.order_id FROM loss_payments x JOIN payments p ON p.id = x.payment_id)`;
  const [payment] = await world.db.query<{ id: number }>(sql`SELECT id FROM payments WHERE payment_intent = ${intent}`);
  const check = { amount: "1.00", how: "check", reference: "1234", received: new Date().toISOString().slice(0, 10) };
  const book = () => post(`/operator/orders/${code}/lost-payments/${payment?.id}`, approver, check);
  await killAt(sql`audit_log`, book);
  assert.equal(await rows(bookings, code), 0);
  assert.deepEqual([(await book()).status, (await book()).status], [303, 409]);
  assert.equal(await rows(bookings, code), 1);
  await world.requireBooks(code);
  await disputed(later(stripe.endDispute(id, "won"), 2), async () => (await documents(code, "loss_reversal")) === 1);
  await world.requireBooks(code);
  assert.deepEqual(
    [await documents(code, "loss"), await tasks(code, "dispute", "open")],
    [1, 1],
    "the check goes back",
  );
  assert.deepEqual(
    await world.subjects(order),
    told(
      [
        "A bank asks for a payment back",
        "A bank left a payment with us",
        "A bank took a payment back",
        "A payment of your firm arrived",
      ],
      ["Your order is on hold"],
    ),
  );
});
