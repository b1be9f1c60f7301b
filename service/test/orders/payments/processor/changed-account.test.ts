import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { type StripeDouble, type StripeEvent, startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { ServiceError } from "../../../../src/kernel/platform/errors.ts";
import type { Handler, Jobs } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { closeTasks, openTask } from "../../../../src/kernel/tasks/tasks.ts";
import { closeCheckoutQueue, lockOrder, transition } from "../../../../src/orders/order/order.ts";
import { sendCharges } from "../../../../src/orders/payments/charges/send-charges.ts";
import { closeCheckouts, OpenElsewhere } from "../../../../src/orders/payments/checkout/sessions.ts";
import { currentSessions, insertMinting } from "../../../../src/orders/payments/checkout/store.ts";
import { saveMethod, wasSentElsewhere } from "../../../../src/orders/payments/methods/methods.ts";
import { leaveMethods } from "../../../../src/orders/payments/methods/unusable.ts";
import {
  accountChange,
  chargeByMember,
  chargesOfCode,
  checkoutUrl,
  endCharge,
  endPendingPayment,
  openProcessor,
  type Processor,
  paymentJobs,
  pendingPayments,
  presentAccount,
  selectMethods,
  stuckCharges,
  sumsAgree,
  watchPayments,
} from "../../../../src/orders/payments/payments.ts";
import { requireNewestKey } from "../../../../src/orders/payments/processor/account.ts";
import {
  processorTasks,
  reconcile,
  scheduleReconciliation,
} from "../../../../src/orders/payments/reconcile/reconcile.ts";
import { comparePayments, leftInAccount } from "../../../../src/orders/payments/reconcile/store.ts";
import { insertMethod, updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { refundOrder } from "../../../../src/orders/payments/refunds/give-back.ts";
import {
  approveRefund,
  finishFailedRefund,
  partRefundJobs,
  previewRefund,
  type RefundDeps,
  requestRefund,
} from "../../../../src/orders/refunds/refunds.ts";
import { openOrdersDatabase } from "../../order/orders-database.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, orders, clock } = world;
const [minute, hour] = [60_000, 3_600_000];
const [agent, approver] = [await world.newOperator("agent"), await world.newOperator("approver")];

/** A node after a restart with the key of another account. */
async function otherAccount() {
  const there = await forTests(startStripe());
  const secret = `${there.webhookSecret}, ${stripe.webhookSecret}`;
  const keys = { secretKey: "sk_live_other", webhookSecret: secret, apiBase: there.url };
  return { ...deps, db, there, processor: atRealTime(openProcessor(keys, "https://sss.example")) };
}

/** Lets payment pages expire by the real time, against which the double checks their expiry. */
const atRealTime = (real: Processor): Processor => ({
  ...real,
  mint: (request) => real.mint({ ...request, expiresAt: new Date(Date.now() + 23 * hour) }),
});
/** A node with the first account again. */
const firstAccount = () => {
  const keys = {
    secretKey: "sk_live_double",
    webhookSecret: stripe.webhookSecret,
    apiBase: stripe.url,
    accountAgain: `${stripe.account} live`,
  };
  return { ...deps, db, processor: atRealTime(openProcessor(keys, "https://sss.example")) };
};

/** A node whose key has no permission to read its account. */
const restricted = <Node extends { processor: Processor }>(node: Node): Node => ({
  ...node,
  processor: { ...node.processor, account: async () => null },
});

/** True if the error tells callers nothing about the key, and its cause states this reason. */
const isRefusedFor = (why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ServiceError && error.cause instanceof Error);
  assert.deepEqual([error.code, error.message], ["unavailable", "Payments are not available now. Try again later."]);
  assert.match(error.cause.message, why);
  return true;
};
const isNotInUse = isRefusedFor(
  new RegExp(
    `of the account “${stripe.account} live”, and another one .* set STRIPE_ACCOUNT_AGAIN to “${stripe.account} live”`,
  ),
);

/** Makes the node detect its account. @returns its name */
async function notice(node: Parameters<typeof presentAccount>[0]): Promise<string | null> {
  world.advance(minute);
  const name = await presentAccount(node);
  world.advance(minute);
  return name;
}

const stateOf = async (code: string) => (await chargesOfCode(db, code))[0]?.state;
const statusOf = async (code: string) => (await orders.look(code)).status;
const tasksOf = (kind: string, code: string) =>
  db.query<{ state: string; reason: string }>(sql`
    SELECT t.state, t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = ${kind} AND ${isSealed(sql`o.code`, "order", code)} ORDER BY t.id`);
async function runJobs(): Promise<void> {
  for (const job of await world.waitingJobs()) await world.run(job);
}

/** A firm's order with a sent charge whose response is lost, or whose bank transfer is in progress. */
async function charged(answer: "lost" | "processing") {
  await db.query(sql`DELETE FROM jobs`);
  const firm = await world.newFirm();
  stripe.firm.outcomes.set(firm.method, answer === "lost" ? "succeeded" : answer);
  const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await chargeByMember(deps, firm.principal, code);
  if (answer === "lost") stripe.fail("cut", "cut");
  await runJobs();
  const intent = [...stripe.firm.intents.values()].find(({ customer }) => customer === firm.customer);
  assert.equal(await stateOf(code), answer === "lost" ? "asked" : "pending");
  return { firm, code, intent: String(intent?.["id"]) };
}
async function paidByClient() {
  const code = await orders.insert("QuoteReady");
  const event = stripe.pay(stripe.sessionOf(await checkoutUrl(deps, code, null)));
  await world.take(event);
  return { code, intent: String(event.data.object["payment_intent"]) };
}

const firstName = `${stripe.account} live`;
await presentAccount(deps);

test("the first account, a restart with it, and several nodes at once change nothing", async () => {
  assert.equal(await presentAccount(deps), firstName);
  const { firm } = await charged("processing");
  const keys = { secretKey: "sk_live_rolled", webhookSecret: stripe.webhookSecret, apiBase: stripe.url };
  const nodes = Array.from({ length: 5 }, () => ({
    ...deps,
    db,
    processor: openProcessor(keys, "https://sss.example"),
  }));
  assert.deepEqual(new Set(await Promise.all(nodes.map(presentAccount))), new Set([firstName]));
  assert.equal((await db.query(sql`SELECT FROM processor_accounts`)).length, 1);
  await leaveMethods(deps);
  assert.equal((await selectMethods(db, firm.owner))[0]?.state, "active");
});

test("a key that may not read its account changes nothing, and an unreachable processor is asked again", async () => {
  const node = await otherAccount();
  assert.equal(await presentAccount(restricted(node)), firstName, "the last account on record");
  let tries = 0;
  const processor = {
    ...node.processor,
    account: () => (tries++ === 0 ? Promise.reject(new Error("away")) : Promise.resolve(firstName)),
  };
  await assert.rejects(presentAccount({ ...node, processor }), /away/);
  assert.equal(await presentAccount({ ...node, processor }), firstName);
  assert.equal(tries, 2);
});

test("an account that nobody recorded does not treat pages and lost charges of another account as ended", async () => {
  await notice(firstAccount());
  const code = await orders.insert("QuoteReady");
  await checkoutUrl(firstAccount(), code, null);
  const lost = await charged("lost");
  const node = restricted(await otherAccount());
  await assert.rejects(closeCheckouts(node, await world.orderIdOf(code)), OpenElsewhere);
  const sending = sendCharges(node, { orderId: await world.orderIdOf(lost.code) }, true);
  await assert.rejects(sending, /doesn't know the customer/);
  assert.equal(await stateOf(lost.code), "asked");

  world.advance(11 * minute);
  const [charge] = await chargesOfCode(db, lost.code);
  const ending = { id: charge?.id ?? "", environment: "live" } as const;
  await assert.rejects(endCharge(node, { ...ending, actor: "member:x" }), /another account may have it/);
  await endCharge(node, { ...ending, actor: "operator:x" }, true);
  assert.equal(await stateOf(lost.code), "failed");
  world.advance(24 * hour);
  await closeCheckouts(node, await world.orderIdOf(code));
  assert.deepEqual(await currentSessions(db, [await world.orderIdOf(code)]), []);
});

test("a charge that the earlier account got is neither sent again nor ended by its firm, and its event still pays", async () => {
  await notice(firstAccount());
  const [lost, moving, byHand] = [await charged("lost"), await charged("processing"), await charged("lost")];
  const node = await otherAccount();
  assert.ok(await notice(node));
  world.advance(11 * 24 * hour);
  await watchPayments(deps);
  await sendCharges(node, { orderId: await world.orderIdOf(lost.code) }, true);
  assert.equal(node.there.firm.intents.size, 0, "nothing is charged in the new account");
  assert.deepEqual(await Promise.all([lost, moving, byHand].map(({ code }) => stateOf(code))), [
    "asked",
    "pending",
    "asked",
  ]);
  const [first] = await chargesOfCode(db, lost.code);
  const ending = { id: first?.id ?? "", environment: "live", actor: "member:x" } as const;
  await assert.rejects(endCharge(node, ending), /uses another account .* ends the payment after a look at the earlier/);
  assert.ok((await stuckCharges(node, "live")).charges.every(({ isElsewhere }) => isElsewhere));

  // The earlier account's events are signed with the second secret.
  for (const { code, intent } of [lost, moving]) {
    if (code === moving.code) stripe.firm.bankAnswers(intent, "succeeded");
    const body = JSON.stringify(stripe.chargeEvent(intent));
    const event = await node.processor.verify(Buffer.from(body), stripe.sign(body), new Date());
    await world.take(event as StripeEvent);
    assert.deepEqual([await stateOf(code), await statusOf(code)], ["succeeded", "EsignPending"]);
  }
  const open = openProcessor({ secretKey: "sk_live_x", webhookSecret: "whsec_x, ,", apiBase: stripe.url }, "https://x");
  const unsigned = JSON.stringify(stripe.chargeEvent(lost.intent));
  await assert.rejects(
    open.verify(Buffer.from(unsigned), stripe.sign(unsigned, { secret: "" }), new Date()),
    /does not verify/,
    "an empty secret is none",
  );
  const forged = JSON.stringify(stripe.chargeEvent(lost.intent));
  for (const secret of ["whsec_foreign", `${node.there.webhookSecret}, ${stripe.webhookSecret}`, ""])
    await assert.rejects(
      node.processor.verify(Buffer.from(forged), stripe.sign(forged, { secret }), new Date()),
      /The signature does not verify/,
    );

  const [left] = await chargesOfCode(db, byHand.code);
  await endCharge(node, { id: left?.id ?? "", environment: "live", actor: "operator:x" }, true);
  assert.equal(await stateOf(byHand.code), "failed");
  assert.match(await checkoutUrl(node, byHand.code, null), /cs_test/);
});

test("a payment page of the earlier account is neither shown nor replaced while it can be paid", async () => {
  await notice(firstAccount());
  const code = await orders.insert("QuoteReady");
  const before = await checkoutUrl(deps, code, null);
  const node = await otherAccount();
  assert.ok(await notice(node));
  await assert.rejects(checkoutUrl(node, code, null), /An earlier payment page is still open.* ends within 23 hours/);
  await assert.rejects(closeCheckouts(node, await world.orderIdOf(code)), /payment processor’s account was changed/);
  // An order that has no payment page in the earlier account.
  const paid = await orders.insert("QuoteReady");
  world.advance(24 * hour);
  const after = await checkoutUrl(node, code, null);
  assert.notEqual(after, before);
  assert.equal(node.there.sessions.size, 1);
  await closeCheckouts(node, await world.orderIdOf(paid));
});

test("a bank debit in the earlier account ends by its event, or by an operator who looked there", async () => {
  await notice(firstAccount());
  const code = await orders.insert("QuoteReady");
  await world.take(stripe.payByBank(stripe.sessionOf(await checkoutUrl(deps, code, null))));
  const node = await otherAccount();
  assert.ok(await notice(node));
  const pending = (await pendingPayments(node, "live")).find(({ orderCodes }) => orderCodes.includes(code));
  assert.equal(pending?.isElsewhere, true);
  await assert.rejects(checkoutUrl(node, code, null), /A bank payment is being processed/);
  await endPendingPayment(node, { id: pending?.id ?? "", environment: "live", actor: "operator:x" });
  assert.match(await checkoutUrl(node, code, null), /cs_test/);
});

test("cards and bank accounts of the earlier account are charged no more, and each owner is mailed once", async () => {
  await notice(firstAccount());
  await db.query(sql`DELETE FROM jobs`);
  const [one, two] = [await world.newFirm(), await world.newFirm()];
  const node = await otherAccount();
  const nodes = [node, { ...node, processor: { ...node.processor } }];
  world.advance(minute);
  const [name, again] = await Promise.all(nodes.map(presentAccount));
  assert.deepEqual(again, name);
  const queued = await db.query(sql`SELECT FROM jobs WHERE queue = 'processor-account'`);
  assert.equal(queued.length, 1, "two nodes record one change");
  await Promise.all([leaveMethods(node), leaveMethods(node)]);
  for (const { owner } of [one, two]) {
    const [method] = await selectMethods(db, owner);
    assert.deepEqual([method?.state, method?.endedBy], ["unusable", accountChange]);
    const lines = await db.query<{ reason: string }>(sql`
      SELECT detail ->> 'reason' AS reason FROM audit_log
      WHERE partner_id = ${owner.partnerId} AND action = 'payment_method.unusable'`);
    assert.deepEqual(lines, [{ reason: "account_changed" }]);
  }
  // An owner finishes the page for adding a payment method in the earlier account.
  const [id, addedBy] = [randomUUID(), `key:${one.principal.key?.id}`];
  const { customer, owner } = one;
  const before = new Date(clock().getTime() - 2 * minute);
  await db.transaction(async (tx) => {
    await insertMethod(tx, { ...owner, id, customer, addedBy, addedAt: before });
    await updateMethod(tx, id, { state: "asked", setupIntent: "seti_earlier" });
  });
  await saveMethod(node, id);
  assert.equal((await selectMethods(db, owner)).length, 1, "it is not saved, and the job ends");
  assert.deepEqual(node.there.requests, []);
  const later = await world.newFirm();
  await leaveMethods(node);
  assert.equal((await selectMethods(db, later.owner))[0]?.state, "active", "it was added in the new account");
});

test("a refund of a payment that the account doesn't have is a task, and the earlier account's event books it", async () => {
  await notice(firstAccount());
  const { code, intent } = await paidByClient();
  const orderId = await world.orderIdOf(code);
  const [paid] = await db.query<{ id: number }>(sql`SELECT id FROM payments WHERE payment_intent = ${intent}`);
  const part = { request: randomUUID(), payment: paid?.id ?? 0, paymentIntent: intent, amountCents: 3_000 };
  await deps.processor.refundPart(part);
  for (const event of stripe.refundEvents(stripe.refunds.at(-1) ?? {})) await world.take(event);
  const node = await otherAccount();
  assert.ok(await notice(node));
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    const by = { actor: "system", at: clock(), log: deps.log, reason: "asked" } as const;
    if (order) await transition(tx, order, "refund_requested", by);
  });
  await refundOrder(node, orderId);
  const [task, ...more] = await tasksOf("refund_failed", code);
  assert.match(
    task?.reason ?? "",
    new RegExp(
      `doesn’t have the payment ${intent}.* refund \\$69\\.00 in the earlier one, minus refunds that are already under way there`,
    ),
  );
  assert.deepEqual([more, await statusOf(code)], [[], "RefundPending"]);
  node.there.fail({ status: 500 }, { status: 500 });
  await assert.rejects(refundOrder(node, orderId), "another failure is tried again");
  for (const event of stripe.refundByHand(intent, 6_900)) await world.take(event);
  assert.equal(await statusOf(code), "Refunded");
});

