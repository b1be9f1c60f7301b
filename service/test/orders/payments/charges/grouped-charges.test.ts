import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeOrder } from "@signsealship/testing/row-mac";
import { newOrderLines } from "../../../../src/kernel/audit/audit.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { enqueue } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { documentsOfOrder } from "../../../../src/orders/billing/billing.ts";
import { firmChargeQueue, lockOrder, orderPayer, transition } from "../../../../src/orders/order/order.ts";
import {
  activeMethod,
  chargeByMember,
  chargesOfCode,
  checkoutUrl,
  endCharge,
  heldPayments,
  letClientPay,
  letClientsPay,
  paymentsOfFirm,
  spentThisMonth,
  watchPayments,
  whyClientsCantPay,
} from "../../../../src/orders/payments/payments.ts";
import { reverseCredit } from "../../../../src/orders/payments/records/documents.ts";
import { putLimit, updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { markRefunded, recordPart, recordPayment } from "../../../../src/orders/payments/records/payments.ts";
import { groupsOf } from "../charged-group.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, orders, clock } = world;
const minute = 60_000;

const {
  group,
  membersOf,
  shownOf,
  charge,
  runJobs,
  intentsOf,
  charged,
  statuses,
  states,
  paidBy,
  tasksOf: openTasks,
} = groupsOf(world);
const take = (intent: string) => world.take(stripe.chargeEvent(intent));
const all = <Value>(value: Value) => [value, value, value];
const mails = (moment: string) =>
  db.query<{ id: string; userId: string }>(sql`
    SELECT payload ->> 'id' AS id, payload ->> 'userId' AS "userId" FROM jobs
    WHERE queue = 'firm-charge-mail' AND payload ->> 'moment' = ${moment}`);
const tasksOf = (codes: readonly string[], kind: string) =>
  Promise.all(
    codes.map(async (code) => {
      const orderId = await world.orderIdOf(code);
      const found = await db.query<{ state: string }>(
        sql`SELECT state FROM tasks WHERE order_id = ${orderId} AND kind = ${kind}`,
      );
      return found.map(({ state }) => state);
    }),
  );

async function cancel(code: string): Promise<void> {
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, "cancelled", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
}

test("makes one payment of all orders, which one event moves together, with a receipt for each", async () => {
  const found = await charged();
  const { firm, codes, sum, intent, paymentId } = found;
  const [sent] = intentsOf(firm);
  assert.deepEqual([sent?.["amount"], sent?.["metadata"]], [sum, { charge: paymentId, environment: "live" }]);
  assert.deepEqual(await statuses(codes), all("QuoteReady"), "the processor's answer moves nothing");
  assert.deepEqual(await states(codes), all(["answered"]));
  const event = stripe.chargeEvent(intent);
  // Two nodes apply the event and its repetition at once.
  assert.deepEqual(
    await Promise.all([world.take(event), world.take(event), world.take({ ...event, id: `${event.id}2` })]),
    all(true),
  );
  assert.deepEqual(await statuses(codes), all("EsignPending"));
  assert.deepEqual(await states(codes), all(["succeeded"]));
  assert.deepEqual(await Promise.all(codes.map(paidBy)), [[9_500], [18_240], [1_020]]);
  for (const code of codes) {
    const receipts = (await documentsOfOrder(db, code, firm.owner)).filter(({ kind }) => kind === "receipt");
    assert.deepEqual(
      receipts.map(({ paymentReference }) => paymentReference),
      [intent],
    );
  }
  const [shown, ...more] = await paymentsOfFirm(db, firm.owner);
  assert.deepEqual(shown?.map(({ orderCode }) => orderCode).sort(), [...codes].sort());
  assert.deepEqual(more, []);
});

for (const outcome of ["card_declined", "expired_card", "authentication_required"] as const)
  test(`${outcome}: every order shows it, owners get one mail, and all can be charged again together`, async () => {
    const found = await charged(outcome);
    const { firm, codes, intent } = found;
    assert.deepEqual(await states(codes), all(["declined"]));
    assert.deepEqual(await statuses(codes), all("QuoteReady"));
    assert.equal(await take(intent), true);
    assert.deepEqual(await states(codes), all(["failed"]));
    assert.deepEqual(await statuses(codes), all("PaymentFailed"));
    const reasons = await Promise.all(codes.map(async (code) => (await chargesOfCode(db, code))[0]?.reason));
    assert.equal(new Set(reasons).size, 1);
    const sent = await mails("failed");
    assert.equal(new Set(sent.map(({ userId }) => userId)).size, sent.length, "one mail for each person");
    stripe.firm.outcomes.set(firm.method, "succeeded");
    await charge(found);
    await runJobs();
    const again = intentsOf(firm).find(({ status }) => status === "succeeded");
    await take(String(again?.["id"]));
    // The event about the first payment's failure is repeated late.
    assert.equal(await world.take({ ...stripe.chargeEvent(intent), id: newUuid() }), true);
    assert.deepEqual(await statuses(codes), all("EsignPending"));
    assert.deepEqual(await Promise.all(codes.map(paidBy)), [[9_500], [18_240], [1_020]]);
  });

test("a bank debit blocks every order until the bank has answered; a failure reopens all, a success pays all", async () => {
  const failing = await charged("processing");
  assert.equal(await take(failing.intent), true);
  assert.deepEqual(await statuses(failing.codes), all("AwaitingPayment"));
  assert.deepEqual(await states(failing.codes), all(["pending"]));
  for (const code of failing.codes) await assert.rejects(checkoutUrl(deps, code, null), /is under way/);
  await assert.rejects(chargeByMember(deps, failing.firm.principal, failing.codes[1]), /is under way/);
  stripe.firm.bankAnswers(failing.intent, "failed");
  await take(failing.intent);
  assert.deepEqual(await statuses(failing.codes), all("PaymentFailed"));
  assert.match(await checkoutUrl(deps, failing.codes[2], null), /cs_test/);

  const paying = await charged("processing");
  stripe.firm.bankAnswers(paying.intent, "succeeded");
  // The success arrives before the event about the start of the debit.
  const early = { ...stripe.chargeEvent(paying.intent) };
  await world.take(early);
  await world.take({ ...stripe.event("payment_intent.processing", { ...early.data.object, status: "processing" }) });
  assert.deepEqual(await statuses(paying.codes), all("EsignPending"));
  assert.deepEqual(await states(paying.codes), all(["succeeded"]));
});

test("a failed debit opens a task for each order once, which ends when its order is paid, canceled or being paid", async () => {
  const found = await group();
  const { firm, codes } = found;
  const saved = { method: firm.method, kind: "bank", brand: null, last4: "6789", expires: null } as const;
  await db.transaction(async (tx) => {
    const method = await activeMethod(tx, firm.owner);
    await updateMethod(tx, method?.id ?? "", { state: "active", saved });
  });
  stripe.firm.outcomes.set(firm.method, "processing");
  const debit = async (outcome: "failed" | "succeeded") => {
    const before = intentsOf(firm).length;
    await charge(found);
    await runJobs();
    const intent = String(intentsOf(firm)[before]?.["id"]);
    await take(intent);
    stripe.firm.bankAnswers(intent, outcome);
    for (const id of [newUuid(), newUuid()]) assert.ok(await world.take({ ...stripe.chargeEvent(intent), id }));
  };
  await debit("failed");
  assert.deepEqual(await statuses(codes), all("PaymentFailed"));
  assert.deepEqual(await tasksOf(codes, "debit_failed"), all(["open"]));
  const [[task] = []] = await openTasks(codes, "debit_failed");
  assert.match(task?.reason ?? "", /A debit of the firm’s bank account failed, and \$95\.00 of this order is unpaid/);
  await cancel(codes[2]);
  assert.deepEqual(await tasksOf(codes, "debit_failed"), [["open"], ["open"], ["dropped"]]);
  await debit("failed");
  assert.deepEqual(await tasksOf(codes, "debit_failed"), [["done", "open"], ["done", "open"], ["dropped"]]);
  await debit("succeeded");
  assert.deepEqual(await tasksOf(codes, "debit_failed"), [["done", "done"], ["done", "done"], ["dropped"]]);
  // A declined card opens no task about a failed debit.
  const card = await charged("card_declined");
  await take(card.intent);
  assert.deepEqual(await statuses(card.codes), all("PaymentFailed"));
  assert.deepEqual(await tasksOf(card.codes, "debit_failed"), all([]));
});

test("a debit that the bank returns later is a dispute of every order, each with its part", async () => {
  const { codes, intent } = await charged("processing");
  stripe.firm.bankAnswers(intent, "succeeded");
  await take(intent);
  const opened = stripe.dispute(intent, {});
  await world.take(opened);
  assert.deepEqual(await statuses(codes), all("OnHold"));
  await world.take(stripe.endDispute(String(opened.data.object["id"]), "lost"));
  const lost = await Promise.all(
    codes.map(async (code) => (await heldPayments(db, await world.orderIdOf(code)))[0]?.lostCents),
  );
  assert.deepEqual(lost, [9_500, 18_240, 1_020]);
});

/** The cents in the newest dispute task of each order: the order's part, and the whole dispute. */
async function namedCents(codes: readonly string[]): Promise<{ parts: number[]; whole: number[] }> {
  const parts: number[] = [];
  const whole: number[] = [];
  for (const [{ reason } = { reason: "" }] of (await openTasks(codes, "dispute")).map((tasks) => tasks.toReversed())) {
    const [, part = "", sum = ""] =
      /\$([\d,]+\.\d\d) of this order \(a part of \$([\d,]+\.\d\d) for/.exec(reason) ?? [];
    parts.push(Math.round(Number(part.replaceAll(",", "")) * 100));
    whole.push(Math.round(Number(sum.replaceAll(",", "")) * 100));
  }
  return { parts, whole };
}

test("the task of each disputed order names its own part, and the parts add up to the dispute", async () => {
  for (const amount of [undefined, 10_001, 1]) {
    const { codes, intent, sum } = await charged();
    await take(intent);
    const opened = stripe.dispute(intent, amount === undefined ? {} : { amount });
    for (const event of [opened, { ...opened, id: newUuid() }]) await world.take(event);
    const { parts, whole } = await namedCents(codes);
    assert.deepEqual(whole, all(amount ?? sum));
    assert.equal(
      parts.reduce((total, cents) => total + cents, 0),
      amount ?? sum,
    );
    if (amount === undefined) assert.deepEqual(parts, [9_500, 18_240, 1_020]);
    await world.take(stripe.endDispute(String(opened.data.object["id"]), "lost"));
    assert.deepEqual((await namedCents(codes)).parts, parts, "the bank took the parts for good");
  }
});

test("a dispute of money that was refunded before names it, and the parts still add up", async () => {
  const { codes, intent, sum } = await charged();
  await take(intent);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, codes[1]);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await runJobs();
  const refunds = stripe.refunds.filter((each) => each["payment_intent"] === intent);
  for (const event of refunds.flatMap((refund) => stripe.refundEvents(refund))) await world.take(event);
  const object = { id: "dp_twice", payment_intent: intent, amount: sum, currency: "usd", status: "needs_response" };
  await world.take(stripe.event("charge.dispute.created", object));
  assert.deepEqual((await namedCents(codes)).parts, [9_500, 18_240, 1_020]);
  const reasons = (await openTasks(codes, "dispute")).map((tasks) => tasks[0]?.reason ?? "");
  assert.deepEqual(
    reasons.map((reason) => /\$182\.40 of it went back before/.test(reason)),
    [false, true, false],
  );
});

test("a refund of one order refunds its part alone", async () => {
  const { codes, intent } = await charged();
  await take(intent);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, codes[1]);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await runJobs();
  const refunds = stripe.refunds.filter((each) => each["payment_intent"] === intent);
  assert.deepEqual(
    refunds.map(({ amount }) => Number(amount)),
    [18_240],
  );
  for (const event of refunds.flatMap((refund) => stripe.refundEvents(refund))) await world.take(event);
  assert.deepEqual(await statuses(codes), ["EsignPending", "Refunded", "EsignPending"]);
});

