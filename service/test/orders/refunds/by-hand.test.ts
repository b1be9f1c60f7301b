import assert from "node:assert/strict";
import { test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import { enqueueAfter, type Handler } from "../../../src/kernel/platform/jobs/jobs.ts";
import { documentsOfOrder } from "../../../src/orders/billing/billing.ts";
import { lockOrder, transition } from "../../../src/orders/order/order.ts";
import {
  heldPayments,
  openProcessor,
  sharedCheckout,
  sumsAgree,
  watchPayments,
} from "../../../src/orders/payments/payments.ts";
import { reconcile, scheduleReconciliation } from "../../../src/orders/payments/reconcile/reconcile.ts";
import { checkRefunds, refundOrder } from "../../../src/orders/payments/refunds/give-back.ts";
import {
  approveAssignment,
  approveRefund,
  askAssignment,
  dropAssignment,
  finishFailedRefund,
  partRefundJobs,
  previewRefund,
  type RefundDeps,
  refuseRefund,
  requestPartRefund,
  requestRefund,
  undoPaidBack,
  waitingRefunds,
} from "../../../src/orders/refunds/refunds.ts";
import { pathOfTask } from "../../../src/pages/operator/today/page.ts";
import { queueOf } from "../../../src/upkeep/console/console.ts";
import { Crash, openMoneyWorld } from "../payments/money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, fuse, clock } = world;
const refunds: RefundDeps = { ...deps, refundApproval: "two-persons" };
const keys = { secretKey: "sk_live_double", webhookSecret: stripe.webhookSecret, apiBase: stripe.url };
const books = { db, clock, log: deps.log, processor: openProcessor(keys, "https://sss.example") };
const firm = await world.newFirm();
const total = 9_900;
const hour = 3_600_000;

const agent = await world.newOperator("agent");
const approver = await world.newOperator("approver");

/** Runs all waiting jobs. */
async function work(): Promise<void> {
  for (const job of await world.waitingJobs()) await world.run(job);
}

/** Orders that are paid together. */
async function paid(count = 2, firstCents = total) {
  const codes: string[] = [];
  for (let n = 0; n < count; n++) {
    const totalCents = n === 0 ? firstCents : total;
    codes.push(await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, totalCents }));
  }
  const members = await Promise.all(codes.map(async (code) => ({ id: await world.orderIdOf(code), code })));
  const group = { groupId: newUuid(), environment: "live" } as const;
  const { checkoutUrl } = await sharedCheckout(deps, group, async () => members);
  const event = stripe.pay(stripe.sessionOf(checkoutUrl));
  await world.take(event);
  return { codes, intent: String(event.data.object["payment_intent"]) };
}

/**
 * Simulates a refund that somebody makes at the processor. @returns the refund's id, and the payments that it may be
 * for
 */
async function refundedByHand(intent: string, cents: number) {
  for (const event of stripe.refundByHand(intent, cents)) await world.take(event);
  await work();
  const waiting = (await waitingRefunds({ db }, agent)).find(({ paymentIntent }) => paymentIntent === intent);
  if (!waiting) throw new Error("the refund does not wait");
  const payments = waiting.shares.map(({ paymentId }) => paymentId);
  const parts = (...sums: number[]) => sums.map((each, n) => ({ payment: payments[n] ?? 0, cents: each }));
  return { refund: waiting.id, payments, parts };
}

async function refunded(cents: number, count = 2) {
  const { codes, intent } = await paid(count);
  return { codes, intent, ...(await refundedByHand(intent, cents)) };
}

/** Moves an order to RefundPending. */
const pend = (code: string) =>
  db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    if (order)
      await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });

/** The handlers of the jobs for approved partial refunds, by queue. */
const givers = new Map<string, Handler<object>>();
partRefundJobs(
  {
    work: (queue, handler) => void givers.set(queue, handler as Handler<object>),
    start: async () => {},
    stop: async () => {},
  },
  { ...deps, processor: books.processor },
);
async function give(requestId: string): Promise<void> {
  await givers.get("part-refund")?.({ requestId }, { attempt: 1, signal: new AbortController().signal });
}

/** Resumes the approved partial refunds of an order, if a job is queued for the order. */
async function resume(code: string): Promise<void> {
  const orderId = await world.orderIdOf(code);
  const queued = await db.query(sql`
    DELETE FROM jobs WHERE queue = 'part-refund-news' AND (payload ->> 'orderId')::int = ${orderId} RETURNING 1`);
  if (queued.length === 0) return;
  await givers.get("part-refund-news")?.({ orderId }, { attempt: 1, signal: new AbortController().signal });
}

/** Requests and approves a refund of a part of an order. The job of this refund does not run. */
async function approvedPart(code: string, amountCents: number): Promise<string> {
  const { id: requestedBy, actor } = agent;
  const asked = await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    if (!order || requestedBy === null) throw new Error("no such order");
    return requestPartRefund(tx, order, { amountCents, reason: "asked", requestedBy, actor, at: clock() });
  });
  if ("refusal" in asked) throw new Error(asked.refusal);
  await approveRefund(refunds, approver, asked.requestId);
  return asked.requestId;
}

async function partOf(code: string, amountCents: number): Promise<void> {
  await give(await approvedPart(code, amountCents));
}

const refundsAt = (intent: string) => stripe.refunds.filter((each) => each["payment_intent"] === intent);

/** Applies the processor's events about the latest refund of an intent. */
async function takeLast(intent: string): Promise<void> {
  for (const event of stripe.refundEvents(refundsAt(intent).at(-1) ?? {})) await world.take(event);
}

const failuresTold = (ids: readonly number[]) =>
  db.query<{ orderId: number; cents: number }>(sql`
    SELECT DISTINCT (payload ->> 'orderId')::int AS "orderId", (payload ->> 'cents')::int AS cents FROM jobs
    WHERE queue = 'firm-money-mail' AND payload ->> 'moment' = 'refund_failed'
      AND (payload ->> 'orderId')::int = ANY (${ids}::int[])`);

const ask = (refund: string, parts: { payment: number; cents: number }[], by = agent, reason = "the payer asked") =>
  askAssignment(refunds, by, { refund, parts, reason });

const notesOf = async (code: string) =>
  (await documentsOfOrder(db, code, firm.owner))
    .filter(({ kind }) => kind !== "receipt")
    .map(({ kind, amountCents }) => [kind, amountCents]);
const statuses = (codes: readonly string[]) =>
  Promise.all(codes.map(async (code) => (await world.orders.look(code)).status));
const tasksOf = (refund: string) =>
  db.query<{ state: string }>(sql`SELECT state FROM tasks WHERE kind = 'refund_by_hand' AND subject = ${refund}`);