test("a refund that the account can't make may go back by check: the rest is booked once, and the order ends", async () => {
  await notice(firstAccount());
  const { code } = await paidByClient();
  const orderId = await world.orderIdOf(code);
  const node = await otherAccount();
  await notice(node);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    const by = { actor: "system", at: clock(), log: deps.log, reason: "asked" } as const;
    if (order) await transition(tx, order, "refund_requested", by);
  });
  await refundOrder(node, orderId);
  const [task] = await db.query<{ id: number }>(
    sql`SELECT id FROM tasks WHERE kind = 'refund_failed' AND order_id = ${orderId}`,
  );
  const end = (how = "check") =>
    finishFailedRefund(deps, approver, task?.id ?? 0, { outcome: "Check 7", how, isFurther: false });
  await assert.rejects(end("none"), /its money is still held/);
  await end();
  await assert.rejects(end(), ServiceError);
  await refundOrder(node, orderId);
  assert.equal(await statusOf(code), "Refunded");
  const credited = await db.query<{ cents: number; refund: string }>(sql`
    SELECT d.part_cents::float8 AS cents, split_part(d.refund, ':', 2) AS refund FROM billing_documents d
    JOIN payments p ON p.id = d.payment_id WHERE p.order_id = ${orderId} AND d.kind = 'credit_note'`);
  assert.deepEqual(credited, [{ cents: 9_900, refund: "check" }]);
  assert.deepEqual(
    (await tasksOf("refund_failed", code)).map(({ state }) => state),
    ["done"],
    "it isn't opened again",
  );
});

