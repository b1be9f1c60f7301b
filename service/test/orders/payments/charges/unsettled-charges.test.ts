import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeOrder } from "@signsealship/testing/row-mac";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { sendCharges } from "../../../../src/orders/payments/charges/send-charges.ts";
import { chargesOfCode, checkoutUrl, endCharge, watchPayments } from "../../../../src/orders/payments/payments.ts";
import { type Group, groupsOf } from "../charged-group.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, orders, stripe } = world;
const { group, charge, runJobs, intentsOf, statuses, states, paidBy, tasksOf } = groupsOf(world);
const all = <Value>(value: Value) => [value, value, value];
const minute = 60_000;

const reprice = (code: string) => changeOrder(db, code, sql`subtotal_cents = 20000, total_cents = 20000`);
const reasons = ({ codes }: Group) =>
  Promise.all(codes.map(async (code) => (await chargesOfCode(db, code)).map(({ reason }) => reason)));
const moneyOf = ({ firm }: Group) => intentsOf(firm).filter(({ status }) => status === "succeeded").length;

/** A group of orders. The network delays the first request for its payment, which may still arrive. */
async function lost(): Promise<Group> {
  const found = await group();
  await charge(found);
  stripe.fail("late", "late");
  await runJobs();
  assert.deepEqual(await states(found.codes), all(["asked"]));
  assert.equal(intentsOf(found.firm).length, 0, "the processor knows nothing yet");
  return found;
}

/** Asserts that the orders can neither be charged again nor be paid in another way. */
async function requireBlocked({ firm, codes }: Group): Promise<void> {
  assert.deepEqual(await states(codes), all(["asked"]));
  for (const code of codes) await assert.rejects(checkoutUrl(deps, code, null), /A payment by your firm is under way/);
  await assert.rejects(charge({ firm, codes }), /A payment by your firm is under way/);
}

test("stays open while the processor is away, although it would now be refused, and is then canceled for good", async () => {
  const found = await lost();
  const { codes } = found;
  await reprice(codes[1]);
  stripe.fail({ status: 500 }, { status: 500 });
  await runJobs();
  await requireBlocked(found);
  await runJobs();
  assert.deepEqual(await states(codes), all(["failed"]));
  assert.deepEqual(await reasons(found), all(["price_changed"]));
  stripe.arriveLate();
  assert.equal(moneyOf(found), 0, "the late request takes no money");
  // A checkout opens for each order, so the orders can be paid in another way.
  for (const code of codes) assert.match(await checkoutUrl(deps, code, null), /cs_test/);
  for (const intent of intentsOf(found.firm)) await world.take(stripe.chargeEvent(String(intent["id"])));
  assert.deepEqual(await statuses(codes), all("QuoteReady"));
});

test("another job that finds a changed order doesn't refuse a payment whose request is on its way", async () => {
  const found = await lost();
  await reprice(found.codes[1]);
  await db.query(sql`DELETE FROM jobs`);
  // The request of the first node arrives while the second node looks the payment up.
  const { firm: account } = deps.processor;
  const findCharge: typeof account.findCharge = async (...about) => {
    const none = await account.findCharge(...about);
    assert.equal(none, null);
    stripe.arriveLate();
    return none;
  };
  const processor = { ...deps.processor, firm: { ...account, findCharge } };
  await sendCharges({ ...deps, processor }, { orderId: await world.orderIdOf(found.codes[2]) }, false);
  assert.deepEqual(await states(found.codes), all(["answered"]));
  assert.equal(moneyOf(found), 1);
  const [intent] = intentsOf(found.firm);
  await world.take(stripe.chargeEvent(String(intent?.["id"])));
  assert.deepEqual(await statuses(found.codes), ["EsignPending", "OnHold", "EsignPending"]);
  assert.deepEqual(await Promise.all(found.codes.map(paidBy)), [[9_500], [18_240], [1_020]]);
});

test("a crash at any point of the settlement ends it without money, or with one payment under way", async () => {
  const ends = new Set<string>();
  for (const arrives of [false, true])
    for (let points = 0; points < 12; points++) {
      const found = await lost();
      await reprice(found.codes[1]);
      world.fuse.set(points);
      await runJobs();
      world.fuse.set(null);
      if (arrives) stripe.arriveLate();
      for (let attempt = 0; attempt < 3; attempt++) await runJobs();
      stripe.arriveLate();
      const [[state = ""] = [], ...others] = await states(found.codes);
      assert.deepEqual(others, [[state], [state]]);
      const isOpen = state === "answered";
      assert.equal(moneyOf(found), isOpen ? 1 : 0, `${state} after ${points} points`);
      for (const code of found.codes)
        if (isOpen) await assert.rejects(checkoutUrl(deps, code, null), /is under way/);
        else assert.match(await checkoutUrl(deps, code, null), /cs_test/);
      ends.add(state);
    }
  assert.ok(ends.has("answered") && ends.has("failed"), [...ends].join());
});