/** Compares our books with the processor two days later, when nothing is in progress. */
async function compare(): Promise<string> {
  world.advance(49 * hour);
  await scheduleReconciliation(books);
  await reconcile(books, clock().toISOString().slice(0, 10));
  return sumsAgree(db).catch((error: Error) => `red: ${error.message}`);
}

await scheduleReconciliation(books);
await reconcile(books, clock().toISOString().slice(0, 10));

test("a person says which orders a refund was for, another approves, and books that were red are green", async () => {
  const { codes, refund, parts } = await refunded(1_000);
  assert.match(await compare(), /^red: 1000 cents left there, and 0 of refunds/);
  const id = await ask(refund, parts(300, 700));
  assert.deepEqual(await Promise.all(codes.map(notesOf)), [[], []]);
  await approveAssignment(refunds, approver, id);
  assert.deepEqual(await Promise.all(codes.map(notesOf)), [[["credit_note", 300]], [["credit_note", 700]]]);
  assert.deepEqual(await statuses(codes), ["EsignPending", "EsignPending"]);
  assert.deepEqual(await tasksOf(refund), [{ state: "done" }]);
  assert.deepEqual(await waitingRefunds({ db }, agent), []);
  assert.match(await compare(), /^charges \d+ cents/);
});

test("an order of which nothing is left ends as refunded, and the others continue", async () => {
  const { codes, refund, parts } = await refunded(total + 100);
  await approveAssignment(refunds, approver, await ask(refund, parts(total, 100)));
  assert.deepEqual(await statuses(codes), ["Refunded", "EsignPending"]);
  assert.deepEqual(await Promise.all(codes.map(notesOf)), [[["credit_note", total]], [["credit_note", 100]]]);
});

test("refuses parts that don’t add up, that are too large, that are of other payments, and that name one twice", async () => {
  const { refund, parts, payments } = await refunded(total + 100);
  const other = await refunded(50);
  const [first = 0, second = 0] = payments;
  for (const [given, message] of [
    [parts(total), /must add up to the refund of \$100\.00. Their sum is \$99\.00/],
    [parts(total + 100), /amount of order \w{6} must be at most \$99\.00/],
    [
      [
        { payment: first, cents: 9_950 },
        { payment: other.payments[0] ?? 0, cents: 50 },
      ],
      /orders must name/,
    ],
    [[], /orders must name at least one order/],
    [parts(-100, total + 200), /whole number of cents, and not below zero/],
    [parts(0.5, 9_999.5), /whole number of cents/],
    [
      [
        { payment: second, cents: 5_000 },
        { payment: second, cents: 5_000 },
      ],
      /name each order once/,
    ],
  ] as const)
    await assert.rejects(ask(refund, [...given]), message);
  await assert.rejects(ask(refund, parts(9_900, 100), agent, " "), /reason must have 1 to 500 characters/);
  await assert.rejects(ask("re_unknown", parts(9_900, 100)), /No refund with this name waits/);
  await assert.rejects(ask(refund, parts(9_900, 100), { ...agent, environment: "test" }), /No refund with this name/);
  await assert.rejects(
    ask(refund, parts(9_900, 100), await world.newOperator("auditor")),
    /Your roles do not permit this/,
  );
  await assert.rejects(ask(refund, parts(9_900, 100), { ...agent, id: null }), /need people with names/);
  assert.deepEqual(await db.query(sql`SELECT FROM refund_assignments WHERE refund = ${refund}`), []);
});

test("needs two people; one assignment waits at a time, and a withdrawn or refused one makes way for another", async () => {
  const { refund, parts, codes } = await refunded(400);
  const own = await ask(refund, parts(400), approver);
  await assert.rejects(approveAssignment(refunds, approver, own), /You asked for this assignment yourself/);
  await assert.rejects(ask(refund, parts(0, 400)), /Somebody already said/);
  await assert.rejects(approveAssignment(refunds, agent, own), /Your roles do not permit this/);
  await assert.rejects(dropAssignment(refunds, agent, own), /Your roles do not permit this/);
  await dropAssignment(refunds, approver, own);
  const wrong = await ask(refund, parts(0, 400));
  await dropAssignment(refunds, approver, wrong);
  await assert.rejects(approveAssignment(refunds, approver, wrong), /No such assignment waits/);
  const right = await ask(refund, parts(150, 250));
  const decided = await Promise.allSettled([1, 2, 3].map(() => approveAssignment(refunds, approver, right)));
  assert.equal(decided.filter(({ status }) => status === "fulfilled").length, 1);
  assert.deepEqual(await Promise.all(codes.map(notesOf)), [[["credit_note", 150]], [["credit_note", 250]]]);
  const states = await db.query<{ state: string }>(
    sql`SELECT state FROM refund_assignments WHERE refund = ${refund} ORDER BY requested_at, state`,
  );
  assert.deepEqual(states.map(({ state }) => state).sort(), ["approved", "refused", "withdrawn"]);
});

test("a crash at any point of the approval books all of its parts or none, and the next approval books them once", async () => {
  const { codes, refund, parts } = await refunded(600, 3);
  const id = await ask(refund, parts(100, 200, 300));
  for (const points of [0, 1]) {
    fuse.set(points);
    await assert.rejects(approveAssignment(refunds, approver, id), Crash);
    fuse.set(null);
    assert.deepEqual(await Promise.all(codes.map(notesOf)), [[], [], []]);
  }
  await approveAssignment(refunds, approver, id);
  for (const event of stripe.refundEvents(stripe.refunds.find((each) => each["id"] === refund) ?? {}))
    await world.take(event);
  assert.deepEqual(
    await Promise.all(codes.map(notesOf)),
    [100, 200, 300].map((cents) => [["credit_note", cents]]),
  );
});

test("a later refund of the order returns its rest alone, and a refund that fails later reverses each order’s part", async () => {
  const { codes, intent, refund, parts } = await refunded(1_000);
  await approveAssignment(refunds, approver, await ask(refund, parts(400, 600)));
  const [code = "", other = ""] = codes;
  await pend(code);
  await work();
  assert.equal(refundsAt(intent).at(-1)?.["amount"], total - 400);
  await takeLast(intent);
  assert.deepEqual(await statuses(codes), ["Refunded", "EsignPending"]);
  const failed = stripe.balance.failRefund(refund);
  await world.take(stripe.event("refund.failed", { ...failed }));
  assert.deepEqual(await notesOf(code), [
    ["credit_note", 400],
    ["credit_note", total - 400],
    ["credit_reversal", 400],
  ]);
  assert.deepEqual(await notesOf(other), [
    ["credit_note", 600],
    ["credit_reversal", 600],
  ]);
  const held = await heldPayments(db, await world.orderIdOf(other));
  assert.deepEqual(
    held.map(({ byHandCents }) => byHandCents),
    [0],
  );
  assert.match(await compare(), /^charges \d+ cents/);
  // The failure is reported for each order with its own amount.
  const [id, otherId] = [await world.orderIdOf(code), await world.orderIdOf(other)];
  assert.deepEqual(await failuresTold([id, otherId]), [
    { orderId: id, cents: 400 },
    { orderId: otherId, cents: 600 },
  ]);
});