test("pays no order when the refund of the whole payment comes before the payment", async () => {
  const { codes, intent, sum, paymentId } = await charged();
  const object = { id: "ch_1", object: "charge", payment_intent: intent, amount: sum, currency: "usd", refunded: true };
  await world.take(stripe.event("charge.refunded", { ...object, metadata: { charge: paymentId } }));
  await take(intent);
  assert.deepEqual(await statuses(codes), all("QuoteReady"));
  assert.deepEqual(await Promise.all(codes.map(paidBy)), all([]));
});

test("holds every order when the sum is wrong, and records the money once", async () => {
  const { codes, intent, sum } = await charged();
  const event = stripe.chargeEvent(intent);
  await world.take({ ...event, data: { object: { ...event.data.object, amount_received: sum - 1 } } });
  assert.deepEqual(await statuses(codes), all("OnHold"));
  assert.deepEqual((await Promise.all(codes.map(paidBy))).flat(), [sum - 1]);
});

test("an order that was canceled or repriced after the payment was sent doesn't take the others with it", async () => {
  const { codes, intent } = await charged();
  await cancel(codes[0]);
  await changeOrder(db, codes[1], sql`subtotal_cents = 20000, total_cents = 20000`);
  await take(intent);
  assert.deepEqual(await statuses(codes), ["Cancelled", "OnHold", "EsignPending"]);
  assert.deepEqual(await tasksOf(codes, "payment_unapplied"), [["open"], [], []]);
});

