import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { testRowMac } from "@signsealship/testing/row-mac";
import fc from "fast-check";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { closeTasks } from "../../../../src/kernel/tasks/tasks.ts";
import { documentsOfOrder, readIssuer, registerIssuer, statementsOf } from "../../../../src/orders/billing/billing.ts";
import { type MoveDeps, moveOrder } from "../../../../src/orders/fulfilment/fulfilment.ts";
import { lockOrder } from "../../../../src/orders/order/order.ts";
import { sharesOf } from "../../../../src/orders/payments/events/apply-dispute.ts";
import { applyEvent } from "../../../../src/orders/payments/events/apply-event.ts";
import { askSupplement, heldPayments, isDisputed, supplementsOf } from "../../../../src/orders/payments/payments.ts";
import { shareRequest } from "../../../../src/orders/payments/processor/processor.ts";
import { recordPayment } from "../../../../src/orders/payments/records/payments.ts";
import { settleSupplement } from "../../../../src/orders/payments/records/supplements.ts";
import { openOrdersDatabase, silent } from "../../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const at = new Date("2026-03-04T05:06:07.089Z");
const total = 9_900;
await registerIssuer(db, readIssuer(new URL("../../../../data/billing.yaml", import.meta.url).pathname), at);
const [firm] = await db.query<{ partnerId: string }>(sql`SELECT id AS "partnerId" FROM partners`);
const owner = { partnerId: firm?.partnerId ?? "", environment: "live", firmName: "Acme Title" } as const;

const noDocument = () => assert.fail("these moves have no document");
const blobs = { write: noDocument, discard: noDocument } as unknown as MoveDeps["blobs"];
const moves: MoveDeps = { db, clock: () => at, log: silent, blobs, rowMac: testRowMac, openSealer: noDocument };

let count = 0;
type Event = { id: string; type: string; created: number; data: { object: object } };
const eventOf = (type: string, object: object, created = 1_772_600_000): Event => ({
  id: `evt_${++count}`,
  type,
  created,
  data: { object },
});
const take = async (event: Event) =>
  db.transaction((tx) => applyEvent(tx, event, { at, log: silent, actor: "processor" }));
const takeAll = async (...events: Event[]) => {
  for (const event of events) await take(event);
};

const paid = (code: string, intent: string) =>
  eventOf("checkout.session.completed", {
    id: `cs_${intent}`,
    metadata: { order_code: code },
    payment_status: "paid",
    payment_intent: intent,
    amount_total: total,
    currency: "usd",
  });
const disputed = (intent: string, status: string, created?: number, amount = total) =>
  eventOf(
    `charge.dispute.${status === "needs_response" ? "created" : "closed"}`,
    { id: `dp_${intent}`, payment_intent: intent, amount, currency: "usd", status },
    created,
  );
const refund = (intent: string, id: string, status: string, amount = total) =>
  eventOf(`refund.${status === "failed" ? "failed" : "updated"}`, {
    id,
    payment_intent: intent,
    amount,
    currency: "usd",
    status,
    metadata: {},
  });