test("a refund that fails reverses and tells nothing of an order that the service had refunded itself", async () => {
  for (const isWhole of [false, true]) {
    const { codes, intent } = await paid();
    const [code = "", other = ""] = codes;
    await pend(code);
    await work();
    await takeLast(intent);
    const cents = isWhole ? total : 1_000;
    if (isWhole) for (const event of stripe.refundByHand(intent, cents)) await world.take(event);
    else {
      const { refund, parts } = await refundedByHand(intent, cents);
      await approveAssignment(refunds, approver, await ask(refund, parts(0, cents)));
    }
    await world.take(stripe.failRefund(String(refundsAt(intent).at(-1)?.["id"])));
    assert.deepEqual(await Promise.all(codes.map(notesOf)), [
      [["credit_note", total]],
      [
        ["credit_note", cents],
        ["credit_reversal", cents],
      ],
    ]);
    const [id, otherId] = [await world.orderIdOf(code), await world.orderIdOf(other)];
    assert.deepEqual(await failuresTold([id, otherId]), [{ orderId: otherId, cents }]);
  }
});

test("while a refund waits for its orders, none of them is refunded; then each gets what is left", async () => {
  const { codes, intent } = await paid();
  const [code = "", other = ""] = codes;
  const whole = await requestRefund(refunds, agent, { code, reason: "asked" });
  const part = await requestRefund(refunds, agent, { code: other, reason: "asked", amountCents: 100 });
  const { refund, parts } = await refundedByHand(intent, 3_000);
  const first = { code: "conflict", message: `First say under Payments which orders the refund ${refund} was for.` };
  await assert.rejects(approveRefund(refunds, approver, whole), first);
  await assert.rejects(approveRefund(refunds, approver, part), first);
  await refuseRefund(refunds, approver, part, "not now");
  await assert.rejects(requestRefund(refunds, agent, { code: other, reason: "asked" }), first);
  assert.equal((await previewRefund({ db }, agent, other)).refusal, first.message);
  await approveAssignment(refunds, approver, await ask(refund, parts(3_000)));
  await approveRefund(refunds, approver, whole);
  await work();
  assert.equal(refundsAt(intent).at(-1)?.["amount"], total - 3_000);
  await takeLast(intent);
  assert.deepEqual(await statuses(codes), ["Refunded", "EsignPending"]);
  assert.match(await compare(), /^charges \d+ cents/);
});

test("a refund of an order that was approved before waits for the assignment, or for its failure", async () => {
  for (const fails of [false, true]) {
    const { codes, intent } = await paid();
    for (const code of codes) await pend(code);
    const { refund, parts } = await refundedByHand(intent, 3_000);
    assert.equal(refundsAt(intent).length, 1);
    assert.deepEqual(await tasksOf(refund), [{ state: "open" }]);
    if (fails) await world.take(stripe.failRefund(refund));
    else await approveAssignment(refunds, approver, await ask(refund, parts(1_000, 2_000)));
    await work();
    const shares = refundsAt(intent).slice(1);
    const rests = fails ? [total, total] : [total - 1_000, total - 2_000];
    assert.deepEqual(
      shares.map((each) => each["amount"]),
      rests,
    );
    for (const share of shares) for (const event of stripe.refundEvents(share)) await world.take(event);
    assert.deepEqual(await statuses(codes), ["Refunded", "Refunded"]);
  }
  assert.match(await compare(), /^charges \d+ cents/);
});

test("waits for a part that is on its way, and an order of which parts return everything ends as refunded", async () => {
  const late = await paid();
  await partOf(late.codes[0] ?? "", total - 3_000);
  await world.take(stripe.event("refund.created", { ...refundsAt(late.intent)[0], status: "pending" }));
  const { refund, parts } = await refundedByHand(late.intent, 3_000);
  await assert.rejects(ask(refund, parts(3_000)), /A refund of order \w{6} is on its way/);
  for (const event of stripe.refundEvents(refundsAt(late.intent)[0] ?? {})) await world.take(event);
  await approveAssignment(refunds, approver, await ask(refund, parts(3_000)));
  assert.deepEqual(await statuses(late.codes), ["Refunded", "EsignPending"]);
  for (const isBooked of [true, false]) {
    const { codes, intent, ...rest } = await refunded(3_000);
    const [code = ""] = codes;
    await approveAssignment(refunds, approver, await ask(rest.refund, rest.parts(3_000)));
    await partOf(code, total - 3_000);
    if (isBooked) await takeLast(intent);
    await assert.rejects(requestRefund(refunds, agent, { code, reason: "asked" }), /No money is held for this order/);
    await pend(code);
    await work();
    assert.equal(refundsAt(intent).length, 2);
    await takeLast(intent);
    assert.deepEqual(await statuses(codes), ["Refunded", "EsignPending"]);
  }
  assert.match(await compare(), /^charges \d+ cents/);
});

test("an order whose refund is on its way takes no part, and an altered assignment books nothing", async () => {
  const { codes, intent } = await paid();
  const [code = ""] = codes;
  await pend(code);
  await work();
  await world.take(stripe.event("refund.created", { ...refundsAt(intent)[0], status: "pending" }));
  const { refund, parts } = await refundedByHand(intent, 200);
  await assert.rejects(ask(refund, parts(100, 100)), /A refund of order \w{6} is on its way/);
  const id = await ask(refund, parts(0, 200));
  await db.query(sql`ALTER TABLE refund_assignments DISABLE TRIGGER ALL`);
  await db.query(sql`UPDATE refund_assignments SET requested_by = ${approver.id} WHERE id = ${id}`);
  await db.query(sql`ALTER TABLE refund_assignments ENABLE TRIGGER ALL`);
  await assert.rejects(dropAssignment(refunds, approver, id), { code: "unavailable" });
  assert.deepEqual(await notesOf(code), []);
});

