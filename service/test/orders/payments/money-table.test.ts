import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticate, authenticatePayments, testRowMac } from "@signsealship/testing/row-mac";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { orderStatuses } from "../../../src/orders/order/transitions/statuses.ts";
import { applyEvent, type Outcome } from "../../../src/orders/payments/events/apply-event.ts";
import type { SignedEvent } from "../../../src/orders/payments/processor/processor.ts";
import { extraPaymentsOf, resolveUnapplied } from "../../../src/orders/payments/records/unapplied.ts";
import { openOrdersDatabase, silent } from "../order/orders-database.ts";

const at = new Date("2026-03-04T05:06:07.089Z");
const total = 9_900;

const orders = await forTests(openOrdersDatabase());

let count = 0;
function eventOf(type: string, code: string, more: Record<string, unknown> = {}): SignedEvent {
  const n = ++count;
  const object = {
    id: `cs_${n}`,
    client_reference_id: code,
    metadata: { order_code: code },
    payment_status: "paid",
    payment_intent: `pi_${n}`,
    amount_total: total,
    currency: "usd",
    ...more,
  };
  return { id: `evt_${n}`, type, data: { object } };
}

const take = (event: SignedEvent, livemode: boolean | null = null) =>
  orders.db.transaction((tx) => applyEvent(tx, event, { at, log: silent, actor: "processor", livemode }));

type Expected = Readonly<Record<string, readonly string[]>>;

// For each message of the processor: the statuses that it changes, and the new ones. All other statuses stay unchanged.
const messages: Record<string, { make: (code: string) => SignedEvent; moves: Expected; otherwise: Outcome }> = {
  "paid in full": {
    make: (code) => eventOf("checkout.session.completed", code),
    moves: paidWays("EsignPending"),
    otherwise: "unapplied",
  },
  "paid late": {
    make: (code) => eventOf("checkout.session.async_payment_succeeded", code),
    moves: paidWays("EsignPending"),
    otherwise: "unapplied",
  },
  "paid, a cent short": {
    make: (code) => eventOf("checkout.session.completed", code, { amount_total: total - 1 }),
    moves: each(["QuoteReady", "AwaitingPayment", "PaymentFailed"], "OnHold"),
    otherwise: "unapplied",
  },
  "paid, in another currency": {
    make: (code) => eventOf("checkout.session.completed", code, { currency: "jpy" }),
    moves: each(["QuoteReady", "AwaitingPayment", "PaymentFailed"], "OnHold"),
    otherwise: "unapplied",
  },
  "paid, with no sum said": {
    make: (code) => eventOf("checkout.session.completed", code, { amount_total: null, currency: null }),
    moves: each(["QuoteReady", "AwaitingPayment", "PaymentFailed"], "OnHold"),
    otherwise: "unapplied",
  },
  "completed, not cleared": {
    make: (code) => eventOf("checkout.session.completed", code, { payment_status: "unpaid" }),
    moves: each(["QuoteReady", "PaymentFailed"], "AwaitingPayment"),
    otherwise: "stale",
  },
  "session expired": {
    make: (code) => eventOf("checkout.session.expired", code, { payment_status: "unpaid" }),
    moves: each(["QuoteReady", "PaymentFailed"], "AwaitingPayment"),
    otherwise: "stale",
  },
  "failed late": {
    make: (code) => eventOf("checkout.session.async_payment_failed", code, { payment_status: "unpaid" }),
    moves: each(["QuoteReady", "AwaitingPayment"], "PaymentFailed"),
    otherwise: "stale",
  },
  declined: {
    make: (code) => eventOf("payment_intent.payment_failed", code),
    moves: each(["QuoteReady", "AwaitingPayment"], "PaymentFailed"),
    otherwise: "stale",
  },
  "refunded, of a payment that is not on record": {
    make: (code) => eventOf("charge.refunded", code, { refunded: true }),
    moves: {},
    otherwise: "unapplied",
  },
  "something else": {
    make: (code) => eventOf("invoice.paid", code),
    moves: {},
    otherwise: "irrelevant",
  },
};

function each(statuses: string[], to: string): Expected {
  return Object.fromEntries(statuses.map((from) => [from, [`${from} -> ${to}`]]));
}