async function newOrder(status = "QuoteReady") {
  const code = await orders.insert(status);
  const [row] = await db.query<{ id: number }>(sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  return { code, id: row?.id ?? 0, intent: `pi_${++count}` };
}

async function paidOrder() {
  const order = await newOrder();
  await take(paid(order.code, order.intent));
  return order;
}

const wholeRefund = (intent: string, amount = total, metadata = {}) =>
  eventOf("charge.refunded", { payment_intent: intent, refunded: true, amount, currency: "usd", metadata });

/** An order in ShippingPending with two payments: one for its price and one for its supplement. */
async function orderWithSupplement() {
  const order = await newOrder("ShippingPending");
  const extra = `${order.intent}_extra`;
  const payment = { orderId: order.id, currency: "usd", simulated: false, at };
  await db.transaction(async (tx) => {
    await recordPayment(tx, {
      ...payment,
      paymentIntent: order.intent,
      sessionId: `cs_${order.intent}`,
      amount: total,
    });
    const locked = await lockOrder(tx, order.code);
    assert.ok(locked);
    await askSupplement(tx, locked, { amountCents: 407, label: "Postage", actor: "system", at });
    const paymentId = await recordPayment(tx, {
      ...payment,
      paymentIntent: extra,
      sessionId: `cs_${extra}`,
      amount: 407,
    });
    const [asked] = await supplementsOf(tx, order.id);
    assert.ok(asked && paymentId);
    const settled = { supplementId: asked.id, paymentId, cents: 407 };
    assert.equal(await settleSupplement(tx, locked, settled, { actor: "processor", at }), true);
  });
  return { ...order, extra };
}

const stateOf = async (intent: string) =>
  (await db.query<{ state: string }>(sql`SELECT state FROM disputes WHERE id = ${`dp_${intent}`}`))[0]?.state;
const tasksOf = (orderId: number, kind: string) =>
  db.query<{ state: string; reason: string }>(
    sql`SELECT state, reason FROM tasks WHERE order_id = ${orderId} AND kind = ${kind} ORDER BY id`,
  );
const booksOf = async (code: string) =>
  (await documentsOfOrder(db, code, owner)).map(({ kind, amountCents }) => [kind, amountCents]);
const sumsNow = async () => {
  const found = (await statementsOf({ db, clock: () => at }, owner)).at(-1)?.sums;
  assert.ok(found);
  return found;
};

test("a person who ends the task lets no refund through: the bank's decision counts alone", async () => {
  const { id, intent } = await paidOrder();
  assert.equal(await isDisputed(db, id), false);
  await take(disputed(intent, "needs_response"));
  const end = { state: "done", at, by: "operator:x", outcome: "answered" } as const;
  await db.transaction((tx) => closeTasks(tx, { orderId: id, kinds: ["dispute"] }, end));
  assert.equal(await isDisputed(db, id), true);
  await take(disputed(intent, "won"));
  assert.equal(await isDisputed(db, id), false);
});

test("a dispute in another currency is worded in it, and all that is left of the payment is booked as lost", async () => {
  const { code, id, intent } = await paidOrder();
  const inEuro = (status: string) => {
    const { data, ...event } = disputed(intent, status, undefined, 8_400);
    return { ...event, data: { object: { ...data.object, currency: "eur" } } };
  };
  await takeAll(inEuro("needs_response"), inEuro("lost"));
  const reasons = (await tasksOf(id, "dispute")).map(({ reason }) => reason);
  assert.equal(reasons.length, 2);
  for (const reason of reasons) {
    assert.match(reason, /8400 \(eur, smallest unit\)/);
    assert.doesNotMatch(reason, /\$/);
  }
  assert.deepEqual(await booksOf(code), [
    ["receipt", total],
    ["loss", total],
  ]);
});

test("a dispute whose event overtakes its payment holds the order when the payment comes", async () => {
  for (const end of [null, "won", "lost"]) {
    const { code, id, intent } = await newOrder();
    assert.equal((await take(disputed(intent, "needs_response"))).outcome, "unknown");
    if (end) await take(disputed(intent, end));
    await take(paid(code, intent));
    assert.equal((await orders.look(code)).status, end === "won" ? "EsignPending" : "OnHold", String(end));
    assert.equal(await isDisputed(db, id), end === null);
    const open = (await tasksOf(id, "dispute")).filter(({ state }) => state === "open");
    assert.equal(open.length, end === "won" ? 0 : 1, String(end));
    if (end === "lost")
      assert.deepEqual(await booksOf(code), [
        ["receipt", total],
        ["loss", total],
      ]);
  }
});

test("events in any order and twice end in the state of the processor's latest decision", async () => {
  const t = 1_772_600_000;
  const cases: [string, [string, number][], string][] = [
    [
      "lost before opened",
      [
        ["lost", t + 9],
        ["needs_response", t],
      ],
      "lost",
    ],
    [
      "won twice",
      [
        ["needs_response", t],
        ["won", t + 5],
        ["won", t + 5],
      ],
      "won",
    ],
    [
      "a decision that is taken back",
      [
        ["won", t + 5],
        ["lost", t + 9],
      ],
      "lost",
    ],
    [
      "the same, the other way round",
      [
        ["lost", t + 9],
        ["won", t + 5],
      ],
      "lost",
    ],
    [
      "won after it was lost",
      [
        ["lost", t + 5],
        ["won", t + 9],
      ],
      "won",
    ],
    [
      "lost, won and lost again, which arrives twice",
      [
        ["lost", t + 5],
        ["won", t + 9],
        ["lost", t + 12],
        ["lost", t + 12],
      ],
      "lost",
    ],
    [
      "lost again and won again",
      [
        ["lost", t + 5],
        ["won", t + 9],
        ["lost", t + 12],
        ["won", t + 15],
      ],
      "won",
    ],
    [
      "both in one second",
      [
        ["lost", t],
        ["won", t],
      ],
      "lost",
    ],
    [
      "an inquiry that ends",
      [
        ["warning_needs_response", t],
        ["warning_closed", t + 5],
      ],
      "won",
    ],
    [
      "a status that nobody knows",
      [
        ["needs_response", t],
        ["something_new", t + 5],
      ],
      "opened",
    ],
  ];
  for (const [name, events, state] of cases) {
    const { code, id, intent } = await paidOrder();
    for (const [status, created] of events) await take(disputed(intent, status, created));
    assert.equal(await stateOf(intent), state, name);
    assert.equal(await isDisputed(db, id), state === "opened", name);
    const sum = (await booksOf(code)).reduce((cents, [kind, amount]) => {
      if (kind === "loss") return cents + Number(amount);
      return kind === "loss_reversal" ? cents - Number(amount) : cents;
    }, 0);
    assert.equal(sum, state === "lost" ? total : 0, name);
  }
});

test("the events of a dispute without an id, a payment or a sum change no other one", async () => {
  const { code, id, intent } = await paidOrder();
  for (const object of [
    {},
    { id: "dp_x" },
    { payment_intent: intent },
    { id: "d".repeat(300), payment_intent: intent },
  ])
    assert.equal((await take(eventOf("charge.dispute.created", object))).outcome, "irrelevant");
  assert.equal(await isDisputed(db, id), false);
  await take(eventOf("charge.dispute.created", { id: `dp_${intent}`, payment_intent: intent, amount: -5 }));
  assert.equal(await isDisputed(db, id), true);
  // The amount of this dispute is invalid, so the lost sum is unknown until a later event states it.
  await take(disputed(intent, "lost", 1_772_700_000, 700));
  assert.deepEqual(await booksOf(code), [
    ["receipt", total],
    ["loss", 700],
  ]);
});

test("a lost dispute is a loss and no refund: the price is owed until a refund of the order settles it", async () => {
  const before = await sumsNow();
  const { code, intent } = await paidOrder();
  await takeAll(disputed(intent, "needs_response"), disputed(intent, "lost"));
  const lost = await sumsNow();
  assert.deepEqual([lost.losses - before.losses, lost.refunds - before.refunds], [total, 0]);
  assert.equal(lost.closing, before.closing - total);
  assert.equal(lost.closing, lost.opening + lost.payments - lost.refunds - lost.losses - (lost.charges - lost.credits));
  assert.deepEqual(
    (await documentsOfOrder(db, code, owner)).map(({ number }) => number.split("-")[0]),
    ["R", "L"],
  );

  // The order is in RefundPending when the bank decides, and no money is left to send.
  const waiting = await newOrder("RefundPending");
  await take(paid(waiting.code, waiting.intent));
  await takeAll(disputed(waiting.intent, "needs_response"), disputed(waiting.intent, "lost"));
  assert.equal((await orders.look(waiting.code)).status, "Refunded");
  assert.deepEqual(await booksOf(waiting.code), [
    ["receipt", total],
    ["loss", total],
    ["loss_reversal", total],
    ["credit_note", total],
  ]);
  assert.deepEqual(await heldPayments(db, waiting.id), []);
  const settled = await sumsNow();
  assert.equal(settled.losses, lost.losses);
  assert.equal(settled.refunds, lost.refunds + total);
});

test("a dispute that was altered in the database lets nothing through", async () => {
  const { id, intent } = await paidOrder();
  await take(disputed(intent, "needs_response"));
  await db.query(sql`UPDATE disputes SET state = 'won' WHERE id = ${`dp_${intent}`}`);
  await assert.rejects(isDisputed(db, id), /not what the service wrote/);
  await assert.rejects(take(disputed(intent, "lost")), /not what the service wrote/);
  await assert.rejects(db.query(sql`DELETE FROM disputes WHERE id = ${`dp_${intent}`}`));
});

test("a refund that fails after it had succeeded reverses its credit note, once, and is a task", async () => {
  const { code, id, intent } = await paidOrder();
  const before = await sumsNow();
  await take(refund(intent, "re_part", "succeeded", 500));
  const failed = refund(intent, "re_part", "failed", 500);
  await takeAll(failed, failed, refund(intent, "re_part", "failed", 500), refund(intent, "re_part", "succeeded", 500));
  assert.deepEqual(await booksOf(code), [
    ["receipt", total],
    ["credit_note", 500],
    ["credit_reversal", 500],
  ]);
  // The failed refund left the money with the service, but the price is still credited. So the service owes the firm
  // the amount until another refund succeeds.
  const owed = await sumsNow();
  assert.deepEqual(
    [owed.refunds, owed.credits, owed.closing],
    [before.refunds, before.credits + 500, before.closing + 500],
  );
  const [task] = await tasksOf(id, "refund_failed");
  assert.match(task?.reason ?? "", /\$5\.00 \(re_part\) failed/);
  assert.equal((await tasksOf(id, "refund_failed")).length, 1);
  // The money is returned by another refund.
  await take(refund(intent, "re_again", "succeeded", 500));
  const after = await sumsNow();
  assert.deepEqual([after.refunds, after.closing], [before.refunds + 500, before.closing]);
});

test("a whole refund that fails is reversed, whichever of its events came first, and can be made again", async () => {
  for (const order of ["charge first", "refund first", "never succeeded"]) {
    const { code, id, intent } = await paidOrder();
    const name = `re_${intent}`;
    const whole = eventOf("charge.refunded", { payment_intent: intent, refunded: true, amount: total });
    if (order === "refund first") await takeAll(refund(intent, name, "succeeded"), whole);
    if (order === "charge first") await takeAll(whole, refund(intent, name, "succeeded"));
    if (order === "never succeeded") await takeAll(whole, refund(intent, name, "pending"));
    const byHand = async () => (await tasksOf(id, "refund_by_hand")).map(({ state }) => state);
    assert.deepEqual(await byHand(), ["open"], order);
    await take(refund(intent, name, "failed"));
    assert.deepEqual(await byHand(), ["dropped"], order);
    assert.deepEqual(
      await booksOf(code),
      [
        ["receipt", total],
        ["credit_note", total],
        ["credit_reversal", total],
      ],
      order,
    );
    await take(refund(intent, `${name}_again`, "succeeded"));
    assert.deepEqual((await booksOf(code)).at(-1), ["credit_note", total], order);
  }
});

test("a part that fails leaves the task open about a whole payment that another refund returned", async () => {
  const { id, intent } = await paidOrder();
  const [part, rest] = [`re_part_${intent}`, `re_rest_${intent}`];
  await takeAll(refund(intent, part, "succeeded", 500), refund(intent, rest, "succeeded", total - 500));
  await take(eventOf("charge.refunded", { payment_intent: intent, refunded: true, amount: total }));
  const states = async () => (await tasksOf(id, "refund_by_hand")).map(({ state }) => state);
  assert.deepEqual(await states(), ["open"]);
  await take(refund(intent, part, "failed", 500));
  assert.deepEqual(await states(), ["open"]);
  await take(refund(intent, rest, "failed", total - 500));
  assert.deepEqual(await states(), ["dropped"]);
});

test("a refund that failed before it succeeded here credits and reverses nothing", async () => {
  const { code, id, intent } = await paidOrder();
  await takeAll(refund(intent, "re_bad", "failed", 300), refund(intent, "re_bad", "succeeded", 300));
  assert.deepEqual(await booksOf(code), [["receipt", total]]);
  assert.equal((await tasksOf(id, "refund_failed")).length, 1);
});

test("a part that was refunded before its payment's event came has its credit note when it comes", async () => {
  const { code, intent } = await newOrder();
  assert.equal((await take(refund(intent, "re_early", "succeeded", 400))).outcome, "unknown");
  await take(paid(code, intent));
  assert.deepEqual(await booksOf(code), [
    ["receipt", total],
    ["credit_note", 400],
  ]);
});

test("twenty events of a payment and its dispute at once hold the order, whichever comes first", async () => {
  for (let round = 0; round < 5; round++) {
    const { code, id, intent } = await newOrder();
    const events = Array.from({ length: 4 }, () => [paid(code, intent), disputed(intent, "needs_response")]).flat();
    const results = await Promise.allSettled(events.map(take));
    // The processor sends the failed event again.
    for (const [n, { status }] of results.entries()) if (status === "rejected") await take(events[n] as Event);
    assert.equal((await orders.look(code)).status, "OnHold");
    assert.equal(await isDisputed(db, id), true);
    assert.deepEqual(await booksOf(code), [["receipt", total]]);
    assert.equal((await tasksOf(id, "dispute")).length, 1);
  }
});

test("an order whose price the bank took and whose supplement is refunded ends, and owes nothing", async () => {
  const { code, id, intent, extra } = await orderWithSupplement();
  const before = await sumsNow();
  await takeAll(disputed(intent, "needs_response"), disputed(intent, "lost"));
  await moveOrder(moves, { code, to: "RefundPending", document: null, facts: { reason: "asked by the firm" } });
  assert.equal((await orders.look(code)).status, "RefundPending");
  await take(wholeRefund(extra, 407));
  assert.equal((await orders.look(code)).status, "Refunded");
  assert.deepEqual(await heldPayments(db, id), []);
  const after = await sumsNow();
  assert.deepEqual([after.losses - before.losses, after.refunds - before.refunds], [0, total + 407]);
});

test("a refund of the rest of a payment settles the part that the bank took", async () => {
  const { code, id, intent } = await newOrder("RefundPending");
  const before = await sumsNow();
  await takeAll(paid(code, intent), disputed(intent, "needs_response"), disputed(intent, "lost", undefined, 3_000));
  const [held] = await heldPayments(db, id);
  const payment = String(held?.id);
  const rest = eventOf("refund.updated", {
    id: `re_${intent}`,
    payment_intent: intent,
    amount: total - 3_000,
    currency: "usd",
    status: "succeeded",
    metadata: { payment, refund_request: shareRequest(payment) },
  });
  await take(rest);
  assert.equal((await orders.look(code)).status, "Refunded");
  const after = await sumsNow();
  assert.deepEqual([after.losses - before.losses, after.refunds - before.refunds], [0, total]);
});

test("a price that is refunded at the processor stops the order, and its last supplement's refund ends it", async () => {
  const { code, intent, extra } = await orderWithSupplement();
  await take(wholeRefund(intent));
  const look = await orders.look(code);
  assert.equal(look.status, "RefundPending");
  assert.ok(look.jobs.includes("refund"), look.jobs.join());
  await take(wholeRefund(extra, 407));
  assert.equal((await orders.look(code)).status, "Refunded");

  // When only the supplement is refunded, the order continues.
  const other = await orderWithSupplement();
  await take(wholeRefund(other.extra, 407));
  assert.equal((await orders.look(other.code)).status, "ShippingPending");
});

test("a firm's payment whose refund came before it has a receipt and a credit note", async () => {
  const { code, intent } = await newOrder();
  const metadata = { order_code: code, charge: "0b9d2f4e-6c1a-4f57-9d3e-2a8b7c6d5e4f" };
  assert.equal((await take(wholeRefund(intent, total, metadata))).outcome, "unapplied");
  const object = { id: intent, amount_received: total, currency: "usd", metadata };
  assert.equal((await take(eventOf("payment_intent.succeeded", object))).outcome, "unapplied");
  assert.deepEqual(await booksOf(code), [
    ["receipt", total],
    ["credit_note", total],
  ]);
  assert.equal((await take(eventOf("payment_intent.succeeded", object))).outcome, "repeated");
});

test("an order is not released while the bank still decides on its payment", async () => {
  const { code, intent } = await paidOrder();
  await take(disputed(intent, "needs_response"));
  const release = () => moveOrder(moves, { code, to: null, document: null, facts: {} });
  await assert.rejects(release(), new RegExp(`stays on hold while .* disputed at the bank \\(dp_${intent}\\)`));
  assert.equal((await orders.look(code)).status, "OnHold");
  await take(disputed(intent, "won"));
  assert.equal((await release()).status, "EsignPending");
});

test("a dispute that is won after the refund settled its loss returns the money to the firm’s statement, each time", async () => {
  const { code, id, intent } = await paidOrder();
  await take(disputed(intent, "needs_response"));
  await moveOrder(moves, { code, to: "RefundPending", document: null, facts: { reason: "asked by the firm" } });
  const before = await sumsNow();
  await take(disputed(intent, "lost"));
  assert.equal((await orders.look(code)).status, "Refunded");
  const settled = [
    ["loss", total],
    ["loss_reversal", total],
    ["credit_note", total],
  ];
  const books = [["receipt", total], ...settled];
  assert.deepEqual(await booksOf(code), books);
  const won = disputed(intent, "won", 1_772_600_001);
  await takeAll(won, won, disputed(intent, "won", 1_772_600_001));
  assert.deepEqual(await booksOf(code), [...books, ["credit_reversal", total]]);
  const [task, ...more] = await tasksOf(id, "refund_failed");
  assert.deepEqual([task?.state, more], ["open", []]);
  const after = await sumsNow();
  assert.deepEqual([after.losses - before.losses, after.refunds - before.refunds], [0, 0]);
  assert.equal(after.closing, before.closing + total);
  assert.equal((await orders.look(code)).status, "Refunded");
  await take(disputed(intent, "lost", 1_772_600_002));
  assert.deepEqual(await booksOf(code), [...books, ["credit_reversal", total], ...settled]);
  assert.equal((await tasksOf(id, "refund_failed"))[0]?.state, "dropped");
  assert.equal((await sumsNow()).closing, before.closing);
  await take(disputed(intent, "won", 1_772_600_003));
  assert.deepEqual((await booksOf(code)).at(-1), ["credit_reversal", total]);
});

test("a dispute is shared in proportion to what is left of each order, to the cent, and never exceeds it", () => {
  const money = fc.integer({ min: 0, max: 1_000_000_000 });
  const orders = fc.array(money, { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(money, orders, (amount, rests) => {
      const total = rests.reduce((sum, cents) => sum + cents, 0);
      const wanted = Math.min(amount, total);
      const shares = sharesOf(
        amount,
        rests.map((restCents) => ({ restCents, lostCents: null })),
      );
      assert.equal(
        shares.reduce((sum, cents) => sum + cents, 0),
        wanted,
      );
      for (const [index, cents] of shares.entries()) {
        const rest = rests[index] ?? 0;
        assert.ok(cents >= 0 && cents <= rest);
        const exact = total === 0 ? 0 : (wanted / total) * rest;
        assert.ok(cents > exact - 1.001 && cents < exact + rests.length + 0.001, `${cents} of ${exact}`);
      }
      // For a repeated event, the losses of the first delivery are already recorded. The computed shares must still be
      // the same.
      const taken = shares.map((cents) => (cents > 0 ? cents : null));
      const again = rests.map((rest, index) => ({
        restCents: rest - (taken[index] ?? 0),
        lostCents: taken[index] ?? null,
      }));
      if (amount <= total) assert.deepEqual(sharesOf(amount, again), shares);
    }),
    { seed: 38, numRuns: 500 },
  );
  const open = (...rests: number[]) => rests.map((restCents) => ({ restCents, lostCents: null }));
  assert.deepEqual(sharesOf(100, open(100, 100, 100)), [33, 33, 34], "the last order has the cents that remain");
  assert.deepEqual(sharesOf(2, open(1_000, 1_000, 0)), [1, 1, 0]);
  assert.deepEqual(sharesOf(3, open(500, 500, 1)), [1, 1, 1]);
  assert.deepEqual(sharesOf(100, open(300, 100)), [75, 25]);
});

test("a lost dispute of a part of a shared payment is booked on its orders by their shares, once for doubled events in any order", async () => {
  for (const reversed of [false, true]) {
    const both = [await newOrder("EsignPending"), await newOrder("EsignPending")] as const;
    const intent = `pi_${++count}`;
    for (const { id } of both)
      await db.transaction((tx) =>
        recordPayment(tx, {
          orderId: id,
          paymentIntent: intent,
          sessionId: `cs_${intent}`,
          amount: total,
          currency: "usd",
          simulated: false,
          at,
        }),
      );
    const events = [
      disputed(intent, "needs_response", 1_772_600_001, 7_001),
      disputed(intent, "lost", 1_772_600_002, 7_001),
    ];
    await takeAll(...(reversed ? [...events].reverse() : events));
    for (const event of events) await take({ ...event, id: `${event.id}_again` });
    const losses = await Promise.all(both.map(async ({ code }) => (await booksOf(code))[1]));
    assert.deepEqual(losses, [
      ["loss", 3_500],
      ["loss", 3_501],
    ]);
    await take(disputed(intent, "won", 1_772_600_003, 7_001));
    for (const { code } of both) assert.equal((await booksOf(code)).at(-1)?.[0], "loss_reversal");
    await take(disputed(intent, "lost", 1_772_600_004, 7_001));
    const again = await Promise.all(both.map(async ({ code }) => (await booksOf(code)).at(-1)));
    assert.deepEqual(again, losses);
  }
});

test("a refund of one order’s part that arrives after the bank’s decision divides the loss again, to the cent", async () => {
  for (const isWhole of [false, true]) {
    const both = [await newOrder("EsignPending"), await newOrder("EsignPending")] as const;
    const [one, other] = both;
    const intent = `pi_${++count}`;
    const payments: number[] = [];
    for (const { id } of both) {
      const payment = { orderId: id, paymentIntent: intent, sessionId: `cs_${intent}`, amount: total };
      const paymentId = await db.transaction((tx) =>
        recordPayment(tx, { ...payment, currency: "usd", simulated: false, at }),
      );
      payments.push(paymentId ?? 0);
    }
    await take(disputed(intent, "lost", 1_772_600_002, 3_000));
    const losses = await Promise.all(both.map(async ({ code }) => (await booksOf(code)).at(-1)));
    assert.deepEqual(losses, [
      ["loss", 1_500],
      ["loss", 1_500],
    ]);
    // The event about a refund arrives only now, although the processor made the refund before the dispute.
    const [payment = 0] = payments;
    const [request, amount] = isWhole ? [shareRequest(String(payment)), total] : [`request-${intent}`, 9_801];
    const given = eventOf("refund.updated", {
      id: `re_${intent}`,
      payment_intent: intent,
      amount,
      currency: "usd",
      status: "succeeded",
      metadata: { payment: String(payment), refund_request: request },
    });
    await takeAll(given, given, { ...given, id: `${given.id}_again` });
    const sums = await Promise.all(
      both.map(async ({ code }) =>
        (await booksOf(code)).reduce((sum, [kind, cents]) => {
          const isOut = kind === "credit_note" || kind === "loss";
          return sum + (isOut ? -Number(cents) : Number(cents));
        }, 0),
      ),
    );
    const held = sums.reduce((all, cents) => all + cents, 0);
    assert.equal(held, 2 * total - 3_000 - amount, "what the processor holds");
    assert.ok(sums.every((cents) => cents >= 0));
    const credited = (await booksOf(one.code)).filter(([kind]) => kind === "credit_note");
    assert.deepEqual(credited, [["credit_note", amount]]);
    assert.ok((await booksOf(other.code)).some(([kind]) => kind === "loss_reversal"));
    await take(disputed(intent, "won", 1_772_600_003, 3_000));
    const left = await Promise.all(both.map(async ({ id }) => (await heldPayments(db, id))[0]?.lostCents ?? 0));
    assert.deepEqual(left, [0, 0]);
  }
});