test("an assignment of a refund that fails before its approval stays listed until somebody drops it", async () => {
  const { refund, parts, codes } = await refunded(300);
  const id = await ask(refund, parts(300));
  await world.take(stripe.event("refund.failed", { ...stripe.balance.failRefund(refund) }));
  const [listed] = (await waitingRefunds({ db }, agent)).filter((each) => each.id === refund);
  assert.deepEqual([listed?.state, listed?.assignment?.id], ["ended", id]);
  assert.deepEqual(await tasksOf(refund), [{ state: "dropped" }]);
  await assert.rejects(approveAssignment(refunds, approver, id), /No refund with this name waits/);
  await assert.rejects(dropAssignment(refunds, { ...approver, environment: "test" }, id), /No refund with this name/);
  await dropAssignment(refunds, approver, id);
  assert.ok(!(await waitingRefunds({ db }, agent)).some((each) => each.id === refund));
  await assert.rejects(ask(refund, parts(300)), /No refund with this name waits/);
  assert.deepEqual(await Promise.all(codes.map(notesOf)), [[], []]);
});

const requestStates = async (id: string) =>
  (await db.query<{ state: string }>(sql`SELECT state FROM refund_requests WHERE id = ${id}`)).map(
    ({ state }) => state,
  );

test("an approved part waits for a refund by hand, and then goes out, or is closed when it no longer fits", async () => {
  for (const [cents, after] of [
    [1_000, "approved"],
    [total - 4_000, "closed"],
  ] as const) {
    const { codes, intent } = await paid();
    const [code = ""] = codes;
    const part = await approvedPart(code, 5_000);
    const { refund, parts } = await refundedByHand(intent, cents);
    await give(part);
    assert.equal(refundsAt(intent).length, 1);
    await approveAssignment(refunds, approver, await ask(refund, parts(cents)));
    await resume(code);
    assert.deepEqual(await requestStates(part), [after]);
    const isOut = after === "approved";
    assert.equal(refundsAt(intent).length, isOut ? 2 : 1);
    if (isOut) await takeLast(intent);
    assert.deepEqual(await notesOf(code), [["credit_note", cents], ...(isOut ? [["credit_note", 5_000]] : [])]);
  }
  assert.match(await compare(), /^charges \d+ cents/);
});

test("an approved part that waited goes out after the refund by hand has failed", async () => {
  const { codes, intent } = await paid();
  const [code = ""] = codes;
  const part = await approvedPart(code, 5_000);
  const { refund } = await refundedByHand(intent, 9_000);
  await give(part);
  assert.equal(refundsAt(intent).length, 1);
  await world.take(stripe.failRefund(refund));
  await resume(code);
  assert.deepEqual(
    refundsAt(intent).map((each) => each["amount"]),
    [9_000, 5_000],
  );
});

for (const count of [1, 2])
  test(`an order of $0.00 that is refunded ends at once, paid with ${count - 1} others`, async () => {
    const { codes } = await paid(count, 0);
    const [code = "", other] = codes;
    assert.equal((await world.orders.look(code)).status, "EsignPending");
    await approveRefund(refunds, approver, await requestRefund(refunds, agent, { code, reason: "asked" }));
    const before = stripe.refunds.length;
    await refundOrder(deps, await world.orderIdOf(code));
    assert.equal((await world.orders.look(code)).status, "Refunded");
    assert.equal(stripe.refunds.length, before);
    if (other) assert.equal((await world.orders.look(other)).status, "EsignPending");
  });

test("a refund of $0.00 whose job an earlier release had ended without the order is ended by the sweep", async () => {
  const { codes } = await paid(1, 0);
  const [code = ""] = codes;
  await pend(code);
  await db.query(sql`DELETE FROM jobs`);
  const other = await paid(1);
  await pend(other.codes[0] ?? "");
  await db.query(sql`DELETE FROM jobs`);
  for (let sweep = 0; sweep < 2; sweep++) await watchPayments(deps);
  assert.equal((await world.waitingJobs()).length, 1, "a refund of money is not sent by the sweep");
  await work();
  assert.equal((await world.orders.look(code)).status, "Refunded");
  await watchPayments(deps);
  assert.deepEqual(await world.waitingJobs(), []);
});

test("a refund of $0.00 whose job failed for good is retried by the sweep, and not queued in addition", async () => {
  const { codes } = await paid(1, 0);
  const [code = ""] = codes;
  await db.query(sql`DELETE FROM jobs`);
  await pend(code);
  const jobs = () => db.query(sql`SELECT failed_at AS "failedAt" FROM jobs WHERE queue = 'refund'`);
  for (let sweep = 0; sweep < 2; sweep++) {
    await db.query(sql`UPDATE jobs SET failed_at = now(), attempts = 10 WHERE queue = 'refund'`);
    await watchPayments(deps);
    assert.deepEqual(await jobs(), [{ failedAt: null }]);
  }
  await work();
  assert.equal((await world.orders.look(code)).status, "Refunded");
});

test("a part is refunded once, even after a hundred later refunds of its payment", async () => {
  const { codes, intent } = await paid();
  const [payment] = await heldPayments(db, await world.orderIdOf(codes[0] ?? ""));
  const part = { request: newUuid(), payment: payment?.id ?? 0, paymentIntent: intent, amountCents: 100 };
  await books.processor.refundPart(part);
  for (let n = 0; n < 100; n++) stripe.refundByHand(intent, 1);
  const before = stripe.refunds.length;
  const [oldest] = refundsAt(intent);
  // The processor forgets idempotency keys after a day.
  stripe.forgetKeys();
  await books.processor.refundPart(part);
  assert.equal(stripe.refunds.length, before);
  const listed = (await books.processor.refundsOf(intent)) ?? [];
  assert.deepEqual([listed.length, listed.at(-1)?.id], [101, oldest?.["id"]]);
});

test("a part that waited is returned by the refund of the whole order, and never in addition", async () => {
  for (const isPartFirst of [false, true]) {
    const { codes, intent } = await paid();
    const [code = ""] = codes;
    const part = await approvedPart(code, 4_000);
    await approveRefund(refunds, approver, await requestRefund(refunds, agent, { code, reason: "asked" }));
    const whole = async () => refundOrder(deps, await world.orderIdOf(code));
    for (const job of isPartFirst ? [() => give(part), whole] : [whole, () => give(part)]) await job();
    const [payment] = await heldPayments(db, await world.orderIdOf(code));
    // Simulates a late job of the partial refund: it began before the refund of the whole order was approved.
    const late = { request: part, payment: payment?.id ?? 0, paymentIntent: intent, amountCents: 4_000 };
    await books.processor.refundPart(late);
    assert.deepEqual(
      refundsAt(intent).map((each) => each["amount"]),
      [total],
    );
    assert.deepEqual(await requestStates(part), ["closed"]);
    await takeLast(intent);
    assert.equal((await world.orders.look(code)).status, "Refunded");
  }
});