test("charges nothing when one of the orders changed before the payment was sent, and says so for all", async () => {
  const found = await group();
  const { codes, firm } = found;
  await charge(found);
  await cancel(codes[2]);
  await runJobs();
  assert.equal(intentsOf(firm).length, 0);
  assert.deepEqual(await states(codes), all(["refused"]));
  // The canceled order is left out of the next payment.
  await charge(found);
  await runJobs();
  const [intent] = intentsOf(firm);
  assert.equal(intent?.["amount"], 9_500 + 18_240);
});

test("limits hold for each order and, by the month, for the sum", async () => {
  const found = await group();
  const { firm, codes, sum } = found;
  const spender = `key:${firm.principal.key?.id}`;
  const limit = (orderCents: number, monthCents: number) =>
    db.transaction((tx) =>
      putLimit(tx, { owner: firm.owner, spender, orderCents, monthCents, by: spender, at: clock() }),
    );
  await limit(18_239, 1_000_000);
  await assert.rejects(
    charge(found),
    new RegExp(`^ServiceError: Order ${codes[1]}: The sum is above your limit for one`),
  );
  await limit(18_240, sum - 1);
  await assert.rejects(charge(found), new RegExp(`^ServiceError: Order ${codes[2]}: The sum is above what is left`));
  assert.deepEqual(await states(codes), all([]));
  await limit(18_240, sum);
  await charge(found);
  assert.deepEqual(await states(codes), all(["asked"]));
  // The sum was approved, but an owner lowers the limit before the payment is sent.
  await limit(18_240, sum - 1);
  await runJobs();
  assert.equal(intentsOf(firm).length, 0);
  assert.deepEqual(await states(codes), all(["refused"]));
});