test("a part that the account can't refund is booked as paid by check, or its task is ended for good", async () => {
  await notice(firstAccount());
  const { code, intent } = await paidByClient();
  const orderId = await world.orderIdOf(code);
  const node = await otherAccount();
  await notice(node);
  const refunds: RefundDeps = { ...node, refundApproval: "two-persons" };
  const ids: string[] = [];
  for (const amountCents of [3_000, 2_000]) {
    const id = await requestRefund(refunds, agent, { code, reason: "asked", amountCents });
    await approveRefund(refunds, approver, id);
    world.advance(minute);
    ids.push(id);
  }
  const handlers = new Map<string, Handler<object>>();
  const work = (queue: string, handler: Handler<never>) => void handlers.set(queue, handler as Handler<object>);
  partRefundJobs({ work, start: async () => {}, stop: async () => {} }, node);
  const resume = () =>
    handlers.get("part-refund-news")?.({ orderId }, { attempt: 1, signal: new AbortController().signal });
  const openTasks = () =>
    db.query<{ id: number; subject: string }>(sql`
      SELECT id, subject FROM tasks WHERE kind = 'refund_failed' AND order_id = ${orderId} AND state = 'open' ORDER BY id`);
  const end = (id: number | undefined, how: string) =>
    finishFailedRefund(refunds, approver, id ?? 0, { outcome: "Check 8", how, isFurther: false });
  const ofEarlierRelease = { environment: "live", orderId, subject: `${intent}:${orderId}:elsewhere` } as const;
  await db.transaction((tx) => openTask(tx, { kind: "refund_failed", at: clock(), ...ofEarlierRelease }));
  await end((await openTasks())[0]?.id, "none");
  const queued = await db.query(sql`
    DELETE FROM jobs WHERE queue = 'part-refund-news' AND (payload ->> 'orderId')::int = ${orderId} RETURNING 1`);
  assert.equal(queued.length, 1, "the parts get their tasks by their own names");
  await resume();
  const tasks = await openTasks();
  assert.deepEqual(
    tasks.map(({ subject }) => subject.split(":").at(-2)),
    ids,
    "each part has its own task",
  );
  await end(tasks[0]?.id, "check");
  await end(tasks[1]?.id, "none");
  await resume();
  assert.deepEqual(await openTasks(), [], "no task opens again");
  const { payments } = await previewRefund(refunds, agent, code);
  assert.deepEqual(
    payments.map(({ amountCents }) => amountCents),
    [6_900],
    "only the check is booked",
  );
});