test("nothing of the payment is refunded while the bank has not confirmed a refund by hand", async () => {
  for (const fails of [true, false]) {
    const { codes, intent } = await paid();
    const [code = "", other = ""] = codes;
    const whole = await requestRefund(refunds, agent, { code, reason: "asked" });
    await pend(other);
    const [made] = stripe.refundByHand(intent, 3_000);
    const refund = String(made?.data.object["id"]);
    await world.take(stripe.event("refund.created", { ...made?.data.object, status: "pending" }));
    await work();
    assert.equal(refundsAt(intent).length, 1);
    const wait = { code: "conflict", message: /Wait until the bank has confirmed it/ };
    await assert.rejects(approveRefund(refunds, approver, whole), wait);
    const listed = (await waitingRefunds({ db }, agent)).find(({ id }) => id === refund);
    assert.equal(listed?.state, "pending");
    const parts = [{ payment: listed?.shares[0]?.paymentId ?? 0, cents: 3_000 }];
    await assert.rejects(ask(refund, parts), /No refund with this name waits/);
    if (fails) await world.take(stripe.failRefund(refund));
    else {
      await takeLast(intent);
      await approveAssignment(refunds, approver, await ask(refund, parts));
    }
    await work();
    assert.deepEqual(
      refundsAt(intent).map((each) => each["amount"]),
      [3_000, total],
    );
    await takeLast(intent);
    assert.equal((await statuses(codes))[1], "Refunded");
  }
  assert.match(await compare(), /^charges \d+ cents/);
});

const failedTasks = (refund: string) =>
  db.query<{ orderId: number; reason: string }>(sql`
    SELECT order_id AS "orderId", reason FROM tasks WHERE kind = 'refund_failed' AND subject = ${refund} ORDER BY order_id`);

test("a failed refund asks for each order’s own part, and once for all when nobody had assigned it", async () => {
  const { codes, refund, parts } = await refunded(1_000, 3);
  const ids = await Promise.all(codes.map(world.orderIdOf));
  await approveAssignment(refunds, approver, await ask(refund, parts(0, 400, 600)));
  await world.take(stripe.failRefund(refund));
  const assigned = await failedTasks(refund);
  assert.deepEqual(
    assigned.map(({ orderId }) => orderId),
    ids.slice(1),
  );
  for (const [n, sum] of ["$4.00", "$6.00"].entries())
    assert.ok(assigned[n]?.reason.includes(`Pay ${sum} of it back in another way`), assigned[n]?.reason);
  const other = await refunded(1_000, 3);
  await world.take(stripe.failRefund(other.refund));
  const once = await failedTasks(other.refund);
  assert.deepEqual(
    once.map(({ orderId }) => orderId),
    [await world.orderIdOf(other.codes[0] ?? "")],
  );
  assert.match(once[0]?.reason ?? "", /The refund of \$10\.00 .* Pay it back in another way/);
});

test("a refund by hand ends when a lost dispute leaves less than it, and its excess is in the audit log", async () => {
  const { codes, intent, refund, parts } = await refunded(3_000);
  const dispute = stripe.dispute(intent, { amount: 2 * total - 1_000 });
  await world.take(dispute);
  await world.take(stripe.endDispute(String(dispute.data.object["id"]), "lost"));
  await assert.rejects(ask(refund, parts(0, 3_000)), /must add up to the \$10\.00 that is left/);
  await assert.rejects(ask(refund, parts(1_000)), /must be at most \$5\.00/);
  await approveAssignment(refunds, approver, await ask(refund, parts(500, 500)));
  const [line] = await db.query<{ detail: object }>(sql`
    SELECT detail FROM audit_log WHERE action = 'refund.assigned' AND detail ->> 'refund' = ${refund}`);
  assert.equal(Reflect.get(line?.detail ?? {}, "excessCents"), 2_000);
  assert.ok(!(await waitingRefunds({ db }, agent)).some(({ id }) => id === refund));
  await work();
  assert.deepEqual(await statuses(codes), ["Refunded", "Refunded"]);
});

test("a refund by hand waits no more when a lost dispute left nothing, and the orders can end", async () => {
  const { codes, intent, refund, parts } = await refunded(3_000);
  const dispute = stripe.dispute(intent);
  await world.take(dispute);
  await world.take(stripe.endDispute(String(dispute.data.object["id"]), "lost"));
  assert.ok(!(await waitingRefunds({ db }, agent)).some(({ id }) => id === refund));
  await assert.rejects(ask(refund, parts(3_000)), /No refund with this name waits/);
  for (const code of codes) {
    const id = await requestRefund(refunds, agent, { code, reason: "asked" });
    await approveRefund(refunds, approver, id);
  }
  await work();
  assert.deepEqual(await statuses(codes), ["Refunded", "Refunded"]);
});

test("a task leads to Payments while people must assign its refund to orders, and then to its note", async () => {
  const { intent, refund } = await refunded(3_000);
  const path = async () => {
    const task = (await queueOf(db, "live", "refund_by_hand", null, 1000)).find(({ subject }) => subject === refund);
    assert.ok(task);
    return pathOfTask(task, approver);
  };
  assert.equal(await path(), "/operator/payments");
  const dispute = stripe.dispute(intent);
  await world.take(dispute);
  await world.take(stripe.endDispute(String(dispute.data.object["id"]), "lost"));
  assert.equal(await path(), "/operator/tasks/refund_by_hand", "Payments lists it no more");
});

test("a check that runs after the assignment opens no task for the refund", async () => {
  const { intent } = await paid();
  for (const event of stripe.refundByHand(intent, 500)) await world.take(event);
  const waiting = (await waitingRefunds({ db }, agent)).find(({ paymentIntent }) => paymentIntent === intent);
  const parts = [{ payment: waiting?.shares[0]?.paymentId ?? 0, cents: 500 }];
  await approveAssignment(refunds, approver, await ask(waiting?.id ?? "", parts));
  await work();
  assert.deepEqual(await tasksOf(waiting?.id ?? ""), []);
});

