import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeOrder } from "@signsealship/testing/row-mac";
import { newOrderLines } from "../../../../src/kernel/audit/audit.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { maskCode, newUuid } from "../../../../src/kernel/platform/ids.ts";
import { enqueue } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { firmChargeQueue } from "../../../../src/orders/order/order.ts";
import { sendCharges } from "../../../../src/orders/payments/charges/send-charges.ts";
import { reportRefusedEvent } from "../../../../src/orders/payments/events/payees.ts";
import {
  chargeByMember,
  chargesOfCode,
  chargeWaiting,
  checkoutUrl,
  endCharge,
  paymentsOfFirm,
  sumOfWaiting,
  waitingOrders,
  watchPayments,
} from "../../../../src/orders/payments/payments.ts";
import { putLimit, selectMethods } from "../../../../src/orders/payments/records/methods.ts";
import { type Group, groupsOf } from "../charged-group.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, clock } = world;
const { group, charge, charged, runJobs, intentsOf, statuses, states, tasksOf } = groupsOf(world);
const minute = 60_000;

/**
 * Changes an order without its MAC, like an attacker with access to the database. @returns a function that repairs it
 */
async function alter(code: string): Promise<() => Promise<void>> {
  const set = sql`customer_email = 'attacker@example.com'`;
  await db.query(sql`UPDATE orders SET ${set} WHERE ${isSealed(sql`code`, "order", code)}`);
  return () => changeOrder(db, code, sql`customer_email = 'signer@example.com'`);
}

/** The reasons of the order's open tasks about its alteration. */
const alarms = async (code: string) =>
  (await tasksOf([code], "order_altered")).flat().flatMap(({ state, reason }) => (state === "open" ? [reason] : []));

/** Queues the job that charges the firm for the orders of a closing, as happens when the closing is placed. */
async function place({ firm, codes }: { firm: Group["firm"]; codes: readonly string[] }): Promise<void> {
  const actor = `key:${firm.principal.key?.id}`;
  const orderIds = await Promise.all(codes.map(world.orderIdOf));
  await db.transaction(async (tx) => {
    for (const [index, code] of codes.entries()) {
      const placed = { at: clock(), actor, partnerId: firm.owner.partnerId, code, status: "QuoteReady", reason: null };
      await tx.query(newOrderLines(placed, sql`(SELECT ${orderIds[index]}::bigint AS id)`));
    }
    await enqueue(tx, firmChargeQueue, { orderIds });
  });
}

test("charges the other orders of a placed closing, and a task names the altered one", async () => {
  const found = await group();
  await place(found);
  await alter(found.codes[1]);
  const [job] = await world.waitingJobs();
  assert.ok(job);
  assert.equal(await world.run(job), true);
  assert.deepEqual(await states(found.codes), [["answered"], [], ["answered"]]);
  const [intent, ...more] = intentsOf(found.firm);
  assert.deepEqual([intent?.["amount"], more], [9_500 + 1_020, []]);
  const [reason, ...others] = await alarms(found.codes[1]);
  assert.match(reason ?? "", new RegExp(`^Order ${maskCode(found.codes[1])}, .* was altered`));
  assert.match(reason ?? "", /no job charges it later\. .* ask the firm to charge the order/);
  assert.deepEqual(others, []);
  assert.deepEqual((await tasksOf([found.codes[0], found.codes[2]], "order_altered")).flat(), []);
  await world.take(stripe.chargeEvent(String(intent?.["id"])));
  assert.deepEqual(await statuses([found.codes[0], found.codes[2]]), ["EsignPending", "EsignPending"]);
});