test("payments that can no longer be compared with the earlier account's books are one task, and no differences", async () => {
  const own = firstAccount();
  assert.ok(await notice(own));
  await compare(own);
  const compared = await paidByClient();
  stamp(stripe);
  await compare(own);
  world.advance(2 * hour);
  await compare(own);
  assert.deepEqual(await differences(), []);
  const unseen = await paidByClient();
  const disputed = await paidByClient();
  await world.take(stripe.dispute(disputed.intent));

  const node = await otherAccount();
  assert.ok(await notice(node));
  // A refund in the earlier account, for a payment that was already compared with that account's books.
  for (const event of stripe.refundByHand(compared.intent, 1_000)) await world.take(event);
  await compare(node);
  await compare(node);
  assert.deepEqual(await differences(), []);
  await sumsAgree(db);
  const tasks = await db.query<{ state: string; reason: string }>(sql`
    SELECT state, reason FROM tasks WHERE kind = 'money_difference' AND state = 'open'`);
  assert.equal(tasks.length, 1, JSON.stringify(tasks));
  assert.match(
    tasks[0]?.reason ?? "",
    /account of the payment processor was changed on \d{4}-\d\d-\d\d\. Open in the account before it: /,
  );
  assert.match(tasks[0]?.reason ?? "", /1 dispute/);
  assert.match(tasks[0]?.reason ?? "", /Not compared with its books: \d+ payments of \$[\d,.]+ in all/);
  assert.ok(unseen.intent);
  // A person ends the task. The next comparison finds the same numbers, so it must not open another task.
  const end = { kinds: ["money_difference"], state: "done", at: clock(), by: "operator:x", outcome: "looked" } as const;
  const [subject] = await db.query<{ subject: string }>(sql`
    SELECT subject FROM tasks WHERE kind = 'money_difference' AND state = 'open'`);
  await db.transaction((tx) => closeTasks(tx, { kinds: end.kinds, subject: subject?.subject ?? "" }, end));
  const open = () => db.query(sql`SELECT FROM tasks WHERE kind = 'money_difference' AND state = 'open'`);
  await compare(node);
  assert.equal((await open()).length, 0);
  await world.take(stripe.dispute(unseen.intent));
  await compare(node);
  assert.equal((await open()).length, 1, "one more dispute is open in the earlier account");
});