test("a forged credit note doesn’t hide a refund that waits: nothing is refunded", async () => {
  const { codes, intent } = await paid();
  const [code = ""] = codes;
  const id = await requestRefund(refunds, agent, { code, reason: "asked" });
  const { refund, payments } = await refundedByHand(intent, 3_000);
  await db.query(sql`
    INSERT INTO billing_documents (partner_id, environment, kind, year, number, payment_id, refund, part_cents, booked_at,
      issuer_id, buyer_id, buyer_name)
    SELECT partner_id, environment, 'credit_note', year, 999_999, payment_id, ${refund}, 1, booked_at, issuer_id, buyer_id, buyer_name
    FROM billing_documents WHERE payment_id = ${payments[1]} AND kind = 'receipt'`);
  await assert.rejects(approveRefund(refunds, approver, id), { code: "unavailable" });
  assert.equal(refundsAt(intent).length, 1);
});

test("nobody assigns past a part that the processor was asked for and whose first event is missing", async () => {
  const { codes, intent } = await paid();
  const [code = ""] = codes;
  const { requestId } = await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order && agent.id !== null);
    const part = { amountCents: 9_000, reason: "a part", requestedBy: agent.id, actor: agent.actor, at: clock() };
    const found = await requestPartRefund(tx, order, part);
    assert.ok("requestId" in found);
    return found;
  });
  await approveRefund(refunds, approver, requestId);
  const before = stripe.refunds.length;
  await give(requestId);
  const [sent] = stripe.refunds.slice(before);
  assert.ok(sent, "the processor was asked");
  const { refund, parts } = await refundedByHand(intent, 5_000);
  const said = { refund, parts: parts(2_500, 2_500), reason: "a mistake" };
  await assert.rejects(askAssignment(refunds, agent, said), /and its event has not arrived/);
  for (const event of stripe.refundEvents(sent)) await world.take(event);
  await assert.rejects(askAssignment(refunds, agent, said), /must be at most \$9\.00/);
  const id = await askAssignment(refunds, agent, { ...said, parts: parts(900, 4_100) });
  await approveAssignment(refunds, approver, id);
  assert.deepEqual(
    await Promise.all(
      codes.map(async (each) => (await heldPayments(db, await world.orderIdOf(each)))[0]?.creditedCents),
    ),
    [undefined, 4_100],
  );
});

test("an assignment that was asked for before such a part went out is not approved until its event has come", async () => {
  const { codes, intent } = await paid();
  const { refund, parts } = await refundedByHand(intent, 5_000);
  const id = await askAssignment(refunds, agent, { refund, parts: parts(2_500, 2_500), reason: "a mistake" });
  const [payment] = await heldPayments(db, await world.orderIdOf(codes[0] ?? ""));
  const before = stripe.refunds.length;
  await books.processor.refundPart({
    request: newUuid(),
    payment: payment?.id ?? 0,
    paymentIntent: intent,
    amountCents: 9_000,
  });
  await assert.rejects(approveAssignment(refunds, approver, id), /and its event has not arrived/);
  for (const event of stripe.refundEvents(stripe.refunds[before] ?? {})) await world.take(event);
  await assert.rejects(approveAssignment(refunds, approver, id), /must be at most \$9\.00/);
});

test("nobody assigns a refund while the job of an approved one may be asking the processor; the refusal names the order", async () => {
  for (const kind of ["whole", "part"]) {
    const { codes, intent } = await paid();
    const [code = ""] = codes;
    const orderId = await world.orderIdOf(code);
    const part = kind === "whole" ? await pend(code) : await approvedPart(code, 100);
    const own = kind === "whole" ? { orderId } : { requestId: part };
    for (const event of stripe.refundByHand(intent, 3_000)) await world.take(event);
    const waiting = (await waitingRefunds({ db }, agent)).find((each) => each.paymentIntent === intent);
    const parts = [{ payment: waiting?.shares[0]?.paymentId ?? 0, cents: 3_000 }];
    const isSent = new RegExp(`An approved refund of order ${code.slice(0, 6).toUpperCase()} is being sent`);
    await assert.rejects(ask(waiting?.id ?? "", parts), isSent);
    await work();
    const id = await ask(waiting?.id ?? "", parts);
    await enqueueAfter(db, kind === "whole" ? "refund" : "part-refund", own, 50_000);
    await assert.rejects(approveAssignment(refunds, approver, id), isSent);
    await db.query(sql`UPDATE jobs SET due_at = now() + interval '5 minutes'`);
    await dropAssignment(refunds, agent, id);
    const later = await ask(waiting?.id ?? "", parts);
    await db.query(sql`UPDATE jobs SET attempts = 1`);
    await assert.rejects(
      approveAssignment(refunds, approver, later),
      isSent,
      "the answer to its first attempt may be lost",
    );
    await db.query(sql`UPDATE jobs SET attempts = 0, due_at = now()`);
    await work();
    await approveAssignment(refunds, approver, later);
    assert.deepEqual(await notesOf(code), [["credit_note", 3_000]]);
  }
});

test("the list of refunds by hand goes on after the last one of a page", async () => {
  for (let n = 0; n < 2; n++) await refunded(1_000);
  // Leaves out the refunds whose assignment to orders is already requested. The first page begins with these.
  const unasked = async (after?: string) =>
    (await waitingRefunds({ db }, agent, after)).filter(({ assignment }) => assignment === null);
  const all = await unasked();
  const [first, second] = all;
  assert.ok(first && second);
  const rest = (await waitingRefunds({ db }, agent, first.id)).map(({ id }) => id);
  assert.equal(rest.includes(first.id), false);
  assert.ok(rest.includes(second.id));
  assert.deepEqual(await unasked(all.at(-1)?.id), []);
});

test("a hundred older assignments of others hide no assignment that waits", async () => {
  const { refund, parts } = await refunded(1_000);
  await db.query(sql`
    INSERT INTO refunds (id, payment_intent, amount_cents, currency, state, seen_at, changed_at)
    SELECT 're_other_' || n, 'pi_other', 100, 'usd', 'succeeded', '2026-01-01', '2026-01-01' FROM generate_series(1, 100) n`);
  await db.query(sql`
    INSERT INTO refund_assignments (id, refund, parts, reason, requested_by, requested_at)
    SELECT gen_random_uuid(), 're_other_' || n, '[]', 'asked', ${agent.id}, '2026-01-01' FROM generate_series(1, 100) n`);
  const id = await ask(refund, parts(1_000));
  const shown = (await waitingRefunds({ db }, agent)).find((each) => each.id === refund);
  assert.equal(shown?.assignment?.id, id);
});

