import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { chargeState } from "../../../src/orders/payments/records/charges.ts";
import { openKillsWorld } from "./kills-world.ts";

const world = await forTests(openKillsWorld());
const { stripe, db, url, owner, approver, post, statusOf, killAt, killAsking, killMailing, deliver, rows } = world;

const setup = /cs_test_[0-9a-f]+/.exec(await (await post("/dashboard/billing/method", owner)).text())?.[0] ?? "";
await deliver(...stripe.finishSetup(setup));
await until(async () => (await db.query(sql`SELECT FROM payment_methods WHERE state = 'active'`)).length === 1);
const [method = ""] = stripe.firm.methods.keys();

const look = async (path: string) => (await fetch(url() + path, { headers: { ...owner, Accept: "text/html" } })).text();
/** Charges the amount on the order's page, as an owner. */
async function charge(code: string): Promise<Response> {
  const page = await look(`/dashboard/orders/${code}`);
  const shown = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? "";
  const fields = { total_cents: shown("total_cents"), charged_method: shown("charged_method") };
  return post(`/dashboard/orders/${code}/charge`, owner, fields);
}
type Charge = { id: string; state: string; intent: string | null };
const chargesOf = (code: string) =>
  db.query<Charge>(sql`
    SELECT c.id, c.state, c.payment_intent AS intent FROM firm_charges c JOIN orders o ON o.id = c.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND c.state <> 'refused'`);
const chargeIn = (code: string, state: string) =>
  until(async () => (await chargesOf(code)).find((each) => each.state === state));

test("an overdue charge that a person ends, killed at each step: it is canceled once, and a checkout pays", async () => {
  const client = "ended@example.com";
  const { orderCode: code } = await world.place({
    svc_sign: "true",
    email: client,
    pay_by: "firm",
    create_checkout: "false",
  });
  await world.idle();
  stripe.firm.outcomes.set(method, "processing");
  assert.equal((await charge(code)).status, 303);
  const { id, intent } = await chargeIn(code, "pending");
  stripe.firm.outcomes.delete(method);
  await changeRowsOf(db, chargeState, sql`id = ${id}`, sql`changed_at = changed_at - interval '11 days'`);
  const end = () => post(`/operator/payments/charges/${id}/end`, approver);

  await killAsking(`POST /v1/payment_intents/${intent}/cancel`, end, end);
  assert.equal(stripe.firm.intents.get(intent ?? "")?.["status"], "canceled");
  assert.equal((await chargesOf(code))[0]?.state, "pending");
  await killAt(sql`audit_log`, end);
  assert.equal((await chargesOf(code))[0]?.state, "pending");

  assert.equal((await end()).status, 303);
  assert.equal((await end()).status, 409);
  await deliver(stripe.chargeEvent(intent ?? ""));
  assert.deepEqual(await chargesOf(code), [{ id, state: "failed", intent }]);
  assert.deepEqual(await world.audited(code, "charge."), ["charge.refused", "charge.asked", "charge.ended"]);
  const opened = await fetch(`${url()}/api/partner/orders/${code}/checkout`, {
    method: "POST",
    headers: world.headers,
  });
  const { checkoutUrl } = (await opened.json()) as { checkoutUrl: string };
  await deliver(stripe.pay(stripe.sessionOf(checkoutUrl)));
  assert.deepEqual([await statusOf(code), await rows(sql`payments`, code)], ["EsignPending", 1]);
  await world.requireBooks(code);
  // The service reports overdue charges every five minutes, which may be during this test.
  const sent = (await world.subjects({ code, client })).firm.filter((subject) => !/has not answered/.test(subject));
  assert.deepEqual(sent, ["A bank payment has started", "A payment of your firm failed"]);
});

test("an amount to pay again, killed when it is allowed and at each step of its charge: it is paid once", async () => {
  const order = await world.paidOrder({ pay_by: "firm" });
  const { code, intent } = order;
  const opened = stripe.dispute(intent);
  await deliver(opened);
  await deliver(stripe.endDispute(String(opened.data.object["id"]), "lost"));
  const allow = () => post(`/operator/orders/${code}/pay-again`, approver);
  await killAt(sql`tasks`, allow);
  assert.deepEqual([await rows(sql`supplements`, code), await world.audited(code, "supplement.")], [0, []]);
  assert.equal((await allow()).status, 303);
  assert.equal((await allow()).status, 409);

  await killAt(sql`firm_charges`, () => charge(code));
  assert.deepEqual(await chargesOf(code), []);
  const before = stripe.firm.intents.size;
  await killAsking("POST /v1/payment_intents", () => charge(code));
  const { intent: again } = await chargeIn(code, "answered");
  assert.equal(stripe.firm.intents.size, before + 1);
  const event = stripe.chargeEvent(again ?? "");
  await killAt(sql`supplements`, () => deliver(event));
  assert.deepEqual([await rows(sql`payments`, code), (await chargesOf(code))[0]?.state], [1, "answered"]);
  await deliver(event);
  assert.deepEqual([await rows(sql`payments`, code), (await chargesOf(code))[0]?.state], [2, "succeeded"]);
  assert.deepEqual(await world.audited(code, "supplement."), ["supplement.asked", "supplement.paid"]);
  await world.requireBooks(code);
  assert.deepEqual((await world.subjects(order)).firm, [
    "A bank asks for a payment back",
    "A bank took a payment back",
    "An order can be paid again",
    "An order was paid again",
  ]);
});

test("a limit, killed before it is on record: the earlier one counts, with no audit line of the other", async () => {
  const [, spender = ""] = /name="spender" value="(key:[^"]+)"/.exec(await look("/dashboard/billing")) ?? [];
  const set = (perOrder: string, perMonth: string) =>
    post("/dashboard/billing/limits", owner, { spender, perOrder, perMonth });
  const limits = () =>
    db.query(sql`SELECT order_cents::int AS "perOrder", month_cents::int AS "perMonth" FROM spending_limits`);
  const lines = async () => (await db.query(sql`SELECT FROM audit_log WHERE action = 'spending_limit.set'`)).length;
  await killAt(sql`audit_log`, () => set("100", "500"));
  assert.deepEqual([await limits(), await lines()], [[], 0]);
  assert.equal((await set("100", "500")).status, 303);
  await killAt(sql`audit_log`, () => set("900", "9000"));
  assert.deepEqual([await limits(), await lines()], [[{ perOrder: 10_000, perMonth: 50_000 }], 1]);
});

// `hang`: the mail server never stores the mail. `mute`: it stores the mail, but its response is lost.
for (const [how, sent] of [
  ["hang", 1],
  ["mute", 2],
] as const)
  test(`a mail about money, killed while the mail server has it (${how}): it is sent again under the same id`, async () => {
    const order = await world.paidOrder();
    const opened = stripe.dispute(order.intent);
    await deliver(opened);
    await killMailing(how, () => deliver(stripe.endDispute(String(opened.data.object["id"]), "won")));
    await world.idle();
    const won = world.mailsToFirm(order.code).filter(({ subject }) => subject === "A bank left a payment with us");
    const ids = won.map(({ raw }) => /^Message-ID: (.*)$/im.exec(raw)?.[1]);
    assert.deepEqual([ids.length, new Set(ids).size], [sent, 1]);
  });