const differences = () => db.transaction((tx) => comparePayments(tx, clock()));

/** Advances the clock by 25 hours, then runs the daily comparison with the payment processor's books. */
async function compare(by: Omit<typeof deps, "firm"> & { db: typeof db }) {
  world.advance(25 * hour);
  await scheduleReconciliation(by);
  await reconcile(by, clock().toISOString().slice(0, 10));
}
/** Dates the double's balance transactions by the test's clock, because the double uses the real time. */
const stamp = (double: StripeDouble) => {
  for (const each of double.balance.transactions) each["created"] = Math.floor(clock().getTime() / 1000);
};
const differencesOf = async (intent: string) =>
  (await differences()).filter(({ paymentIntent }) => paymentIntent === intent);

test("a debit that clears after the change is a payment of the account that it was sent to", async () => {
  const own = firstAccount();
  await notice(own);
  // Gives the movements of earlier tests the present time of the test's clock.
  stamp(stripe);
  await compare(own);
  const { intent } = await charged("processing");
  const code = await orders.insert("QuoteReady");
  const session = stripe.sessionOf(await checkoutUrl(own, code, null));
  const paid = stripe.payByBank(session);
  await world.take(paid);
  const node = await otherAccount();
  await notice(node);
  world.advance(4 * 24 * hour);
  const { payments: before, cents } = await leftInAccount(db, clock());
  stripe.firm.bankAnswers(intent, "succeeded");
  await world.take(stripe.chargeEvent(intent));
  await world.take(stripe.bankAnswers(session, "succeeded"));
  await compare(node);
  await compare(node);
  const ofPage = String(paid.data.object["payment_intent"]);
  assert.deepEqual([await differencesOf(intent), await differencesOf(ofPage)], [[], []]);
  const left = await leftInAccount(db, clock());
  const [sum] = await db.query<{ cents: number }>(sql`
    SELECT sum(amount_cents)::float8 AS cents FROM payments WHERE payment_intent IN (${intent}, ${ofPage})`);
  assert.deepEqual([left.payments - before, left.cents - cents], [2, sum?.cents], "a person compares them there");
  await world.take(stripe.dispute(intent));
  assert.equal((await leftInAccount(db, clock())).disputes - left.disputes, 1, "the dispute is open there");
  await sumsAgree(db);
});

test("back in the first account, its books are compared from where they were left, and hide no difference", async () => {
  const own = firstAccount();
  await notice(own);
  await compare(own);
  const { intent } = await paidByClient();
  stamp(stripe);
  await compare(own);
  await compare(own);
  assert.deepEqual(await differencesOf(intent), []);
  const node = await otherAccount();
  await notice(node);
  // While the node uses the other account, somebody refunds a part of the payment at the processor. Later, the node
  // uses the first account again. The processor's books then lack the movement of another refund, as if our row of that
  // refund were forged.
  for (const event of stripe.refundByHand(intent, 1_000)) await world.take(event);
  stamp(stripe);
  for (let day = 0; day < 6; day += 1) await compare(node);
  assert.deepEqual(await differencesOf(intent), [], "nobody can tell in the other account");
  const back = firstAccount();
  await notice(back);
  await sumsAgree(db);
  await compare(back);
  assert.deepEqual(await differencesOf(intent), [], "the movement of the days between was copied");
  const [refund] = stripe.refundByHand(intent, 500);
  await world.take(refund as NonNullable<typeof refund>);
  const isOf = ({ source }: Record<string, unknown>) => (source as { id: unknown }).id === refund?.data.object["id"];
  stripe.balance.transactions.splice(stripe.balance.transactions.findIndex(isOf), 1);
  await compare(back);
  await compare(back);
  const [difference, ...more] = await differencesOf(intent);
  assert.deepEqual([difference?.hereCents, difference?.thereCents, more], [-500, null, []]);
});