function paidWays(first: string): Expected {
  const ways = ["QuoteReady", "AwaitingPayment", "PaymentFailed"].map((from) => [
    from,
    [`${from} -> Paid`, `Paid -> ${first}`],
  ]);
  return Object.fromEntries(ways);
}

for (const [name, { make, moves, otherwise }] of Object.entries(messages)) {
  test(`${name}: every status`, async () => {
    for (const status of orderStatuses) {
      const code = await orders.insert(status, { statusBeforeHold: status === "OnHold" ? "EsignPending" : null });
      const event = make(code);
      const taken = await take(event);
      const look = await orders.look(code);
      assert.deepEqual(look.moves, moves[status] ?? [], status);
      const expected = moves[status] ? (look.status === "OnHold" ? "held" : "moved") : otherwise;
      assert.equal(taken.outcome, expected, status);
      const paid = look.moves.some((move) => move.endsWith("-> Paid"));
      assert.deepEqual(look.events, paid ? [`payment.cleared:${code}`] : []);
      // Delivers the same event again, and then the same content as another event.
      assert.equal((await take(event)).outcome, "repeated");
      await take({ ...event, id: `${event.id}_again` });
      assert.deepEqual(await orders.look(code), look, status);
    }
  });
}

test("a whole refund of the payment on record: every status", async () => {
  for (const status of orderStatuses) {
    const code = await orders.insert(status, { statusBeforeHold: status === "OnHold" ? "EsignPending" : null });
    await orders.db.query(sql`
      INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
      SELECT id, ${`pi_of_${code}`}, 'cs', 9900, 'usd', false, now() FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
    await authenticatePayments(orders.db, sql`payment_intent = ${`pi_of_${code}`}`);
    const refund = (whole: boolean) =>
      eventOf("charge.refunded", code, { payment_intent: `pi_of_${code}`, refunded: whole });
    assert.equal((await take(refund(false))).outcome, "stale");
    assert.deepEqual((await orders.look(code)).moves, []);
    await take(refund(true));
    const unpaid = [
      "Created",
      "QuoteReady",
      "AwaitingPayment",
      "PaymentFailed",
      "ManualQuoteRequired",
      "Cancelled",
      "Refunded",
    ];
    const { moves } = await orders.look(code);
    if (unpaid.includes(status)) assert.deepEqual(moves, [], status);
    else if (status === "RefundPending") assert.deepEqual(moves, ["RefundPending -> Refunded"]);
    else assert.deepEqual(moves, [`${status} -> RefundPending`, "RefundPending -> Refunded"]);
  }
});

/** The states of the order's tasks about payments that were not applied to it. */
const unappliedTasks = (code: string) =>
  orders.db.query<{ state: string }>(
    sql`SELECT state FROM tasks WHERE kind = 'payment_unapplied' AND order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`,
  );

test("a refund that comes before its payment prevents that payment from counting; nobody has to act", async () => {
  const code = await orders.insert("QuoteReady");
  await take(eventOf("charge.refunded", code, { payment_intent: "pi_early", refunded: true }));
  const taken = await take(eventOf("checkout.session.completed", code, { payment_intent: "pi_early" }));
  assert.equal(taken.outcome, "unapplied");
  assert.equal((await orders.look(code)).status, "QuoteReady");
  assert.deepEqual(await unappliedTasks(code), []);
  assert.deepEqual(await extraPaymentsOf(orders.db, code), [], "its page doesn't call the only payment a further one");
});

test("a further payment is undecided until a part is refunded, a bank takes it back, or a person resolves it", async () => {
  const part = (code: string, intent: string) =>
    eventOf("refund.updated", code, {
      id: `re_${intent}`,
      object: "refund",
      payment_intent: intent,
      amount: 100,
      status: "succeeded",
    });
  const lost = (code: string, intent: string) =>
    eventOf("charge.dispute.closed", code, {
      id: `dp_${intent}`,
      payment_intent: intent,
      amount: total,
      status: "lost",
    });
  const operator = randomUUID();
  await orders.db.query(
    sql`INSERT INTO users (id, email, created_at) VALUES (${operator}, 'ada@operator.example', ${at})`,
  );
  await orders.db.query(
    sql`INSERT INTO operators (user_id, name, roles, added_at) VALUES (${operator}, 'Ada Agent', '{agent}', ${at})`,
  );
  for (const [name, decide] of [
    ["part", part],
    ["lost", lost],
    ["person", null],
  ] as const) {
    const code = await orders.insert("QuoteReady");
    await take(eventOf("checkout.session.completed", code));
    const intent = `pi_further_${name}`;
    const second = eventOf("checkout.session.completed", code, { payment_intent: intent });
    assert.equal((await take(second)).outcome, "unapplied");
    const undecided = async () => (await extraPaymentsOf(orders.db, code)).map(({ isUndecided }) => isUndecided);
    assert.deepEqual(await undecided(), [true], name);
    if (decide) await take(decide(code, intent));
    else
      await resolveUnapplied(
        { db: orders.db, clock: () => at },
        { id: operator, actor: "operator:test" },
        { eventId: second.id, environment: "live", note: "sent back by check" },
      );
    assert.deepEqual(await undecided(), [false], name);
  }
});

test("a second payment of a paid order is recorded and reported, and its refund ends that without refunding the order", async () => {
  const code = await orders.insert("QuoteReady");
  await take(eventOf("checkout.session.completed", code));
  const second = await take(eventOf("checkout.session.completed", code, { payment_intent: "pi_second" }));
  assert.equal(second.outcome, "unapplied");
  assert.deepEqual(await unappliedTasks(code), [{ state: "open" }]);
  await take(eventOf("charge.refunded", code, { payment_intent: "pi_second", refunded: true }));
  assert.deepEqual(await unappliedTasks(code), [{ state: "done" }]);
  assert.equal((await orders.look(code)).status, "EsignPending");
});

test("a dispute holds unfinished work and is a task until the bank decides, in any order of events", async () => {
  const tasks = (code: string) =>
    orders.db.query<{ state: string; reason: string }>(sql`
      SELECT state, reason FROM tasks WHERE kind = 'dispute' AND order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);
  const disputeOf = (n: string, type: string, status: string): SignedEvent => ({
    id: `evt_dispute_${++count}`,
    type: `charge.dispute.${type}`,
    data: { object: { id: `dp_${n}`, payment_intent: `pi_disputed_${n}`, amount: total, status } },
  });
  for (const end of ["won", "lost"]) {
    const code = await orders.insert("QuoteReady");
    await take(eventOf("checkout.session.completed", code, { payment_intent: `pi_disputed_${end}` }));
    const created = disputeOf(end, "created", "needs_response");
    assert.equal((await take(created)).outcome, "moved");
    assert.equal((await take(created)).outcome, "repeated");
    assert.equal((await take(disputeOf(end, "created", "needs_response"))).outcome, "stale");
    assert.equal((await orders.look(code)).status, "OnHold");
    assert.deepEqual(
      (await tasks(code)).map(({ state }) => state),
      ["open"],
    );
    assert.match((await tasks(code))[0]?.reason ?? "", /\$99\.00/);
    await take(disputeOf(end, "closed", end));
    // The order stays on hold until a person releases it. After a lost dispute, a person also settles the money by
    // hand.
    assert.equal((await orders.look(code)).status, "OnHold");
    const found = await tasks(code);
    assert.deepEqual(found.map((each) => each.state).sort(), end === "won" ? ["done"] : ["done", "open"]);
    if (end === "lost") assert.match(found.find((each) => each.state === "open")?.reason ?? "", /back for good/);
  }
  const code = await orders.insert("QuoteReady");
  await take(eventOf("checkout.session.completed", code, { payment_intent: "pi_disputed_early" }));
  await take(disputeOf("early", "closed", "won"));
  await take(disputeOf("early", "created", "needs_response"));
  assert.equal((await orders.look(code)).status, "EsignPending");
  assert.deepEqual(
    (await tasks(code)).map(({ state }) => state),
    ["done"],
  );
  assert.equal((await take(disputeOf("nobody", "created", "needs_response"))).outcome, "unknown");
});

test("events of another account and of unknown orders change nothing", async () => {
  const code = await orders.insert("QuoteReady");
  assert.equal(
    (await take({ ...eventOf("checkout.session.completed", code), account: "acct_other" })).outcome,
    "foreign",
  );
  assert.equal((await take(eventOf("checkout.session.completed", "0".repeat(40)))).outcome, "unknown");
  assert.equal((await orders.look(code)).status, "QuoteReady");
  for (const object of [null, "text", 7, [], {}, { client_reference_id: 5, metadata: "x" }])
    assert.equal(
      (await take({ id: `evt_odd_${++count}`, type: "checkout.session.completed", data: { object } })).outcome,
      "unknown",
    );
});

test("a session that this service did not create pays nothing, whatever reference its payer chooses", async () => {
  const code = await orders.insert("QuoteReady");
  const reference = { client_reference_id: code };
  const paymentLink = eventOf("checkout.session.completed", code, { ...reference, metadata: {} });
  assert.equal((await take(paymentLink)).outcome, "unknown");
  assert.equal((await orders.look(code)).status, "QuoteReady");
  // The processor created the session, but the service did not record it. The event's metadata identifies the order.
  assert.equal((await take(eventOf("checkout.session.completed", code))).outcome, "moved");
});

test("a session of this service pays its order, whatever its metadata say", async () => {
  const code = await orders.insert("QuoteReady");
  await orders.db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, session_id, url, created_at,
      expires_at)
    SELECT gen_random_uuid(), id, 'open', 9900, 'usd', 'cs_minted', 'x', now(), now() FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  await authenticate({ db: orders.db, rowMac: testRowMac }, "checkout_sessions");
  const other = await orders.insert("QuoteReady");
  const event = eventOf("checkout.session.completed", other, { id: "cs_minted" });
  assert.equal((await take(event)).outcome, "moved");
  assert.equal((await orders.look(code)).status, "EsignPending");
  assert.equal((await orders.look(other)).status, "QuoteReady");
});

