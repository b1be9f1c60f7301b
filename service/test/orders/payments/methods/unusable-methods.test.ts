import assert from "node:assert/strict";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import type { MethodOutcome } from "@signsealship/testing/doubles/stripe-firm";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { sendCharges } from "../../../../src/orders/payments/charges/send-charges.ts";
import { chargeByMember, chargeGroup, chargesOfCode } from "../../../../src/orders/payments/payments.ts";
import { activeMethod, selectMethods, updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { openMoneyWorld, type PayingFirm } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, orders } = world;

/** A firm with a card or a bank account on file, and two orders that it pays by one payment. */
async function paying(kind: "card" | "bank", outcome: MethodOutcome = "succeeded") {
  await db.query(sql`DELETE FROM jobs`);
  const firm = await world.newFirm();
  const before = await activeMethod(db, firm.owner);
  if (kind === "bank") {
    const saved = { method: firm.method, kind, brand: "ELM BANK", last4: "6789", expires: null } as const;
    await db.transaction((tx) => updateMethod(tx, before?.id ?? "", { state: "active", saved }));
  }
  stripe.firm.outcomes.set(firm.method, outcome);
  const { partnerId } = firm.owner;
  const codes = [
    await orders.insert("QuoteReady", { partnerId, payBy: "firm" }),
    await orders.insert("QuoteReady", { partnerId, payBy: "firm" }),
  ];
  const members = () => Promise.all(codes.map(async (code) => ({ id: await world.orderIdOf(code), code })));
  await chargeGroup(deps, firm.principal, members, { record: async () => {}, resultOf: (charged) => charged });
  await runJobs();
  const intent = [...stripe.firm.intents.values()].find(({ customer }) => customer === firm.customer);
  return { firm, codes, intent: String(intent?.["id"]) };
}

async function runJobs(): Promise<void> {
  for (const job of await world.waitingJobs()) assert.equal(await world.run(job), true, job.queue);
}

const stateOf = async ({ owner }: PayingFirm) => (await selectMethods(db, owner))[0]?.state;
const mails = () =>
  db.query(sql`SELECT FROM jobs WHERE queue = 'payment-method-mail' AND payload ->> 'moment' = 'unusable'`);
const linesOf = async ({ owner }: PayingFirm) =>
  (
    await db.query<{ reason: string }>(sql`
      SELECT detail ->> 'reason' AS reason FROM audit_log
      WHERE partner_id = ${owner.partnerId} AND action = 'payment_method.unusable'`)
  ).map(({ reason }) => reason);
const mandate = (method: string, status: string) =>
  stripe.event("mandate.updated", { id: "mandate_1", object: "mandate", payment_method: method, status });
const take = (event: StripeEvent) => world.take(event);

/** Asserts that nothing more is charged to the firm's method. */
async function requireNoCharge(firm: PayingFirm): Promise<void> {
  const before = stripe.firm.intents.size;
  const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await assert.rejects(chargeByMember(deps, firm.principal, code), /no card or bank account on file/);
  await runJobs();
  assert.equal(stripe.firm.intents.size, before);
}

test("an ended mandate makes the bank account unusable once, however often its event comes", async () => {
  const { firm } = await paying("bank");
  await take(mandate(firm.method, "active"));
  await take(mandate(firm.method, "pending"));
  assert.equal(await stateOf(firm), "active");
  const event = mandate(firm.method, "inactive");
  await Promise.all([take(event), take(event), take({ ...event, id: `${event.id}again` })]);
  assert.equal(await stateOf(firm), "unusable");
  assert.deepEqual(await linesOf(firm), ["mandate_ended"]);
  await requireNoCharge(firm);
  // The processor never reactivates an ended mandate. So an event that calls the mandate active changes nothing.
  await take(mandate(firm.method, "active"));
  assert.equal(await stateOf(firm), "unusable");
});

test("a lasting refusal counts although the event of its canceled payment comes before the answer", async () => {
  const { firm } = await paying("bank", "processing");
  const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await chargeByMember(deps, firm.principal, code);
  const { firm: account } = deps.processor;
  const charge: typeof account.charge = async (request) => {
    const answer = await account.charge(request);
    await take(stripe.chargeEvent(answer.paymentIntent ?? ""));
    assert.equal((await chargesOfCode(db, code))[0]?.state, "failed");
    return answer;
  };
  const processor = { ...deps.processor, firm: { ...account, charge } };
  stripe.fail({ status: 400, code: "bank_account_restricted" });
  await sendCharges({ ...deps, processor }, { orderId: await world.orderIdOf(code) }, false);
  const [ended] = await chargesOfCode(db, code);
  assert.deepEqual([ended?.state, ended?.reason], ["failed", "bank_account_restricted"]);
  assert.equal(await stateOf(firm), "unusable");
  assert.deepEqual(await linesOf(firm), ["refused_by_bank"]);
});