test("an account that comes back without a comparison of its own is compared from its first use", async () => {
  await notice(firstAccount());
  const node = await otherAccount();
  await notice(node);
  const pay = async () => {
    const session = stripe.sessionOf(await checkoutUrl(node, await orders.insert("QuoteReady"), null));
    const event = node.there.pay(session);
    await world.take(event);
    return String(event.data.object["payment_intent"]);
  };
  const [intent, unbooked] = [await pay(), await pay()];
  const isOf = ({ source }: Record<string, unknown>) =>
    (source as { payment_intent: unknown }).payment_intent === unbooked;
  node.there.balance.transactions.splice(node.there.balance.transactions.findIndex(isOf), 1);
  stamp(node.there);
  const own = firstAccount();
  await notice(own);
  for (let day = 0; day < 6; day += 1) await compare(own);
  node.processor.accountAgain = `${node.there.account} live`;
  const back = { ...node, processor: { ...node.processor } };
  await notice(back);
  await compare(back);
  await compare(back);
  assert.deepEqual(await differencesOf(intent), []);
  assert.equal((await differencesOf(unbooked)).length, 1, "the processor has no movement of this payment");
});

test("nodes whose clocks differ agree on the account that a charge was sent to", async () => {
  const own = firstAccount();
  await notice(own);
  const fast = { clock: () => new Date(clock().getTime() + 5 * minute) };
  const [early, late] = [await world.newFirm(), await world.newFirm()];
  const place = async ({ owner, principal }: typeof early) => {
    const code = await orders.insert("QuoteReady", { partnerId: owner.partnerId, payBy: "firm" });
    await chargeByMember(deps, principal, code);
    return { orderId: await world.orderIdOf(code), code };
  };
  const sentEarly = await place(early);
  await sendCharges({ ...own, ...fast }, { orderId: sentEarly.orderId }, false);
  const page = await orders.insert("QuoteReady");
  await checkoutUrl({ ...own, ...fast }, page, null);
  const node = await otherAccount();
  await presentAccount(node);
  const elsewhere = async (code: string) => {
    const [charge] = await chargesOfCode(db, code);
    return wasSentElsewhere(node, charge ?? { environment: "live", sentAt: null });
  };
  assert.equal(await elsewhere(sentEarly.code), true, "sent before the change, by a clock that was ahead");
  await assert.rejects(checkoutUrl(node, page, null), /An earlier payment page is still open/);

  const third = await otherAccount();
  await presentAccount({ ...third, ...fast });
  const { customer, method } = late;
  third.there.firm.customers.push({ id: customer, object: "customer" });
  third.there.firm.methods.set(method, { id: method, object: "payment_method", type: "card", customer });
  const sentLate = await place(late);
  await sendCharges(third, { orderId: sentLate.orderId }, false);
  assert.equal(third.there.firm.intents.size, 1);
  const [charge] = await chargesOfCode(db, sentLate.code);
  assert.equal(await wasSentElsewhere(third, charge ?? { environment: "live", sentAt: null }), false);
  const newer = await orders.insert("QuoteReady");
  const address = await checkoutUrl(third, newer, null);
  assert.equal(await checkoutUrl(third, newer, null), address, "opened after the change, by a clock that was behind");
});

test("a node that is restarted with the earlier key doesn't bring the earlier account back", async () => {
  const own = firstAccount();
  await notice(own);
  const firm = await world.newFirm();
  const node = await otherAccount();
  const name = await notice(node);
  await leaveMethods(node);
  const stale = firstAccount();
  stale.processor.accountAgain = null;
  assert.equal(await notice(stale), firstName);
  const lastOnRecord = async () =>
    (await db.query<{ account: string }>(sql`SELECT account FROM processor_accounts ORDER BY id DESC LIMIT 1`))[0];
  assert.deepEqual(await lastOnRecord(), { account: name });
  const code = await orders.insert("QuoteReady");
  await assert.rejects(checkoutUrl(stale, code, null), isNotInUse);
  const [task] = processorTasks(stale);
  await assert.rejects(async () => task?.work(), isNotInUse, "it is logged");
  await assert.rejects(compare(stale), isNotInUse, "the books of an earlier account are not copied");
  assert.match(await checkoutUrl(node, code, null), /cs_test/, "the other nodes go on");
  for (const accountAgain of [name, stripe.account, `${stripe.account}x live`, `${stripe.account} test`, ""]) {
    const again = firstAccount();
    again.processor.accountAgain = accountAgain;
    await notice(again);
    assert.deepEqual(await lastOnRecord(), { account: name }, "a setting for another account changes nothing");
  }
  await notice(firstAccount());
  assert.deepEqual(await lastOnRecord(), { account: firstName }, "the setting names the account");
  await leaveMethods(firstAccount());
  assert.equal((await selectMethods(db, firm.owner))[0]?.state, "unusable");
});