test("events of the test mode change nothing with a live key; all others count, whatever key a node has", async () => {
  const code = await orders.insert("QuoteReady");
  const event = eventOf("checkout.session.completed", code);
  assert.equal((await take({ ...event, livemode: false }, true)).outcome, "foreign");
  assert.equal((await orders.look(code)).status, "QuoteReady");
  for (const [keyIsLive, more] of [
    [true, { livemode: true }],
    [true, {}],
    [false, { livemode: true }],
    [false, { livemode: false }],
    [false, {}],
  ] as const) {
    const paid = await orders.insert("QuoteReady");
    const said = { ...eventOf("checkout.session.completed", paid), ...more };
    assert.equal((await take(said, keyIsLive)).outcome, "moved", JSON.stringify([keyIsLive, more]));
  }
});

test("no event of live mode pays a test order or refunds it", async () => {
  const code = await orders.insert("QuoteReady", { environment: "test" });
  for (const type of ["checkout.session.completed", "charge.refunded"]) {
    const event = { ...eventOf(type, code, { refunded: true }), livemode: true };
    assert.equal((await take(event)).outcome, "foreign", type);
  }
  assert.equal((await orders.look(code)).status, "QuoteReady");
  assert.equal((await take({ ...eventOf("checkout.session.completed", code), livemode: false })).outcome, "moved");
});

test("late events of a session that has failed before change nothing", async () => {
  const code = await orders.insert("AwaitingPayment");
  await orders.db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, session_id, url, created_at,
      expires_at)
    SELECT gen_random_uuid(), id, 'open', 9900, 'usd', 'cs_late', 'x', now(), now() FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  await authenticate({ db: orders.db, rowMac: testRowMac }, "checkout_sessions");
  await take(eventOf("checkout.session.async_payment_failed", code, { id: "cs_late" }));
  const late = await take(eventOf("checkout.session.completed", code, { id: "cs_late", payment_status: "unpaid" }));
  assert.equal(late.outcome, "stale");
  assert.equal((await orders.look(code)).status, "PaymentFailed");
});

test("thirty concurrent deliveries of one event move the order once", async () => {
  const code = await orders.insert("QuoteReady");
  const event = eventOf("checkout.session.completed", code);
  const outcomes = await Promise.all(Array.from({ length: 30 }, async () => (await take(event)).outcome));
  assert.deepEqual(outcomes.filter((outcome) => outcome === "moved").length, 1);
  assert.deepEqual((await orders.look(code)).events, [`payment.cleared:${code}`]);
});