for (const [failures, words, wasCharged] of [
  [["late", { status: 400 }], "has not arrived", false],
  [["cut", { status: 400 }], "was carried out", true],
  [["cut", { status: 400 }, { status: 400 }], "was carried out, and the account takes no payments now", true],
] as const)
  test(`a refusal that names no payment is settled while an earlier request ${words}`, async () => {
    const found = await group();
    await charge(found);
    stripe.fail(...failures);
    await runJobs();
    stripe.arriveLate();
    assert.equal(moneyOf(found), wasCharged ? 1 : 0);
    assert.deepEqual(await states(found.codes), all([wasCharged ? "answered" : "declined"]));
    const [intent, ...more] = intentsOf(found.firm);
    assert.deepEqual(more, []);
    const event = stripe.chargeEvent(String(intent?.["id"]));
    for (const each of [event, event]) await world.take(each);
    assert.deepEqual(await statuses(found.codes), all(wasCharged ? "EsignPending" : "PaymentFailed"));
    if (!wasCharged) assert.deepEqual(await reasons(found), all(["method_unusable"]));
  });

test("a refusal that the processor stored is final, and ends the task about the overdue charge", async () => {
  const found = await group();
  await charge(found);
  stripe.fail({ status: 503 }, { status: 503 });
  await runJobs();
  world.advance(11 * minute);
  await watchPayments(deps);
  assert.deepEqual(
    (await tasksOf(found.codes, "firm_charge")).map((tasks) => tasks.map(({ state }) => state)),
    [["open"], [], []],
  );
  // The processor refuses every charge of the method, and makes no payment.
  const method = stripe.firm.methods.get(found.firm.method);
  Object.assign(method ?? {}, { customer: null });
  await runJobs();
  assert.deepEqual(await states(found.codes), all(["declined"]));
  assert.equal(moneyOf(found), 0);
  assert.deepEqual(
    (await tasksOf(found.codes, "firm_charge")).map((tasks) => tasks.map(({ state }) => state)),
    [["done"], [], []],
  );
  for (const code of found.codes) assert.match(await checkoutUrl(deps, code, null), /cs_test/);
});

test("a processor that no longer knows the customer declines without a payment", async () => {
  const found = await group();
  await charge(found);
  const missing = { status: 400, code: "resource_missing", param: "customer" };
  stripe.fail(missing, missing);
  await runJobs();
  assert.deepEqual(await states(found.codes), all(["declined"]));
  assert.deepEqual(await reasons(found), all(["resource_missing"]));
});

const forget = ({ customer }: Group["firm"]) => {
  const { customers } = stripe.firm;
  customers.splice(
    customers.findIndex(({ id }) => id === customer),
    1,
  );
};

/** Ends the overdue payment of an order, as an operator does. */
const endByHand = async (code: string) => {
  const [charge] = await chargesOfCode(db, code);
  return endCharge(deps, { id: charge?.id ?? "", environment: "live", actor: "operator:test" }, true);
};

// The payment may be in another processor account, so only a person who has checked that account can end it.
test("a lost payment that is no longer allowed stays open while the processor doesn't know the customer", async () => {
  const found = await lost();
  await reprice(found.codes[1]);
  forget(found.firm);
  await runJobs();
  assert.deepEqual(await states(found.codes), all(["asked"]));
  world.advance(11 * minute);
  await endByHand(found.codes[0]);
  assert.deepEqual(await states(found.codes), all(["failed"]));
  stripe.arriveLate();
  assert.deepEqual(intentsOf(found.firm), []);
});

test("an operator ends a lost payment of a customer whom the processor no longer knows", async () => {
  const found = await lost();
  forget(found.firm);
  world.advance(11 * minute);
  await endByHand(found.codes[0]);
  assert.deepEqual(await states(found.codes), all(["failed"]));
  assert.deepEqual(await reasons(found), all(["ended"]));
  stripe.arriveLate();
  assert.deepEqual(intentsOf(found.firm), []);
});

/** An unsent charge below the processor's minimum. */
async function tooSmall() {
  await db.query(sql`DELETE FROM jobs`);
  const firm = await world.newFirm();
  const { partnerId } = firm.owner;
  const codes = [await orders.insert("QuoteReady", { partnerId, payBy: "firm", totalCents: 30 })];
  await charge({ firm, codes });
  return { firm, codes, code: codes[0] ?? "" };
}

test("declines an amount that the processor also refuses for a blank payment", async () => {
  const { firm, codes, code } = await tooSmall();
  await runJobs();
  assert.deepEqual(await states(codes), [["declined"]]);
  assert.equal((await chargesOfCode(db, code))[0]?.reason, "amount_too_small");
  assert.deepEqual(await world.waitingJobs().then((jobs) => jobs.filter(({ queue }) => queue === "firm-charge")), []);
  assert.deepEqual(intentsOf(firm), []);
});

test("an operator ends a lost payment whose amount the processor takes from nobody", async () => {
  const { firm, codes, code } = await tooSmall();
  stripe.fail("late", "late");
  await runJobs();
  world.advance(11 * minute);
  await endByHand(code);
  assert.deepEqual(await states(codes), [["failed"]]);
  stripe.arriveLate();
  assert.deepEqual(intentsOf(firm), []);
});

test("records when a payment was first sent, which nobody can undo in the database", async () => {
  const found = await lost();
  const [sent] = await chargesOfCode(db, found.codes[0]);
  assert.ok(sent?.sentAt);
  const id = await world.orderIdOf(found.codes[0]);
  await db.query(sql`UPDATE firm_charges SET sent_at = NULL WHERE order_id = ${id}`);
  await assert.rejects(chargesOfCode(db, found.codes[0]), /not what the service wrote/);
});