test("a node with a key of the test mode doesn't bring that mode into use after a live account", async () => {
  await notice(firstAccount());
  const keys = { secretKey: "sk_test_double", webhookSecret: stripe.webhookSecret, apiBase: stripe.url };
  const inTestMode = (accountAgain: string | null) => ({
    ...deps,
    db,
    processor: atRealTime(openProcessor({ ...keys, accountAgain }, "https://sss.example")),
  });
  const testName = `${stripe.account} test`;
  const lastOnRecord = async () =>
    (await db.query<{ account: string }>(sql`SELECT account FROM processor_accounts ORDER BY id DESC LIMIT 1`))[0];
  const code = await orders.insert("QuoteReady");
  const isOfTest = isRefusedFor(new RegExp(`of the account “${testName}”`));
  for (const accountAgain of [null, stripe.account, firstName]) {
    const node = inTestMode(accountAgain);
    assert.equal(await notice(node), testName);
    await assert.rejects(checkoutUrl(node, code, null), isOfTest, "a live order is not paid without money");
  }
  const unreadable = restricted(inTestMode(testName));
  await assert.rejects(checkoutUrl(unreadable, code, null), isRefusedFor(/of the test mode and may not read/));
  assert.deepEqual(await lastOnRecord(), { account: firstName });
  await notice(inTestMode(testName));
  assert.deepEqual(await lastOnRecord(), { account: testName }, "the setting names it");
  assert.match(await checkoutUrl(unreadable, code, null), /cs_test/);
});

test("a key of the test mode is refused after payment pages of a live key that may not read its account", async () => {
  const fresh = await forTests(openOrdersDatabase());
  const name = `${stripe.account} test`;
  const node = (account: string | null, accountAgain: string | null = null) => {
    const processor = { ...firstAccount().processor, testMode: true, accountAgain, account: async () => account };
    return { db: fresh.db, clock, processor };
  };
  const page = async (session: string) => {
    world.advance(minute);
    const code = await fresh.insert("QuoteReady");
    await fresh.db.query(sql`
      INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, session_id, url, created_at, expires_at)
      SELECT gen_random_uuid(), id, 'open', 9900, 'usd', ${session}, 'x', ${clock()}, ${clock()} FROM orders
      WHERE ${isSealed(sql`code`, "order", code)}`);
  };
  await page("cs_test_1");
  assert.equal(await presentAccount(node(null)), null, "pages of the test mode refuse no key");
  await page("cs_live_1");
  await assert.rejects(presentAccount(node(null)), isRefusedFor(/of the test mode .* a live account is in use/));
  await assert.rejects(requireNewestKey(node(name)), isRefusedFor(new RegExp(`of the account “${name}”`)));
  const recorded = () => fresh.db.query(sql`SELECT account FROM processor_accounts`);
  assert.deepEqual(await recorded(), [], "live orders are not paid without money");
  await requireNewestKey(node(name, name));
  assert.deepEqual(await recorded(), [{ account: name }], "the setting names it");
  assert.equal(await presentAccount(node(null)), name);

  // The service gets the live key again, and can't read that key's account. The live payment page shows that the
  // recorded test account is no longer in use.
  assert.equal(await requireNewestKey(node(name)), name);
  await page("cs_live_2");
  await assert.rejects(presentAccount(node(null)), isRefusedFor(/of the test mode .* a live account is in use/));
  await assert.rejects(requireNewestKey(node(name)), isRefusedFor(new RegExp(`of the account “${name}”`)));
  assert.equal((await recorded()).length, 1);
  await requireNewestKey(node(name, name));
  assert.equal((await recorded()).length, 2);
  assert.equal(await requireNewestKey(node(name)), name, "the setting is needed once");
});

test("a checkout of a test order does not ask a processor with a live key for its account", async () => {
  const processor = { ...firstAccount().processor, account: () => assert.fail("asked for its account") };
  const code = await orders.insert("QuoteReady", { environment: "test" });
  await assert.rejects(checkoutUrl({ ...deps, db, processor }, code, null), /Payments are not configured/);
  await assert.rejects(checkoutUrl({ ...deps, db, processor }, "0".repeat(32), null), /Order not found/);
});

test("a restricted key of the second account doesn't treat the first account's charge as its own", async () => {
  await notice(firstAccount());
  const { code } = await charged("lost");
  const node = await otherAccount();
  assert.ok(await notice(node));
  await sendCharges(restricted(node), { orderId: await world.orderIdOf(code) }, true);
  assert.equal(node.there.firm.intents.size, 0);
  assert.equal(await stateOf(code), "asked", "only the first account can tell");
});

test("after a return to the first account, its charges, pages and methods are used again", async () => {
  await notice(firstAccount());
  const { firm, code, intent } = await charged("lost");
  const page = await orders.insert("QuoteReady");
  const address = await checkoutUrl(firstAccount(), page, null);
  await notice(await otherAccount());
  const back = firstAccount();
  await notice(back);
  await leaveMethods(back);
  assert.equal((await selectMethods(db, firm.owner))[0]?.state, "active");
  await sendCharges(back, { orderId: await world.orderIdOf(code) }, true);
  const [charge] = await chargesOfCode(db, code);
  assert.deepEqual([charge?.state, charge?.paymentIntent], ["answered", intent], "found, and not charged again");
  assert.equal(await checkoutUrl(back, page, null), address);
});