test("cents that a partial refund returned can be spent again, until the refund fails; a loss can't", async () => {
  const { firm, codes, sum, intent } = await charged();
  await take(intent);
  const spender = `key:${firm.principal.key?.id}`;
  const used = async () => {
    const known = { spender, name: "", isOwner: false, orderCents: 1, monthCents: 1 };
    return (await spentThisMonth(deps, firm.owner, [known])).get(spender);
  };
  assert.equal(await used(), sum);
  const orderId = await world.orderIdOf(codes[1]);
  const part = { paymentIntent: intent, share: null, refund: "re_part", amountCents: 8_240 };
  await db.transaction((tx) => recordPart(tx, orderId, part, clock()));
  assert.equal(await used(), sum - 8_240);
  const opened = stripe.dispute(intent, { amount: 500 });
  await world.take(opened);
  await world.take(stripe.endDispute(String(opened.data.object["id"]), "lost"));
  assert.equal(await used(), sum - 8_240);
  const [payment] = await heldPayments(db, orderId);
  const failed = { id: "re_part", name: "re_part", cents: 8_240, hadSucceeded: true };
  await db.transaction((tx) => reverseCredit(tx, payment?.id ?? 0, failed, clock()));
  assert.equal(await used(), sum);
});

test("of several reasons against a payment, names first that another sum is due than the page showed", async () => {
  const found = await group();
  const { firm, codes, sum } = found;
  const spender = `key:${firm.principal.key?.id}`;
  const limit = { spender, orderCents: 1, monthCents: 1, by: spender, at: clock() };
  await db.transaction((tx) => putLimit(tx, { owner: firm.owner, ...limit }));
  await assert.rejects(charge({ ...found, expected: { cents: sum - 1 } }), /^ServiceError: The sum is \$287\.60 now/);
  await assert.rejects(charge({ ...found, expected: { cents: sum } }), /above your limit for one order/);
  await assert.rejects(
    chargeByMember(deps, firm.principal, codes[0], { cents: 1 }),
    /^ServiceError: The sum is \$95\.00 now/,
  );
  await assert.rejects(
    chargeByMember(deps, firm.principal, codes[0], { cents: 9_500 }),
    /above your limit for one order/,
  );
  assert.deepEqual(await states(codes), all([]));
});