test("books no check while an approved partial refund waits for its job, which would refund the money again", async () => {
  const { codes, intent } = await paid(1);
  const [code = ""] = codes;
  const orderId = await world.orderIdOf(code);
  await approvedPart(code, 3_000);
  await work();
  const refund = stripe.refunds.findLast((each) => each["payment_intent"] === intent) ?? {};
  for (const event of stripe.refundEvents(refund)) await world.take(event);
  await world.take(stripe.failRefund(String(refund["id"])));
  await work();
  const [task] = await db.query<{ id: number }>(
    sql`SELECT id FROM tasks WHERE kind = 'refund_failed' AND order_id = ${orderId}`,
  );
  await approvedPart(code, total);
  const book = (isFurther: boolean) =>
    finishFailedRefund(refunds, approver, task?.id ?? 0, { outcome: "Check 1044", how: "check", isFurther });
  await assert.rejects(book(true), /was approved, and is under way/);
  await work();
  await assert.rejects(book(true), /was approved, and is under way/, "the processor’s event has not arrived");
});

/** An order whose refund of $30.00 failed. @returns how to book the money as paid back by check */
async function failedPart() {
  const { codes, intent } = await paid(1);
  const [code = ""] = codes;
  await approvedPart(code, 3_000);
  await work();
  await takeLast(intent);
  await world.take(stripe.failRefund(String(refundsAt(intent).at(-1)?.["id"])));
  await work();
  const orderId = await world.orderIdOf(code);
  const book = async (isFurther = false, subject = String(refundsAt(intent)[0]?.["id"]), how = "check") => {
    const [task] = await db.query<{ id: number }>(
      sql`SELECT id FROM tasks WHERE kind = 'refund_failed' AND order_id = ${orderId} AND subject = ${subject}`,
    );
    await finishFailedRefund(refunds, approver, task?.id ?? 0, { outcome: "Check 9", how, isFurther });
  };
  return { code, intent, orderId, book };
}

/** Requests a refund of the whole order. @returns how to approve it */
async function requestedWhole(code: string) {
  const id = await requestRefund(refunds, agent, { code, reason: "asked" });
  world.advance(1_000);
  return () => approveRefund(refunds, approver, id);
}

/** The cents of an order that went back by check. */
const byCheck = async (code: string) =>
  (await documentsOfOrder(db, code, firm.owner)).reduce(
    (sum, { outside, amountCents }) => sum + (outside === null ? 0 : amountCents),
    0,
  );

test("books no check for a failed part while the refund of the whole order may return the same money", async () => {
  const { code, intent, book } = await failedPart();
  const approve = await requestedWhole(code);
  await approve();
  await assert.rejects(book(true), /The whole order is being refunded/, "its job has not run");
  await work();
  assert.equal(refundsAt(intent).at(-1)?.["amount"], total);
  await assert.rejects(book(true), /The whole order is being refunded/, "its event has not arrived");
  await takeLast(intent);
  assert.deepEqual(await statuses([code]), ["Refunded"]);
  await assert.rejects(book(true), /No money of this refund is held/);
  assert.equal(await byCheck(code), 0);
});

test("does not mistake a smaller refund that somebody made at the processor for the refund of the whole order", async () => {
  const { code, intent, book } = await failedPart();
  const byHand = stripe.refundByHand(intent, 500);
  const approve = await requestedWhole(code);
  await approve();
  await work();
  world.advance(1_000);
  for (const event of byHand) await world.take(event);
  await assert.rejects(book(true), /The whole order is being refunded/, "the event of its refund has not arrived");
  assert.equal(await byCheck(code), 0);
});

test("books a check for a refund of the whole order that failed, and the order ends", async () => {
  const { code, intent, book } = await failedPart();
  const approve = await requestedWhole(code);
  await approve();
  await work();
  const whole = String(refundsAt(intent).at(-1)?.["id"]);
  world.advance(1_000);
  await world.take(stripe.failRefund(whole));
  await work();
  assert.deepEqual(await statuses([code]), ["RefundPending"]);
  await book(false, undefined, "none");
  await assert.rejects(book(false, whole, "none"), /its money is still held/, "the order would be left without a task");
  await book(false, whole);
  await work();
  assert.deepEqual(await statuses([code]), ["Refunded"]);
  assert.equal(await byCheck(code), total);
});

test("a refund of a share that failed is not sent again when a bank decides for the service, and a check ends the order", async () => {
  const { codes, intent } = await paid();
  const [code = ""] = codes;
  const approve = await requestedWhole(code);
  await approve();
  await work();
  const share = String(refundsAt(intent).at(-1)?.["id"]);
  world.advance(1_000);
  await world.take(stripe.failRefund(share));
  await work();
  stripe.forgetKeys();
  const dispute = stripe.dispute(intent, { amount: 1_000 });
  await world.take(dispute);
  await world.take(stripe.endDispute(String(dispute.data.object["id"]), "won"));
  await work();
  assert.deepEqual(
    refundsAt(intent).map((each) => each["id"]),
    [share],
  );
  const [task] = await db.query<{ id: number }>(sql`
    SELECT id FROM tasks WHERE kind = 'refund_failed' AND subject = ${share} AND state = 'open'`);
  await finishFailedRefund(refunds, approver, task?.id ?? 0, { outcome: "Check 9", how: "check", isFurther: false });
  await work();
  assert.deepEqual(await statuses([code]), ["Refunded"]);
});

test("a refund of a whole payment that failed is not sent again after a smaller refund that somebody made at the processor", async () => {
  const { codes, intent } = await paid(1);
  const approve = await requestedWhole(codes[0] ?? "");
  await approve();
  await work();
  world.advance(1_000);
  await world.take(stripe.failRefund(String(refundsAt(intent).at(-1)?.["id"])));
  for (const event of stripe.refundByHand(intent, 500)) await world.take(event);
  await work();
  stripe.forgetKeys();
  const dispute = stripe.dispute(intent, { amount: 1_000 });
  await world.take(dispute);
  await world.take(stripe.endDispute(String(dispute.data.object["id"]), "won"));
  await work();
  assert.deepEqual(
    refundsAt(intent).map(({ amount }) => Number(amount)),
    [total, 500],
  );
});

test("a whole payment that an earlier release refunded is not refunded again, and its order ends", async () => {
  const { codes, intent } = await paid(1);
  const [code = ""] = codes;
  const [payment] = await heldPayments(db, await world.orderIdOf(code));
  // An earlier release requested the refund without metadata, under this key.
  const headers = { Authorization: `Bearer ${keys.secretKey}`, "Idempotency-Key": `refund:${payment?.id}` };
  const body = new URLSearchParams({ payment_intent: intent });
  assert.equal((await fetch(`${stripe.url}/v1/refunds`, { method: "POST", headers, body })).status, 200);
  await pend(code);
  await work();
  assert.deepEqual(
    (await world.waitingJobs()).filter(({ queue }) => queue === "refund"),
    [],
  );
  assert.equal(refundsAt(intent).length, 1);
  await takeLast(intent);
  assert.deepEqual(await statuses([code]), ["Refunded"]);
});

