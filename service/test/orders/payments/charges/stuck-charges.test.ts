import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../../src/kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { type MoveDeps, moveOrder } from "../../../../src/orders/fulfilment/fulfilment.ts";
import { spendingRefusal } from "../../../../src/orders/payments/charges/limits.ts";
import { detachQueue } from "../../../../src/orders/payments/methods/methods.ts";
import {
  chargeByMember,
  chargesOfCode,
  checkoutUrl,
  endCharge,
  overdueOf,
  watchPayments,
} from "../../../../src/orders/payments/payments.ts";
import type { ChargeRequest } from "../../../../src/orders/payments/processor/charge-requests.ts";
import { chargeState } from "../../../../src/orders/payments/records/charges.ts";
import { activeMethod, updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { countFirmOrdersOutside } from "../../../../src/orders/search/search.ts";
import { groups } from "../../../../src/pages/dashboard/orders/list/groups.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, orders } = world;
const firm = await world.newFirm();
const { partnerId } = firm.owner;
const minute = 60_000;

/** An order with a charge that is not sent yet. */
async function asked(status = "QuoteReady") {
  await db.query(sql`DELETE FROM jobs`);
  const code = await orders.insert(status, { partnerId, payBy: "firm" });
  await chargeByMember(deps, firm.principal, code);
  const [job] = await world.waitingJobs();
  const [charge] = await chargesOfCode(db, code);
  assert.ok(job && charge);
  return { code, job, charge };
}

/** An order with a sent charge. The event about the charge is overdue. */
async function sent(outcome: "succeeded" | "processing", status?: string) {
  stripe.firm.outcomes.set(firm.method, outcome);
  const { code, job, charge } = await asked(status);
  assert.equal(await world.run(job), true);
  const intent = (await chargesOfCode(db, code))[0]?.paymentIntent ?? "";
  world.advance(outcome === "succeeded" ? 11 * minute : 11 * 24 * 60 * minute);
  return { code, intent, id: charge.id };
}

const end = (id: string, environment: "live" | "test" = "live") =>
  endCharge(deps, { id, environment, actor: "operator:test" });
const stateOf = async (code: string) => (await chargesOfCode(db, code))[0];
const statusOf = async (code: string) => (await orders.look(code)).status;
const intentsOf = (id: string) =>
  [...stripe.firm.intents.values()].filter(({ metadata }) => (metadata as { charge?: string }).charge === id);
const tasksOf = async (code: string) =>
  db.query<{ state: string; reason: string }>(sql`
    SELECT t.state, t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = 'firm_charge' AND ${isSealed(sql`o.code`, "order", code)}`);
const paymentsOf = async (code: string) =>
  db.query(sql`SELECT FROM payments WHERE order_id = ${await world.orderIdOf(code)}`);

test("tries a charge again that could not be sent, by one job under the same key, and tells a person", async () => {
  stripe.firm.outcomes.set(firm.method, "succeeded");
  const { code, job, charge } = await asked();
  await db.query(sql`UPDATE jobs SET failed_at = now(), attempts = 10 WHERE id = ${job.id}`);
  await watchPayments(deps);
  assert.equal((await tasksOf(code)).length, 0, "it is not overdue yet");
  world.advance(11 * minute);
  await watchPayments(deps);
  await watchPayments(deps);
  assert.deepEqual(
    (await tasksOf(code)).map(({ state }) => state),
    ["open"],
  );
  const jobs = await world.waitingJobs();
  assert.deepEqual(
    jobs.map(({ id, attempts }) => [id, attempts]),
    [[job.id, 0]],
  );
  // Deletes every trace of the job.
  await db.query(sql`DELETE FROM jobs`);
  await watchPayments(deps);
  const [again, ...more] = await world.waitingJobs();
  assert.ok(again && more.length === 0);
  stripe.requests.splice(0);
  assert.equal(await world.run(again), true);
  assert.equal((await stateOf(code))?.state, "answered");
  assert.equal(stripe.requests.find(({ method }) => method === "POST")?.idempotencyKey, `charge:${charge.id}`);
});

test("looks for an earlier payment before it charges again when the processor has forgotten the key", async () => {
  const { code, job, charge } = await asked();
  stripe.fail("cut", "cut");
  assert.equal(await world.run(job), false);
  stripe.forgetKeys();
  world.advance(26 * 60 * minute);
  await db.query(sql`DELETE FROM jobs`);
  await watchPayments(deps);
  for (const each of await world.waitingJobs()) await world.run(each);
  assert.equal(intentsOf(charge.id).length, 1);
  assert.equal((await stateOf(code))?.state, "answered");
});

test("ends a charge that was never sent, and a request that arrives later takes no money", async () => {
  const { code, charge } = await asked();
  world.advance(11 * minute);
  await watchPayments(deps);
  await end(charge.id);
  const { state, reason } = (await stateOf(code)) ?? {};
  assert.deepEqual([state, reason], ["failed", "ended"]);
  assert.deepEqual(
    (await tasksOf(code)).map((each) => each.state),
    ["done"],
  );
  const late: ChargeRequest = {
    id: charge.id,
    orderCodes: [code],
    environment: "live",
    firmName: firm.owner.firmName,
    currency: "usd",
    customer: firm.customer,
    method: firm.method,
    kind: "card",
    amountCents: charge.amountCents,
  };
  await assert.rejects(deps.processor.firm.charge(late), /same parameters/);
  assert.deepEqual(
    intentsOf(charge.id).map(({ status }) => status),
    ["canceled"],
  );
  for (const job of await world.waitingJobs()) await world.run(job);
  assert.match(await checkoutUrl(deps, code, null), /cs_test/);
  const [line] = await db.query<{ actor: string }>(sql`
    SELECT actor FROM audit_log WHERE action = 'charge.ended' AND order_id = ${await world.orderIdOf(code)}`);
  assert.equal(line?.actor, "operator:test");
});

test("keeps a charge whose money has arrived, and its event pays the order once", async () => {
  const { code, intent, id } = await sent("succeeded");
  await assert.rejects(end(id), /has the money, and its event did not arrive yet.*Nothing was changed/);
  assert.equal((await stateOf(code))?.state, "answered");
  await world.take(stripe.chargeEvent(intent));
  assert.equal(await statusOf(code), "EsignPending");
  await assert.rejects(end(id), /has ended already/);
  assert.equal((await paymentsOf(code)).length, 1);
});

test("cancels a debit that the bank does not move yet, and keeps one that it moves", async () => {
  const { code, intent, id } = await sent("processing");
  stripe.firm.moving.add(intent);
  await assert.rejects(end(id), /can’t cancel the payment any more/);
  assert.equal((await stateOf(code))?.state, "pending");
  stripe.firm.moving.delete(intent);
  await end(id);
  assert.equal((await stateOf(code))?.state, "failed");
  await world.take(stripe.chargeEvent(intent));
  assert.equal(await statusOf(code), "PaymentFailed", "the order waits for no bank any more");
  const event = stripe.chargeEvent(intent);
  const object = { ...event.data.object, status: "processing" };
  await world.take({ ...event, id: "evt_late", type: "payment_intent.processing", data: { object } });
  assert.equal(await statusOf(code), "PaymentFailed", "a late event does not make it wait again");
  assert.match(await checkoutUrl(deps, code, null), /cs_test/);
  assert.equal((await paymentsOf(code)).length, 0);
});

for (const isCanceled of [true, false])
  test(`an event that arrives while the charge is ended counts: ${isCanceled ? "canceled" : "paid"}`, async () => {
    const { code, intent, id } = await sent("processing");
    const { firm: account } = deps.processor;
    const between: typeof account.end = async (charge, since) => {
      if (!isCanceled) stripe.firm.bankAnswers(intent, "succeeded");
      const answer = await account.end(charge, since);
      await world.take(stripe.chargeEvent(intent));
      return answer;
    };
    const processor = { ...deps.processor, firm: { ...account, end: between } };
    const ending = endCharge({ ...deps, processor }, { id, environment: "live", actor: "operator:test" });
    if (isCanceled) await ending;
    else await assert.rejects(ending, /has the money/);
    assert.equal(await statusOf(code), isCanceled ? "PaymentFailed" : "EsignPending");
    assert.equal((await paymentsOf(code)).length, isCanceled ? 0 : 1);
    assert.equal((await stateOf(code))?.state, isCanceled ? "failed" : "succeeded");
  });

test("a charge that is sent while it is ended takes its money or is over, never both", async () => {
  stripe.firm.outcomes.set(firm.method, "succeeded");
  const results = new Set<string>();
  for (let round = 0; round < repeats(16, 8, 40); round++) {
    const { code, job, charge } = await asked();
    world.advance(11 * minute);
    const wait = new Promise((resolve) => setTimeout(resolve, (round % 8) * 2));
    await Promise.all([world.run(job), wait.then(() => end(charge.id)).catch(() => null)]);
    for (const each of await world.waitingJobs()) await world.run(each);
    const paid = intentsOf(charge.id).filter(({ status }) => status === "succeeded");
    const { state = "" } = (await stateOf(code)) ?? {};
    assert.ok(intentsOf(charge.id).length === 1, "one payment at the processor");
    assert.equal(state === "answered", paid.length === 1, state);
    results.add(state);
  }
  assert.ok(results.size > 0);
});

test("adds an overdue order to a group's count only if the group does not count its status", async () => {
  const { statuses } = groups.attention;
  const owner = firm.owner;
  for (const [status, outside] of [
    ["PaymentFailed", 0],
    ["QuoteReady", 1],
  ] as const) {
    const { code } = await sent("succeeded", status);
    const id = await world.orderIdOf(code);
    assert.ok((await overdueOf(deps, owner)).orderIds.includes(id), `${status} is overdue`);
    assert.equal(await countFirmOrdersOutside(db, owner, [id], statuses), outside, status);
  }
});

test("refuses to end a charge that is not overdue, and one of the other environment", async () => {
  const { charge } = await asked();
  await assert.rejects(end(charge.id), /is under way, and not overdue/);
  await assert.rejects(end(charge.id, "test"), /No such charge/);
  await assert.rejects(end("none"), /No such charge/);
});

test("a processor that does not answer ends nothing", async () => {
  const { code, charge } = await asked();
  world.advance(11 * minute);
  stripe.fail({ status: 500 }, { status: 500 });
  await assert.rejects(end(charge.id), /failed to cancel the payment/);
  assert.equal((await stateOf(code))?.state, "asked");
});

test("a key spends for its own firm and environment alone", async () => {
  const spender = `key:${firm.principal.key?.id}`;
  const refusalFor = (owner: typeof firm.owner) =>
    db.transaction((tx) =>
      spendingRefusal(tx, deps, owner, { spender, amounts: [1] }).then((refusal) => refusal?.reason),
    );
  assert.notEqual(await refusalFor(firm.owner), "left");
  const environment = firm.owner.environment === "live" ? "test" : "live";
  assert.equal(await refusalFor({ ...firm.owner, environment }), "left");
  assert.equal(await refusalFor({ ...firm.owner, partnerId: randomUUID() }), "left");
});

test("a spender's month begins in the time zone of statements", async () => {
  const inMonth = async (at: string, amountCents: number) => {
    const instant = new Date(at);
    return db.transaction((tx) =>
      spendingRefusal(tx, { ...deps, clock: () => instant }, firm.owner, {
        spender: `key:${firm.principal.key?.id}`,
        amounts: [amountCents],
      }).then((refusal) => refusal?.reason ?? null),
    );
  };
  const [spent] = await db.query<{ cents: number; first: Date }>(sql`
    SELECT sum(amount_cents)::int AS cents, min(asked_at) AS first FROM firm_charges
    WHERE partner_id = ${partnerId} AND state IN ('asked', 'answered', 'pending', 'succeeded')`);
  const left = 100_000_000 - (spent?.cents ?? 0);
  const next = new Date(Date.UTC(world.clock().getUTCFullYear(), world.clock().getUTCMonth() + 1, 1)).toISOString();
  const utc = (hour: string) => next.replace("T00", hour);
  // Dates all charges of the firm to 01:00 UTC of the next month's first day. In New York, that is still the current
  // month.
  await db.transaction(async (tx) => {
    await tx.script("ALTER TABLE firm_charges DISABLE TRIGGER firm_charges_stay");
    await tx.query(
      sql`UPDATE firm_charges SET asked_at = ${utc("T02")}::timestamptz - interval '1 hour' WHERE partner_id = ${partnerId}`,
    );
    await writeStateMacs(tx, chargeState, sql`partner_id = ${partnerId}`);
    await tx.script("ALTER TABLE firm_charges ENABLE TRIGGER firm_charges_stay");
  });
  // Three hours after midnight in UTC, it is still the previous month in New York.
  assert.equal(await inMonth(utc("T03"), left + 1), "above_month_limit");
  assert.equal(await inMonth(utc("T03"), left), null);
  assert.equal(await inMonth(utc("T06"), left + 1), null);
});

test("a firm can't cancel an order while its charge or a bank debit is under way; an operator can", async () => {
  const noDocument = () => assert.fail("these moves have no document");
  const blobs = { write: noDocument, discard: noDocument } as unknown as MoveDeps["blobs"];
  const moves: MoveDeps = { ...deps, db, blobs, openSealer: noDocument };
  const cancel = (code: string, actor: string) =>
    moveOrder(moves, { code, to: "Cancelled", actor, document: null, facts: { reason: "not wanted" } });
  const { code: charged } = await sent("processing");
  const banked = await orders.insert("QuoteReady", { partnerId });
  const session = stripe.sessionOf(await checkoutUrl(deps, banked, null));
  await world.take(stripe.payByBank(session));
  for (const code of [charged, banked]) {
    const before = await orders.look(code);
    await assert.rejects(cancel(code, "member:x"), /A payment for this order is under way/);
    assert.deepEqual(await orders.look(code), before);
  }
  await world.take(stripe.bankAnswers(session, "failed"));
  assert.equal((await cancel(banked, "member:x")).status, "Cancelled");
  assert.equal((await cancel(charged, "operator:x")).status, "Cancelled");
});

test("a method that is removed before its charge was sent is forgotten once the charge has ended", async () => {
  const payer = await world.newFirm();
  await db.query(sql`DELETE FROM jobs`);
  const code = await orders.insert("QuoteReady", { partnerId: payer.owner.partnerId, payBy: "firm" });
  await chargeByMember(deps, payer.principal, code);
  const id = (await activeMethod(db, payer.owner))?.id ?? "";
  await db.transaction(async (tx) => {
    await updateMethod(tx, id, { state: "removed", endedBy: "system" });
    await enqueue(tx, detachQueue, { id });
  });
  const work = async (queue: string) => {
    for (const job of await world.waitingJobs()) if (job.queue === queue) assert.equal(await world.run(job), true);
  };
  const customer = () => stripe.firm.methods.get(payer.method)?.customer;
  await work(detachQueue);
  assert.equal(customer(), payer.customer, "the request to charge it may be on its way");
  await work("firm-charge");
  assert.equal((await stateOf(code))?.reason, "method_removed");
  await work(detachQueue);
  assert.equal(customer(), null);
});