test("lets the clients of all orders pay instead, or of none while a payment is under way, and charges none of them", async () => {
  const found = await charged("card_declined");
  const { firm, codes, intent } = found;
  const members = membersOf(codes);
  const payers = () => Promise.all(codes.map(async (code) => orderPayer(db, await world.orderIdOf(code))));
  const whyNot = async (asked: readonly string[]) =>
    whyClientsCantPay(
      deps,
      await Promise.all(
        asked.map(async (code) => ({
          id: await world.orderIdOf(code),
          status: (await orders.look(code)).status as "QuoteReady",
        })),
      ),
    );
  await assert.rejects(letClientPay(deps, { ...firm.principal, environment: "test" }, codes[0]), /Order not found/);
  await take(intent);
  await charge({ firm, codes: [codes[1]] });
  const underWay = /A payment by your firm is under way/;
  await assert.rejects(letClientsPay(deps, firm.principal, members, await shownOf(codes)), underWay);
  await assert.rejects(letClientPay(deps, firm.principal, codes[1]), underWay);
  assert.deepEqual(await payers(), all("firm"));
  await runJobs();
  const second = intentsOf(firm).find(({ id }) => id !== intent);
  await take(String(second?.["id"]));
  await cancel(codes[2]);
  await db.query(sql`DELETE FROM jobs`);
  const unpaid = await shownOf(codes.slice(0, 2));
  assert.deepEqual(await whyNot(codes), [null, null, "An order in Cancelled has no price to pay."]);
  await assert.rejects(letClientsPay(deps, firm.principal, members, await shownOf(codes)), /An order in Cancelled/);
  const [first, ...more] = unpaid;
  assert.ok(first);
  const cheaper = [{ ...first, totalCents: first.totalCents - 1 }, ...more];
  await assert.rejects(letClientsPay(deps, firm.principal, members, cheaper), /has another price by now/);
  assert.deepEqual(await payers(), all("firm"));
  await letClientsPay(deps, firm.principal, members, unpaid);
  assert.deepEqual(await payers(), ["client", "client", "firm"]);
  const mailed = await db.query<{ orderId: number; moment: string }>(sql`
    SELECT (payload ->> 'orderId')::int AS "orderId", payload ->> 'moment' AS moment FROM jobs WHERE queue = 'order-mail' ORDER BY id`);
  const orderIds = await Promise.all(codes.slice(0, 2).map(world.orderIdOf));
  assert.deepEqual(
    mailed,
    orderIds.map((orderId) => ({ orderId, moment: "quote_ready" })),
  );
  const lines = await db.query<{ actor: string }>(sql`
    SELECT actor FROM audit_log WHERE action = 'order.payer_changed' AND order_id = ANY (${orderIds}::bigint[])`);
  assert.deepEqual(
    lines.map(({ actor }) => actor),
    [0, 1].map(() => `key:${firm.principal.key?.id}`),
  );
  await assert.rejects(letClientsPay(deps, firm.principal, members, []), /no order here that its client could pay/);
  await assert.rejects(letClientPay(deps, firm.principal, codes[0]), /The client pays this order/);
  await assert.rejects(chargeByMember(deps, firm.principal, codes[0]), /The client pays this order/);
  // This job was queued before the clients became the payers. It charges neither order.
  await db.query(sql`SELECT enqueue_job(${firmChargeQueue}, jsonb_build_object('orderIds', ${orderIds}::bigint[]))`);
  await runJobs();
  assert.equal(intentsOf(firm).length, 2);
  const other = await group();
  const shown = await shownOf(other.codes);
  await db.query(sql`UPDATE orders SET customer_name = 'Eve' WHERE id = ${await world.orderIdOf(other.codes[1])}`);
  await assert.rejects(
    letClientsPay(deps, other.firm.principal, membersOf(other.codes), shown),
    new RegExp(`Order ${other.codes[1]} was altered in the database`),
  );
  assert.equal(await orderPayer(db, await world.orderIdOf(other.codes[0])), "firm");
});