test("a node that still has the earlier key sends no charge, and opens no page", async () => {
  const old = firstAccount();
  await notice(old);
  const firm = await world.newFirm();
  const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await chargeByMember(old, firm.principal, code);
  const page = await orders.insert("QuoteReady");
  const before = stripe.firm.intents.size;
  const node = await otherAccount();
  await notice(node);
  const orderId = await world.orderIdOf(code);
  await assert.rejects(sendCharges(old, { orderId }, false), isNotInUse);
  await assert.rejects(checkoutUrl(old, page, null), isNotInUse);
  assert.equal(stripe.firm.intents.size, before);
  const [charge] = await chargesOfCode(db, code);
  assert.deepEqual([charge?.state, charge?.sentAt], ["asked", null], "a node with the new key can still send it");
  const newer = await orders.insert("QuoteReady");
  await checkoutUrl(node, newer, null);
  await assert.rejects(closeCheckouts(old, await world.orderIdOf(newer)), isNotInUse);
  await closeCheckouts(node, await world.orderIdOf(newer));
});

test("jobs of an order whose page is open in the earlier account wait until the page has ended", async () => {
  await db.query(sql`DELETE FROM jobs`);
  await notice(firstAccount());
  const firm = await world.newFirm();
  const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await checkoutUrl(firstAccount(), code, null);
  const node = await otherAccount();
  await notice(node);
  const orderId = await world.orderIdOf(code);
  const handlers = new Map<string, Handler<object>>();
  const jobs: Jobs = {
    work: (queue, handler) => void handlers.set(queue, handler as Handler<object>),
    start: async () => {},
    stop: async () => {},
  };
  paymentJobs(jobs, node);
  const handle = handlers.get(closeCheckoutQueue);
  await handle?.({ orderId }, { attempt: 1, signal: new AbortController().signal });
  const due = await db.query<{ hours: number }>(sql`
    SELECT extract(epoch FROM due_at - now())::float8 / 3600 AS hours FROM jobs WHERE queue = ${closeCheckoutQueue}`);
  assert.equal(due.length, 1, "the job ends, and another one is queued");
  assert.ok((due[0]?.hours ?? 0) > 22 && (due[0]?.hours ?? 0) < 24, String(due[0]?.hours));
  world.advance(24 * hour);
  await db.query(sql`DELETE FROM jobs`);
  await handle?.({ orderId }, { attempt: 1, signal: new AbortController().signal });
  assert.deepEqual(await db.query(sql`SELECT FROM jobs WHERE queue = ${closeCheckoutQueue}`), []);
  assert.deepEqual(await currentSessions(db, [orderId]), []);
});

test("the text about a charge that waits for a page of the earlier account, or was sent there, promises no further attempt", async () => {
  await notice(firstAccount());
  const sent = await charged("lost");
  const firm = await world.newFirm();
  const place = async () => {
    const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
    return { code, orderId: await world.orderIdOf(code) };
  };
  const [waiting, unsent] = [await place(), await place()];
  await checkoutUrl(firstAccount(), waiting.code, null);
  await notice(await otherAccount());
  for (const { code } of [waiting, unsent]) await chargeByMember(deps, firm.principal, code);
  world.advance(11 * minute);
  await watchPayments(deps);
  const reasonOf = async (code: string) => (await tasksOf("firm_charge", code))[0]?.reason ?? "";
  const page = /payment page of its orders is open in an earlier account .* until \d{4}-\d\d-\d\d \d\d:\d\d UTC/;
  assert.match(await reasonOf(waiting.code), page);
  assert.match(await reasonOf(sent.code), /^The charge was sent to an earlier account/);
  assert.match(await reasonOf(unsent.code), /is tried again/);
  const shown = async (code: string) =>
    (await stuckCharges(deps, "live")).charges.find(({ orderCode }) => orderCode === code)?.text ?? "";
  assert.match(await shown(waiting.code), page, "the page of operators says the same");
  world.advance(24 * hour);
  assert.match(await shown(waiting.code), /is tried again/);
});

test("a refund opens a task at once, even while a page is open in the earlier account", async () => {
  await notice(firstAccount());
  const { code, intent } = await paidByClient();
  const orderId = await world.orderIdOf(code);
  const session = { groupId: null, supplementId: null, status: "minting", amountCents: 500, currency: "usd" } as const;
  const times = { createdAt: clock(), expiresAt: new Date(clock().getTime() + 23 * hour) };
  await db.transaction((tx) =>
    insertMinting(tx, { ...session, id: randomUUID(), sessionId: null, url: null, ...times }, [
      { orderId, orderCode: code, amountCents: 500, supplementId: null },
    ]),
  );
  const node = await otherAccount();
  await notice(node);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    const by = { actor: "system", at: clock(), log: deps.log, reason: "asked" } as const;
    if (order) await transition(tx, order, "refund_requested", by);
  });
  await assert.rejects(refundOrder(node, orderId), OpenElsewhere, "the job is queued again");
  const [task] = await tasksOf("refund_failed", code);
  assert.match(task?.reason ?? "", new RegExp(`doesn’t have the payment ${intent}`));
});