test("charges the other orders of a closing when a record about one order's payment was altered", async () => {
  const found = await group();
  const now = clock();
  await db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    VALUES (${newUuid()}, ${await world.orderIdOf(found.codes[1])}, 'expired', 100, 'usd', ${now}, ${now})`);
  await charge(found);
  assert.deepEqual(await states(found.codes), [["asked"], [], ["asked"]]);
});

for (const which of [0, 2] as const)
  test(`ends a payment that was not sent when its order ${which + 1} was altered, and charges the others again`, async () => {
    const found = await group();
    await charge(found);
    const restore = await alter(found.codes[which]);
    const [job] = await world.waitingJobs();
    assert.ok(job);
    assert.equal(await world.run(job), true);
    assert.equal(intentsOf(found.firm).length, 0);
    const others = found.codes.filter((_, index) => index !== which);
    for (const code of found.codes) {
      const [ended] = await chargesOfCode(db, code);
      assert.deepEqual([ended?.state, ended?.reason], ["refused", "order_altered"]);
    }
    const [reason = ""] = await alarms(found.codes[which]);
    for (const code of found.codes) assert.ok(reason.includes(maskCode(code)), reason);
    assert.match(reason, /\$287\.60/);
    await charge({ firm: found.firm, codes: found.codes });
    await runJobs();
    const [intent] = intentsOf(found.firm);
    await world.take(stripe.chargeEvent(String(intent?.["id"])));
    assert.deepEqual(await statuses(others), ["EsignPending", "EsignPending"]);
    await restore();
    assert.deepEqual(await statuses([found.codes[which]]), ["QuoteReady"]);
  });

test("records the answer about a payment whose order was altered after it was sent; its event waits, with a task", async () => {
  const found = await group();
  await charge(found);
  stripe.fail("cut", "cut");
  await runJobs();
  const restore = await alter(found.codes[1]);
  await runJobs();
  for (const code of found.codes) assert.equal((await chargesOfCode(db, code))[0]?.state, "answered");
  const event = stripe.chargeEvent(String(intentsOf(found.firm)[0]?.["id"]));
  for (let repeated = 0; repeated < 2; repeated++) {
    await assert.rejects(world.take(event), /not what the service wrote/);
    await reportRefusedEvent(db, event, clock());
  }
  assert.deepEqual(await statuses([found.codes[0], found.codes[2]]), ["QuoteReady", "QuoteReady"]);
  const [reason = "", ...more] = await alarms(found.codes[1]);
  assert.deepEqual(more, []);
  for (const code of found.codes) assert.ok(reason.includes(maskCode(code)), reason);
  assert.match(reason, /payment_intent\.succeeded about pi_/);
  await restore();
  await world.take(event);
  assert.deepEqual(await statuses(found.codes), ["EsignPending", "EsignPending", "EsignPending"]);
});

test("an altered time zone of the firm keeps it from being charged, and tasks name the orders", async () => {
  const found = await group();
  await place(found);
  const [job] = await world.waitingJobs();
  assert.ok(job);
  await db.query(sql`
    INSERT INTO billing_parties (partner_id, content, created_by, created_at)
    VALUES (${found.firm.owner.partnerId}, '{"name": "Elm", "address": [], "zone": "UTC"}', 'system', now())`);
  assert.equal(await world.run(job), true);
  assert.deepEqual(await states(found.codes), [[], [], []]);
  for (const code of found.codes) assert.match((await alarms(code)).join(), /The firm was not charged for it/);
});

test("an event about a payment whose charge was altered is a task about its orders", async () => {
  const { codes, paymentId, intent } = await charged("processing");
  await db.query(sql`UPDATE firm_charges SET reason = 'forged' WHERE group_id = ${paymentId}`);
  stripe.firm.bankAnswers(intent, "succeeded");
  const event = stripe.chargeEvent(intent);
  for (let repeated = 0; repeated < 2; repeated++) {
    await assert.rejects(world.take(event), /not what the service wrote/);
    await reportRefusedEvent(db, event, clock());
  }
  for (const code of codes) {
    const [reason = "", ...more] = await alarms(code);
    assert.match(reason, /payment_intent\.succeeded about pi_/);
    assert.deepEqual(more, []);
  }
});

test("the payments of a firm mark one with an altered charge, and an order of another firm that it names", async () => {
  const { firm, codes, paymentId } = await charged();
  const other = await group();
  await db.query(sql`ALTER TABLE firm_charges DISABLE TRIGGER firm_charges_stay`);
  await db.query(sql`
    UPDATE firm_charges SET order_id = ${await world.orderIdOf(other.codes[0])}
    WHERE group_id = ${paymentId} AND order_id = ${await world.orderIdOf(codes[0])}`);
  await db.query(sql`ALTER TABLE firm_charges ENABLE TRIGGER firm_charges_stay`);
  const [payment = []] = await paymentsOfFirm(db, firm.owner);
  const authentic = payment.map(({ isAuthentic, isOwnOrder }) => [isAuthentic, isOwnOrder]);
  assert.deepEqual(authentic.sort(), [
    [false, false],
    [true, true],
    [true, true],
  ]);
});

test("an overdue payment that was altered itself is a task about its order", async () => {
  const { codes, paymentId } = await charged("processing");
  await db.query(sql`UPDATE firm_charges SET reason = 'forged' WHERE group_id = ${paymentId}`);
  world.advance(11 * 24 * 60 * minute);
  for (let looks = 0; looks < 2; looks++) await watchPayments(deps);
  assert.match((await alarms(codes[0])).join(), /neither sent again nor ended/);
  assert.equal((await tasksOf(codes, "order_altered")).flat().length, 1);
});

test("an overdue payment can be ended although one of its orders was altered", async () => {
  const { codes, intent } = await charged("processing");
  await alter(codes[0]);
  world.advance(11 * 24 * 60 * minute);
  await watchPayments(deps);
  const [first] = await chargesOfCode(db, codes[1]);
  await endCharge(deps, { id: first?.id ?? "", environment: "live", actor: "operator:test" });
  assert.deepEqual(await states(codes), [["failed"], ["failed"], ["failed"]]);
  assert.equal(stripe.firm.intents.get(intent)?.["status"], "canceled");
});

/** Presses the button that charges all waiting orders, with the prices that the page showed. */
async function pressAll({ firm }: Pick<Group, "firm">, shown: readonly { code: string; totalCents: number }[]) {
  const [method] = await selectMethods(db, firm.owner);
  const orders = new Map(shown.map(({ code, totalCents }) => [code, totalCents]));
  return chargeWaiting(deps, firm.principal, { orders, methodId: method?.id ?? "" });
}

test("charging all waiting orders leaves out and names those that changed, and charges the others", async () => {
  const found = await group();
  const { firm, codes } = found;
  const { orders: waiting, ...all } = await waitingOrders(db, firm.owner);
  assert.deepEqual(
    waiting.map(({ code }) => code),
    codes,
  );
  const [first] = waiting;
  assert.deepEqual(await waitingOrders(db, firm.owner, 1), { orders: [first], ...all });
  assert.deepEqual(all, { count: 3, totalCents: sumOfWaiting(waiting) });
  const shown = waiting.map((each) => (each.code === codes[1] ? { ...each, totalCents: 18_241 } : each));
  const restore = await alter(codes[0]);
  const readable = { orders: waiting.slice(1), count: 2, totalCents: sumOfWaiting(waiting.slice(1)) };
  assert.deepEqual(await waitingOrders(db, firm.owner), readable);
  const left = await pressAll(found, shown);
  assert.deepEqual(left, [
    { code: codes[1], reason: "The price is $182.40 now." },
    { code: codes[0], reason: "The operator has to check its record first." },
  ]);
  await runJobs();
  assert.deepEqual(await states(codes), [[], [], ["answered"]]);
  assert.deepEqual(
    intentsOf(firm).map((intent) => intent["amount"]),
    [1_020],
  );
  assert.match((await alarms(codes[0])).join(), /The firm asked for its charge/);
  await assert.rejects(
    pressAll(found, shown),
    /^ServiceError: Nothing was charged\. Order [0-9A-F]{6}: The price .* Order [0-9A-F]{6}: A payment by your firm is under way.* Order [0-9A-F]{6}: The operator/,
  );
  await restore();
  assert.deepEqual(await pressAll(found, (await waitingOrders(db, firm.owner)).orders), []);
});

test("charging all waiting orders leaves out those above the caller's limits", async () => {
  const found = await group();
  const { owner, principal } = found.firm;
  const spender = `key:${principal.key?.id}`;
  const limit = (orderCents: number, monthCents: number) =>
    db.transaction((tx) => putLimit(tx, { owner, spender, orderCents, monthCents, by: spender, at: clock() }));
  const { orders: shown } = await waitingOrders(db, owner);
  await limit(0, 0);
  await assert.rejects(pressAll(found, shown), /An owner has not allowed you to spend/);
  await limit(10_000, 9_500);
  const left = await pressAll(found, shown);
  assert.deepEqual(
    left.map(({ code, reason }) => [code, /your limit for (?:one order|this month)/.exec(reason)?.[0]]),
    [
      [found.codes[1], "your limit for one order"],
      [found.codes[2], "your limit for this month"],
    ],
  );
  await runJobs();
  assert.deepEqual(await states(found.codes), [["answered"], [], []]);
});

test("an order of $0.00 is charged by no job and by no member, not even with others, and its checkout completes it", async () => {
  const firm = await world.newFirm();
  const code = await world.orders.insert("QuoteReady", {
    partnerId: firm.owner.partnerId,
    payBy: "firm",
    totalCents: 0,
  });
  await place({ firm, codes: [code] });
  await sendCharges(deps, { orderId: await world.orderIdOf(code) }, false);
  await db.query(sql`DELETE FROM jobs`);
  await assert.rejects(chargeByMember(deps, firm.principal, code), /An order of \$0\.00 is not charged/);
  assert.deepEqual(await waitingOrders(db, firm.owner), { orders: [], count: 0, totalCents: 0 });
  await assert.rejects(
    pressAll({ firm }, [{ code, totalCents: 0 }]),
    /Nothing was charged\. Order [0-9A-F]{6}: An order of/,
  );
  await assert.rejects(charge({ firm, codes: [code] }), /An order of \$0\.00 is not charged/);
  const other = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  const together = await charge({ firm, codes: [code, other] });
  assert.deepEqual(
    together.orders.map(({ orderCode }) => orderCode),
    [other],
  );
  assert.deepEqual(await states([code]), [[]]);
  const url = await checkoutUrl(deps, code, null);
  await world.take(stripe.pay(stripe.sessionOf(url)));
  assert.equal((await statuses([code]))[0], "EsignPending");
});