test("either charges an order or lets its client pay, when both are asked for at once", async () => {
  for (let round = 0; round < 5; round++) {
    const { firm, codes } = await group();
    const results = await Promise.allSettled([
      chargeByMember(deps, firm.principal, codes[0]),
      letClientPay(deps, firm.principal, codes[0]),
    ]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    const isCharged = (await states([codes[0]])).flat().length === 1;
    assert.equal(await orderPayer(db, await world.orderIdOf(codes[0])), isCharged ? "firm" : "client");
  }
});

test("says of an order with an altered record why its client can't pay, and of the others that theirs can", async () => {
  const { firm, codes } = await group();
  const orders = await Promise.all(
    codes.map(async (code) => ({ id: await world.orderIdOf(code), status: "QuoteReady" as const })),
  );
  await checkoutUrl(deps, codes[1], firm.owner);
  await db.query(sql`UPDATE checkout_sessions SET url = 'https://evil.example' WHERE order_id = ${orders[1]?.id}`);
  const [first, altered, last] = await whyClientsCantPay(deps, orders);
  assert.deepEqual([first, last], [null, null]);
  assert.match(altered ?? "", /was altered in the database\. The operator has to restore it first/);
});

test("keeps the firm as the payer of an order for which it has paid", async () => {
  const { firm, codes, intent, sum } = await charged();
  const event = stripe.chargeEvent(intent);
  await world.take({ ...event, data: { object: { ...event.data.object, amount_received: sum - 1 } } });
  await db.transaction(async (tx) => {
    for (const code of codes) {
      const order = await lockOrder(tx, code);
      assert.ok(order);
      if (code !== codes[0])
        await transition(tx, order, "released", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
    }
  });
  const wrongSum = /has paid this order together with others, by a wrong sum/;
  for (const code of [codes[1], codes[2]]) await assert.rejects(letClientPay(deps, firm.principal, code), wrongSum);
  await assert.rejects(letClientsPay(deps, firm.principal, membersOf(codes), await shownOf(codes.slice(1))), wrongSum);
  await assert.rejects(letClientPay(deps, firm.principal, codes[0]), /An order in OnHold has no price to pay/);
  const first = await world.orderIdOf(codes[0]);
  await db.transaction((tx) => markRefunded(tx, first, intent, clock()));
  await letClientPay(deps, firm.principal, codes[1]);
  await db.transaction(async (tx) => {
    const orderId = await world.orderIdOf(codes[2]);
    await recordPayment(tx, {
      orderId,
      paymentIntent: "pi_earlier",
      sessionId: "cs_earlier",
      amount: 1_020,
      currency: "usd",
      simulated: false,
      at: clock(),
    });
  });
  await assert.rejects(letClientPay(deps, firm.principal, codes[2]), /has made a payment for this order/);
});

test("of twenty requests at once one makes the payment, also against charges of a single order", async () => {
  const found = await group();
  const { codes, firm } = found;
  const results = await Promise.allSettled([
    ...Array.from({ length: 19 }, () => charge(found)),
    chargeByMember(deps, firm.principal, codes[1]),
  ]);
  assert.ok(results.some(({ status }) => status === "fulfilled"));
  await Promise.all([runJobs(), runJobs()]);
  for (const intent of intentsOf(firm)) await take(String(intent["id"]));
  assert.deepEqual(await statuses(codes), all("EsignPending"));
  assert.deepEqual(await Promise.all(codes.map(paidBy)), [[9_500], [18_240], [1_020]]);
});

test("charges the orders of a placed closing by one payment, though the job runs twice and crashes", async () => {
  const { codes, firm, sum } = await group();
  const orderIds = await Promise.all(codes.map(world.orderIdOf));
  const actor = `key:${firm.principal.key?.id}`;
  await db.transaction(async (tx) => {
    for (const code of codes) {
      const placed = { at: clock(), actor, partnerId: firm.owner.partnerId, code, status: "QuoteReady", reason: null };
      await tx.query(newOrderLines(placed, sql`(SELECT id FROM orders WHERE id = ${await world.orderIdOf(code)})`));
    }
    await enqueue(tx, firmChargeQueue, { orderIds });
  });
  const [job] = await world.waitingJobs();
  assert.ok(job);
  for (const points of [0, 1, 2, 3, 4, 5, 6, 7]) {
    world.fuse.set(points);
    await world.run(job).catch(() => false);
  }
  world.fuse.set(null);
  await Promise.all([world.run(job), world.run(job)]);
  assert.deepEqual(await states(codes), all(["answered"]));
  const [intent, ...more] = intentsOf(firm);
  assert.deepEqual([intent?.["amount"], more.length], [sum, 0]);
  await take(String(intent?.["id"]));
  assert.deepEqual(await statuses(codes), all("EsignPending"));
});

test("orders of two firms, or of two people, are never charged by one payment", async () => {
  const [one, two] = [await group(), await group()];
  const [first, second] = one.codes;
  const [other] = two.codes;
  const clients = await orders.insert("QuoteReady", { partnerId: one.firm.owner.partnerId, payBy: "client" });
  const placers = new Map([
    [first, one.firm],
    [second, one.firm],
    // The audit lines of these two orders say that a key of the other firm placed them.
    [other, one.firm],
    [one.codes[2], two.firm],
    [clients, one.firm],
  ]);
  const orderIds = await Promise.all([...placers.keys()].map(world.orderIdOf));
  await db.transaction(async (tx) => {
    for (const [index, [code, firm]] of [...placers].entries()) {
      const actor = `key:${firm.principal.key?.id}`;
      const placed = { at: clock(), actor, partnerId: firm.owner.partnerId, code, status: "QuoteReady", reason: null };
      await tx.query(newOrderLines(placed, sql`(SELECT ${orderIds[index]}::bigint AS id)`));
    }
    await enqueue(tx, firmChargeQueue, { orderIds });
  });
  await runJobs();
  assert.deepEqual(await states([first, second, clients]), [["answered"], ["answered"], []]);
  assert.deepEqual(
    intentsOf(one.firm).map(({ amount }) => amount),
    [9_500 + 18_240],
  );
  assert.deepEqual(intentsOf(two.firm), []);
  // Neither firm's key may spend for the other firm.
  for (const code of [other, one.codes[2]]) {
    const [charge] = await chargesOfCode(db, code);
    assert.deepEqual([charge?.state, charge?.reason, charge?.groupId], ["refused", "left", null]);
  }
});

test("an overdue payment is one task, and ending it ends the charges of all orders", async () => {
  const { codes, paymentId, firm } = await charged("processing");
  world.advance(11 * 24 * 60 * minute);
  await watchPayments(deps);
  await watchPayments(deps);
  assert.deepEqual(await tasksOf(codes, "firm_charge"), [["open"], [], []]);
  // Ending the charge of the second order ends the payment that all three orders share.
  const [, second] = await Promise.all(codes.map(async (code) => (await chargesOfCode(db, code))[0]));
  await endCharge(deps, { id: second?.id ?? "", environment: "live", actor: "operator:test" });
  assert.deepEqual(await states(codes), all(["failed"]));
  assert.deepEqual(await tasksOf(codes, "firm_charge"), [["done"], [], []]);
  assert.deepEqual(
    intentsOf(firm).map(({ status, metadata }) => [status, (metadata as { charge: string }).charge]),
    [["canceled", paymentId]],
  );
});

test("refuses a charge that was moved into a payment in the database", async () => {
  const { codes, firm, intent, paymentId } = await charged();
  const stranger = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm", totalCents: 1 });
  await db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO firm_charges (id, group_id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at)
      SELECT ${newUuid()}, group_id, ${await world.orderIdOf(stranger)}, partner_id, environment, method_id, amount_cents, asked_by,
        asked_at, state, changed_at FROM firm_charges WHERE group_id = ${paymentId} LIMIT 1`);
  });
  await assert.rejects(take(intent), /not what the service wrote/);
  assert.deepEqual(await statuses([...codes, stranger]), [...all("QuoteReady"), "QuoteReady"]);
});

test("a charge can't be taken out of its payment", async () => {
  const { codes } = await charged();
  const id = await world.orderIdOf(codes[0]);
  await assert.rejects(db.query(sql`UPDATE firm_charges SET group_id = NULL WHERE order_id = ${id}`));
});