test("a mandate of an account that no firm has on file changes nothing", async () => {
  const { firm } = await paying("bank");
  assert.equal(await take(mandate("pm_unknown", "inactive")), true);
  assert.equal(await stateOf(firm), "active");
});

test("a debit that is returned after it was accepted makes the account unusable, also before its payment's event", async () => {
  for (const isEarly of [false, true]) {
    const { firm, codes, intent } = await paying("bank", "processing");
    stripe.firm.bankAnswers(intent, "succeeded");
    const paid = stripe.chargeEvent(intent);
    const returned = stripe.dispute(intent, {});
    for (const event of isEarly ? [returned, paid] : [paid, returned]) await take(event);
    assert.equal(await stateOf(firm), "unusable");
    assert.deepEqual(await linesOf(firm), ["debit_returned"]);
    for (const code of codes) assert.equal((await orders.look(code)).status, "OnHold");
    await requireNoCharge(firm);
  }
});

test("a debit whose dispute the bank decided for the service stays in use, in whatever order the events come", async () => {
  for (const order of [
    ["paid", "won"],
    ["won", "paid"],
    ["won", "opened", "paid"],
    ["paid", "won", "opened"],
  ] as const) {
    const { firm, intent } = await paying("bank", "processing");
    stripe.firm.bankAnswers(intent, "succeeded");
    const paid = stripe.chargeEvent(intent);
    const opened = stripe.dispute(intent, {});
    const won = stripe.endDispute(String(opened.data.object["id"]), "won");
    const events = { paid, opened, won };
    for (const name of order) await take(events[name]);
    assert.equal(await stateOf(firm), "active", order.join(", "));
    assert.deepEqual(await linesOf(firm), []);
  }
});

test("an ended mandate of a card leaves the card in use, because cards are charged without mandates", async () => {
  const { firm } = await paying("card");
  await take(mandate(firm.method, "inactive"));
  assert.equal(await stateOf(firm), "active");
  assert.deepEqual([await linesOf(firm), await mails()], [[], []]);
});

test("a card stays in use after a dispute", async () => {
  const { firm, intent } = await paying("card");
  await take(stripe.chargeEvent(intent));
  await take(stripe.dispute(intent, {}));
  assert.equal(await stateOf(firm), "active");
});

test("a failed debit makes the account unusable only for a lasting reason", async () => {
  for (const [code, state] of [
    ["insufficient_funds", "active"],
    ["account_closed", "unusable"],
    ["debit_not_authorized", "unusable"],
  ] as const) {
    const { firm, codes, intent } = await paying("bank", "processing");
    stripe.firm.bankAnswers(intent, "failed");
    const event = stripe.chargeEvent(intent);
    await take({ ...event, data: { object: { ...event.data.object, last_payment_error: { code } } } });
    assert.equal(await stateOf(firm), state, code);
    for (const each of codes) assert.equal((await orders.look(each)).status, "PaymentFailed");
  }
});

test("a charge that the processor refuses because of its mandate makes the account unusable without an event", async () => {
  const { firm, codes } = await paying("bank", "mandate_invalid");
  assert.equal(await stateOf(firm), "unusable");
  assert.deepEqual(await linesOf(firm), ["refused_by_bank"]);
  for (const code of codes) {
    const [charge] = await chargesOfCode(db, code);
    assert.deepEqual([charge?.state, charge?.reason], ["declined", "payment_intent_mandate_invalid"]);
  }
  await requireNoCharge(firm);
});

test("a charge that was requested before the account became unusable is not sent", async () => {
  const { firm } = await paying("bank");
  const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await chargeByMember(deps, firm.principal, code);
  await take(mandate(firm.method, "inactive"));
  const before = stripe.firm.intents.size;
  await runJobs();
  const [charge] = await chargesOfCode(db, code);
  assert.deepEqual([charge?.state, charge?.reason], ["refused", "method_unusable"]);
  assert.equal(stripe.firm.intents.size, before);
});

test("no event about an earlier account makes the present one unusable", async () => {
  const { firm, intent } = await paying("bank");
  await take(stripe.chargeEvent(intent));
  const old = await activeMethod(db, firm.owner);
  await db.transaction((tx) => updateMethod(tx, old?.id ?? "", { state: "removed" }));
  await take(stripe.dispute(intent, {}));
  await take(mandate(firm.method, "inactive"));
  assert.equal(await stateOf(firm), "removed");
  assert.deepEqual([await linesOf(firm), await mails()], [[], []]);
});