test("a check and a refund of the whole order that are decided concurrently never return the same money", async () => {
  for (let n = 0; n < 4; n++) {
    const { code, intent, book } = await failedPart();
    const [whole, check] = await Promise.allSettled([requestedWhole(code), book()]);
    assert.equal(whole.status, "fulfilled");
    await whole.value();
    await work();
    await takeLast(intent);
    const returned = refundsAt(intent).filter(({ status }) => status !== "failed");
    const cents = returned.reduce((sum, { amount }) => sum + Number(amount), await byCheck(code));
    assert.equal(cents, total, check.status);
  }
});

test("after a check was booked for a part, the refund of the whole order asks the processor only for the rest", async () => {
  const { code, intent, book } = await failedPart();
  await book();
  const approve = await requestedWhole(code);
  await approve();
  await work();
  assert.equal(refundsAt(intent).at(-1)?.["amount"], total - 3_000);
  await takeLast(intent);
  assert.deepEqual(await statuses([code]), ["Refunded"]);
});

/** An order whose failed refund of $30.00 was booked as paid back by check. @returns how to reverse the booking */
async function paidBackByCheck() {
  const { code, intent, orderId, book } = await failedPart();
  await book();
  const [note] = await db.query<{ id: number; refund: string }>(sql`
    SELECT d.id, d.refund FROM billing_documents d JOIN payments p ON p.id = d.payment_id
    WHERE p.order_id = ${orderId} AND d.refund LIKE 'outside:%'`);
  const undo = () => undoPaidBack(refunds, approver, { code, document: note?.id ?? 0, reason: "never sent" });
  return { code, intent, orderId, refund: note?.refund, undo };
}

test("a booking is not reversed while the order is being refunded, or once a bank wants the payment back", async () => {
  const [refunding, disputed, neither] = [await paidBackByCheck(), await paidBackByCheck(), await paidBackByCheck()];
  await pend(refunding.code);
  await assert.rejects(refunding.undo(), /The order is being refunded/);
  await world.take(stripe.dispute(disputed.intent));
  await assert.rejects(disputed.undo(), /A bank disputes this payment/);
  await neither.undo();
});

test("a booking is not reversed while another refund of the order is open, which would return this money, too", async () => {
  const { code, intent, undo } = await paidBackByCheck();
  const isOpen = /Another refund of this order is open\. Decide on it or wait for it/;
  const whole = await requestRefund(refunds, agent, { code, reason: "asked" });
  await assert.rejects(undo(), isOpen, "its approval shows the amount without the booked money");
  await refuseRefund(refunds, approver, whole, "not now");
  const part = await approvedPart(code, 1_000);
  await assert.rejects(undo(), isOpen, "its job has not run");
  await give(part);
  await assert.rejects(undo(), isOpen, "its event has not arrived");
  await world.take(stripe.event("refund.created", { ...refundsAt(intent).at(-1), status: "pending" }));
  await assert.rejects(undo(), isOpen, "the bank has not confirmed it");
  await takeLast(intent);
  await undo();
});

test("a reversed booking claims neither that the money went back nor that it did not", async () => {
  const { orderId, refund, undo } = await paidBackByCheck();
  await undo();
  const [task] = await db.query<{ reason: string }>(sql`
    SELECT reason FROM tasks WHERE kind = 'refund_failed' AND order_id = ${orderId} AND state = 'open'`);
  assert.equal(
    task?.reason,
    "That $30.00 went back by check was booked wrongly (never sent). Find out whether the money went back. If not, pay it back in another way. Note how.",
  );
  const mails = await db.query<{ about: string; how: string }>(sql`
    SELECT DISTINCT payload ->> 'about' AS about, payload ->> 'how' AS how FROM jobs
    WHERE queue = 'firm-money-mail' AND payload ->> 'moment' = 'paid_back_undone' AND (payload ->> 'orderId')::int = ${orderId}`);
  assert.deepEqual(mails, [{ about: refund, how: "by check" }], "the payer is found by the name of the note");
});

test("a refund in an earlier account, which the present one doesn't know, opens a task and can be assigned", async () => {
  const { codes, intent } = await paid();
  const there = await forTests(startStripe());
  const keys = { secretKey: "sk_live_other", webhookSecret: there.webhookSecret, apiBase: there.url };
  const node = { ...refunds, db, processor: openProcessor(keys, "https://sss.example") };
  for (const event of stripe.refundByHand(intent, 4_000)) await world.take(event);
  await checkRefunds(node, intent);
  const [first = ""] = codes;
  const orderId = await world.orderIdOf(first);
  const tasks = await db.query<{ reason: string }>(sql`
    SELECT reason FROM tasks WHERE kind = 'refund_by_hand' AND order_id = ${orderId}`);
  assert.match(tasks[0]?.reason ?? "", /^\$40\.00 of a payment for 2 orders went back .* say so under Payments/);
  const waiting = (await waitingRefunds({ db }, agent)).find(({ paymentIntent }) => paymentIntent === intent);
  const parts = [{ payment: waiting?.shares[0]?.paymentId ?? 0, cents: 4_000 }];
  const asked = await askAssignment(node, agent, { refund: waiting?.id ?? "", parts, reason: "seen there" });
  await approveAssignment(node, approver, asked);
  const [held] = await heldPayments(db, orderId);
  assert.equal(held?.byHandCents, 4_000);
  await sumsAgree(db);

  there.fail({ status: 500 }, { status: 500 });
  await assert.rejects(checkRefunds(node, intent), "a processor that fails says nothing about its payments");
});

test("the task for a refund in an earlier account says that people assign a refund of a shared payment", async () => {
  const { codes, intent } = await paid();
  const there = await forTests(startStripe());
  const keys = { secretKey: "sk_live_other", webhookSecret: there.webhookSecret, apiBase: there.url };
  const [first = ""] = codes;
  await pend(first);
  const orderId = await world.orderIdOf(first);
  await refundOrder({ ...deps, db, processor: openProcessor(keys, "https://sss.example") }, orderId);
  const [task] = await db.query<{ reason: string }>(sql`
    SELECT reason FROM tasks WHERE kind = 'refund_failed' AND order_id = ${orderId}`);
  assert.match(task?.reason ?? "", new RegExp(`${intent}.*refund \\$99\\.00 in the earlier one`));
  assert.match(task?.reason ?? "", /say under Payments which order the refund was for/);
  assert.doesNotMatch(task?.reason ?? "", /Its event books/);
});
