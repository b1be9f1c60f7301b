import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticate, testRowMac } from "@signsealship/testing/row-mac";
import { isSealed, type Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { readIssuer, registerIssuer } from "../../../../src/orders/billing/billing.ts";
import { applyEvent } from "../../../../src/orders/payments/events/apply-event.ts";
import {
  bookLossPayment,
  endFailedRefund,
  lastReconciliation,
  openDifferences,
  openProcessor,
  sumsAgree,
} from "../../../../src/orders/payments/payments.ts";
import type { SignedEvent } from "../../../../src/orders/payments/processor/processor.ts";
import { reconcile, scheduleReconciliation } from "../../../../src/orders/payments/reconcile/reconcile.ts";
import { comparePayments } from "../../../../src/orders/payments/reconcile/store.ts";
import { openOrdersDatabase, silent } from "../../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const stripe = await forTests(startStripe());
const { db } = orders;
const total = 9_900;
const hours = 3_600_000;

let now = Date.now() - 24 * hours;
const clock = () => new Date(now);
const processor = openProcessor(
  { secretKey: "sk_live_double", webhookSecret: stripe.webhookSecret, apiBase: stripe.url },
  "https://sign.example.com",
);
const deps = { db, clock, log: silent, processor };
await registerIssuer(db, readIssuer(new URL("../../../../data/billing.yaml", import.meta.url).pathname), clock());

const dayOf = () => clock().toISOString().slice(0, 10);
const stamped = new Set<object>();
/** Replaces the real time of the double's balance transactions by the time of the test's clock. */
function stamp(): void {
  for (const transaction of stripe.balance.transactions)
    if (!stamped.has(transaction)) {
      transaction["created"] = Math.floor(now / 1000);
      stamped.add(transaction);
    }
}

/** Advances the clock by 25 hours, and compares our books with the processor's. */
async function compare(): Promise<void> {
  stamp();
  now += 25 * hours;
  await scheduleReconciliation(deps);
  await reconcile(deps, dayOf());
}

const differences = () => db.transaction((tx) => comparePayments(tx, clock()));
const waiting = (intents: readonly string[]) =>
  db.query<{ intent: string }>(sql`
    SELECT DISTINCT payment_intent AS intent FROM payments_to_compare WHERE payment_intent = ANY (${intents}::text[]) ORDER BY 1`);

const take = (event: SignedEvent) =>
  db.transaction((tx) => applyEvent(tx, event, { at: clock(), log: silent, actor: "processor" }));

let count = 0;
/** A payer pays at the processor. @returns the intent and its event, which was not delivered yet */
async function pay(metadata: Record<string, string> = { checkout: "x", environment: "live" }) {
  const code = await orders.insert("QuoteReady");
  const id = `cs_${++count}`;
  stripe.sessions.set(id, {
    id,
    object: "checkout.session",
    status: "open",
    amount_total: total,
    currency: "usd",
    metadata: { ...metadata, order_code: code },
  });
  const event = stripe.pay(id);
  return { code, intent: String(event.data.object["payment_intent"]), event };
}
async function paid() {
  const payment = await pay();
  await take(payment.event);
  return payment;
}

const tasks = () =>
  db.query<{ state: string; reason: string }>(
    sql`SELECT state, reason FROM tasks WHERE kind = 'money_difference' ORDER BY id`,
  );
const openTasks = async () => (await tasks()).filter(({ state }) => state === "open").map(({ reason }) => reason);
const chargeOf = (intent: string) => stripe.balance.settleCharge(intent);
const booked = (sourceId: unknown) => {
  const found = stripe.balance.transactions.find(({ source }) => (source as { id: string }).id === sourceId);
  assert.ok(found);
  return found;
};

// The first comparison starts the service's copy of the processor's books.
await scheduleReconciliation(deps);
await reconcile(deps, dayOf());
now += 2 * hours;

test("books that agree have no task: charges, refunds, disputes, and what takes them back", async () => {
  const [whole, part, won, lost, open, failed] = [
    await paid(),
    await paid(),
    await paid(),
    await paid(),
    await paid(),
    await paid(),
  ];
  for (const event of stripe.refundByHand(whole.intent, total)) await take(event);
  for (const event of stripe.refundByHand(part.intent, 500)) await take(event);
  for (const { intent } of [won, lost, open]) await take(stripe.dispute(intent));
  const of = (intent: string) =>
    [...stripe.balance.disputes.values()].find((each) => each["payment_intent"] === intent);
  await take(stripe.endDispute(String(of(won.intent)?.["id"]), "won"));
  await take(stripe.endDispute(String(of(lost.intent)?.["id"]), "lost"));
  for (const event of stripe.refundByHand(failed.intent, 300)) await take(event);
  await take(stripe.failRefund(String(stripe.refunds.at(-1)?.["id"])));
  await take(stripe.dispute((await paid()).intent, { isInquiry: true }));
  await compare();
  assert.deepEqual(await tasks(), []);
  const last = await lastReconciliation(db);
  assert.equal(last?.differences, 0);
  assert.equal(last?.compared, stripe.balance.transactions.length);
  assert.match(
    await sumsAgree(db),
    /charges 69300 cents = 69300 for orders \+ 0 for none; less refunds 10400 and losses 9900: statements 49000/,
  );
  const [payment] = await db.query<{ id: number }>(sql`SELECT id FROM payments WHERE payment_intent = ${lost.intent}`);
  const check = { way: "check", reference: "1234", receivedOn: clock().toISOString().slice(0, 10) };
  const typed = { code: lost.code, payment: payment?.id ?? 0, amountCents: 4_000, ...check };
  await db.transaction((tx) =>
    bookLossPayment(tx, typed, { environment: "live", actor: "operator:test", at: clock() }),
  );
  assert.match(await sumsAgree(db), /losses 9900: statements 49000; firms paid 4000 for losses outside the processor$/);
  const forged = db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO loss_payments (partner_id, environment, year, number, payment_id, amount_cents, way, reference, received_on, recorded_by, booked_at)
      SELECT partner_id, environment, year, number + 1, payment_id, 5901, way, 'x', received_on, recorded_by, booked_at FROM loss_payments`);
    await sumsAgree(tx);
  });
  await assert.rejects(forged, new RegExp(`firms paid more than banks took back for ${lost.intent}`));
});

test("refunds after the last comparison, or on their way at the bank, don't make the sums differ", async () => {
  const [later, pending] = [await paid(), await paid()];
  await compare();
  const agreed = await sumsAgree(db);
  for (const event of stripe.refundByHand(later.intent, total)) await take(event);
  const [whole] = stripe.refundByHand(pending.intent, total).filter(({ type }) => type === "charge.refunded");
  assert.ok(whole);
  await take(whole);
  const refund = { ...stripe.refunds.at(-1), status: "pending" };
  await take({ id: "evt_pending", type: "refund.created", data: { object: refund } });
  assert.notEqual(await sumsAgree(db), agreed);
  await compare();
  await sumsAgree(db);
  await take({ id: "evt_succeeded", type: "refund.updated", data: { object: { ...refund, status: "succeeded" } } });
  await sumsAgree(db);
  await compare();
  assert.match(await sumsAgree(db), /less refunds 30200 and/);
});

/** A payment of which five dollars were paid back by check, because their refund failed. */
async function paidBackByCheck() {
  const { code, intent } = await paid();
  for (const event of stripe.refundByHand(intent, 500)) await take(event);
  await take(stripe.failRefund(String(stripe.refunds.at(-1)?.["id"])));
  const tasksAbout = (kind: string) =>
    db.query<{ id: number; reason: string }>(sql`
      SELECT t.id, t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
      WHERE t.kind = ${kind} AND ${isSealed(sql`o.code`, "order", code)} ORDER BY t.id`);
  const [failed] = await tasksAbout("refund_failed");
  const parts = { find: async () => [], close: async () => {} };
  const answer = { outcome: "Check 1044", how: "check", isFurther: false };
  await endFailedRefund({ ...deps, parts }, failed?.id ?? 0, "operator:ann", answer);
  return { intent, tasksAbout };
}

test("money that was paid back by check and then taken or refunded is explained in the sums, and staff are told", async () => {
  const [{ intent, tasksAbout }, refunded] = [await paidBackByCheck(), await paidBackByCheck()];
  await compare();
  assert.doesNotMatch(await sumsAgree(db), /twice/);
  for (const event of stripe.refundByHand(refunded.intent, total)) await take(event);
  await take(stripe.dispute(intent));
  const dispute = [...stripe.balance.disputes.values()].find((each) => each["payment_intent"] === intent);
  await take(stripe.endDispute(String(dispute?.["id"]), "lost"));
  for (const { reason } of await tasksAbout("dispute"))
    assert.match(reason, /\$5\.00 of it went back before: the payer would have it twice/);
  await compare();
  const twice = [intent, refunded.intent].sort().join(", ");
  assert.match(
    await sumsAgree(db),
    new RegExp(`1000 cents of what left there were also paid back .* twice: ${twice}$`),
  );
});

test("each difference is one task that names it in cents and by the processor's id, and ends when it has gone", async () => {
  const lostEvent = await pay();
  const lostRefund = await paid();
  const refundEvents = stripe.refundByHand(lostRefund.intent, 700);
  const lostDispute = await paid();
  const disputeEvent = stripe.dispute(lostDispute.intent);
  const [dearer, other, forgotten] = [await paid(), await paid(), await paid()];
  booked(chargeOf(dearer.intent)["id"])["amount"] = total + 1;
  booked(chargeOf(other.intent)["id"])["currency"] = "eur";
  const gone = stripe.balance.transactions.splice(
    stripe.balance.transactions.indexOf(booked(chargeOf(forgotten.intent)["id"])),
    1,
  );
  await compare();
  const found = (await openTasks()).join("\n");
  const [charge, refund] = [chargeOf(lostEvent.intent)["id"], stripe.refunds.at(-1)?.["id"]];
  assert.match(found, new RegExp(`Missing here: .* the charge ${charge} of ${lostEvent.intent} with 9900 cents USD`));
  assert.match(found, new RegExp(`Missing here: .* the refund ${refund} of ${lostRefund.intent} with -700 cents USD`));
  assert.match(
    found,
    new RegExp(`Missing here: .* the dispute ${disputeEvent.data.object["id"]} .* with -9900 cents USD`),
  );
  assert.match(
    found,
    new RegExp(
      `The amount differs: the charge ch_\\w+ of ${dearer.intent} has 9900 cents USD here, and 9901 cents USD .*They are 1 cent apart`,
    ),
  );
  assert.match(
    found,
    new RegExp(`The currency differs: .* ${other.intent} has 9900 cents USD here, and 9900 cents EUR`),
  );
  assert.match(found, new RegExp(`Missing there: the charge ${forgotten.intent} has 9900 cents USD here`));
  assert.equal((await openTasks()).length, 6);
  assert.deepEqual(await openDifferences(db), { count: 6, reasons: await openTasks() });
  await assert.rejects(sumsAgree(db), /charges of \d+ cents there are \d+ for orders/);

  await compare();
  assert.equal((await tasks()).length, 6, "the same difference twice is one task");

  // A person ends one task, the one about `other`. The remaining tasks end automatically, except the one about
  // `dearer`.
  await db.query(sql`UPDATE tasks SET state = 'done', ended_at = now(), ended_by = 'operator:x', outcome = 'known'
    WHERE kind = 'money_difference' AND reason LIKE ${`%${other.intent}%`}`);
  await authenticate({ db, rowMac: testRowMac }, "tasks");
  for (const event of [lostEvent.event, ...refundEvents, disputeEvent]) await take(event);
  stripe.balance.transactions.push(...gone);
  await compare();
  assert.equal((await openTasks()).length, 1);
  assert.match((await openTasks())[0] ?? "", new RegExp(dearer.intent));
  assert.equal((await tasks()).length, 6);
  assert.equal((await orders.look(lostEvent.code)).status, "EsignPending");
});

test("payments that agree are compared again when one of their rows or movements is new or changes, at any later time", async () => {
  const payments = [await paid(), await paid(), await paid(), await paid()];
  const intents = payments.map(({ intent }) => intent);
  const [refunded = "", disputed = "", moved = "", quiet = ""] = intents;
  const dispute = stripe.dispute(disputed);
  await take(dispute);
  assert.equal((await waiting(intents)).length, 4);
  await compare();
  await compare();
  assert.deepEqual(await waiting(intents), [], "they agree");
  now += 400 * 24 * hours;
  for (const event of stripe.refundByHand(refunded, 500)) await take(event);
  stripe.balance.transactions.splice(stripe.balance.transactions.length - 1, 1);
  await take({ ...stripe.endDispute(String(dispute.data.object["id"]), "won") });
  const reversal = stripe.balance.transactions.findIndex(
    ({ source, reporting_category: category }) =>
      (source as { id: string }).id === dispute.data.object["id"] && category === "dispute_reversal",
  );
  stripe.balance.transactions.splice(reversal, 1);
  assert.deepEqual(
    (await waiting(intents)).map(({ intent }) => intent),
    [refunded, disputed].sort(),
  );
  const failure = { id: "txn_late", reporting_category: "charge_failure", amount: -total };
  stripe.balance.transactions.push({ ...booked(chargeOf(moved)["id"]), ...failure });
  await compare();
  const found = (await differences()).map(({ paymentIntent }) => paymentIntent);
  assert.deepEqual(
    intents.map((intent) => found.filter((each) => each === intent).length),
    [1, 1, 1, 0],
    `${quiet} agrees`,
  );
  assert.equal((await waiting(intents)).length, 3, "what differs is compared every day");
});

test("a change that is committed while a comparison runs is compared by the next one", async () => {
  const { intent } = await paid();
  await compare();
  assert.deepEqual(await waiting([intent]), []);
  const [event] = stripe.refundByHand(intent, 500);
  assert.ok(event);
  stripe.balance.transactions.splice(stripe.balance.transactions.length - 1, 1);
  const before = clock();
  await db.transaction(async (tx) => {
    await applyEvent(tx, event, { at: before, log: silent, actor: "processor" });
    now += 25 * hours;
    await differences();
  });
  assert.equal((await waiting([intent])).length, 1);
  assert.ok((await differences()).some(({ paymentIntent }) => paymentIntent === intent));
  await compare();
});

test("after an upgrade, or once an operator marked all, a comparison reads all earlier payments, and no sandbox payment", async () => {
  const { intent } = await paid();
  const lost = await pay();
  await compare();
  await db.query(sql`
    INSERT INTO disputes (id, payment_intent, state, event_at, seen_at, changed_at)
    VALUES ('sandbox:dispute:x', 'sandbox:charge:x', 'opened', ${clock()}, ${clock()}, ${clock()})`);
  const [before, open] = [await differences(), await openTasks()];
  assert.ok(before.some(({ paymentIntent }) => paymentIntent === lost.intent));
  for (const file of ["service/migrations/0187_days_to_compare.sql", "docs/operating.md"]) {
    const text = readFileSync(new URL(`../../../../../${file}`, import.meta.url), "utf8");
    const [statement = ""] = /INSERT INTO days_to_compare[^;]*;/.exec(text) ?? [];
    const today = `timestamptz '${clock().toISOString()}'`;
    await db.query(sql`DELETE FROM payments_to_compare`);
    await db.transaction((tx) => tx.script(statement.replace(/now\(\)|current_date/, `(${today})::date`)));
    await compare();
    assert.deepEqual(await differences(), before, file);
    assert.deepEqual(await openTasks(), open);
    assert.deepEqual(await waiting([intent, "sandbox:charge:x"]), []);
    assert.deepEqual(await db.query(sql`SELECT FROM days_to_compare`), []);
  }
  await take(lost.event);
  await compare();
});

test("a run that is cut off while it marks days continues with the days that are left", async () => {
  const { intent } = await paid();
  await compare();
  const today = dayOf();
  await db.query(sql`
    INSERT INTO days_to_compare (day) SELECT ${today}::date - 40 + n FROM generate_series(0, 40) AS n`);
  stamp();
  now += 25 * hours;
  await scheduleReconciliation(deps);
  const days = async () => (await db.query(sql`SELECT FROM days_to_compare`)).length;
  const queued = await days();
  let left = 10;
  const stopping = {
    get aborted() {
      return stripe.requests.some(({ path }) => path === "/v1/balance_transactions") && --left < 0;
    },
  } as AbortSignal;
  stripe.requests.length = 0;
  await assert.rejects(reconcile(deps, dayOf(), stopping), /another one compares/);
  assert.ok((await days()) > 0 && (await days()) < queued);
  await reconcile(deps, dayOf());
  assert.equal(await days(), 0);
  assert.deepEqual(await waiting([intent]), []);
});

test("polling moves no order, and other uses of the account are no difference", async () => {
  const before = (await tasks()).length;
  const unheard = await pay({ shop: "somebody else’s" });
  const look = await orders.look(unheard.code);
  await compare();
  assert.deepEqual(await orders.look(unheard.code), look);
  assert.equal((await tasks()).length, before);
});

test("an event that is late and a movement that is not booked yet are no differences before their time", async () => {
  const before = (await openTasks()).length;
  const [early, unbooked] = [await pay(), await paid()];
  stripe.balance.transactions.splice(stripe.balance.transactions.indexOf(booked(chargeOf(unbooked.intent)["id"])), 1);
  stamp();
  const intents = async () => (await differences()).map(({ paymentIntent }) => paymentIntent);
  now += 23 * hours;
  assert.ok(!(await intents()).includes(unbooked.intent));
  now -= 22.5 * hours;
  await scheduleReconciliation(deps);
  await reconcile(deps, dayOf());
  assert.ok(!(await intents()).includes(early.intent));
  await compare();
  assert.ok((await intents()).includes(unbooked.intent));
  assert.ok((await intents()).includes(early.intent));
  assert.equal((await openTasks()).length, before + 2);
});

test("a run that is cut off repeats safely, by pages of a hundred, and two nodes make one run", async () => {
  for (let n = 0; n < 130; n++) await paid();
  const before = await tasks();
  stamp();
  now += 25 * hours;
  await Promise.all([scheduleReconciliation(deps), scheduleReconciliation(deps)]);
  const queued = await db.query(sql`SELECT FROM jobs WHERE queue = 'reconcile' AND payload ->> 'day' = ${dayOf()}`);
  assert.equal(queued.length, 1);
  // Stops the node after it has copied the first page of the books.
  let seen = 0;
  const stopping = {
    get aborted() {
      seen += 1;
      return seen > 100;
    },
  } as AbortSignal;
  stripe.requests.length = 0;
  await assert.rejects(reconcile(deps, dayOf(), stopping), /another one compares/);
  assert.equal((await lastReconciliation(db))?.endedAt.getTime() === now, false);
  await Promise.all([reconcile(deps, dayOf()), reconcile(deps, dayOf())]);
  const pages = stripe.requests.filter(({ path }) => path === "/v1/balance_transactions");
  assert.ok(pages.some(({ params }) => typeof params["starting_after"] === "string"));
  assert.equal((await lastReconciliation(db))?.endedAt.getTime(), now);
  const [copied] = await db.query<{ count: number }>(sql`SELECT count(*)::int AS count FROM balance_transactions`);
  assert.equal(copied?.count, stripe.balance.transactions.length);
  const after = await tasks();
  assert.equal(new Set(after.map(({ reason }) => reason)).size, after.length);
  assert.ok(after.length >= before.length);
  // The comparison of this day has ended, so another run for the same day does nothing.
  stripe.requests.length = 0;
  await reconcile(deps, dayOf());
  assert.equal(stripe.requests.length, 0);
});

test("rows of the copy of the processor's books can't be changed or deleted, and an inserted row is reported", async () => {
  const { intent } = await paid();
  await compare();
  await assert.rejects(
    db.query(sql`UPDATE balance_transactions SET amount_cents = 1 WHERE payment_intent = ${intent}`),
  );
  await assert.rejects(db.query(sql`DELETE FROM balance_transactions WHERE payment_intent = ${intent}`));
  await db.query(sql`
    INSERT INTO balance_transactions (id, kind, source, payment_intent, is_ours, amount_cents, fee_cents, currency, created_at)
    VALUES ('txn_forged', 'refund', 're_forged', ${intent}, true, -100, 0, 'usd', ${clock()})`);
  await compare();
  assert.match((await openTasks()).join("\n"), /re_forged .* -100 cents USD.* altered outside the service/);
});

test("asks for the outcome of a dispute whose last event never came, after a week, and books it once", async () => {
  const [won, lost, open, unknown] = [await paid(), await paid(), await paid(), await paid()];
  const disputes = [won, lost, open, unknown].map(({ intent }) => stripe.dispute(intent));
  for (const event of disputes) await take(event);
  const [wonId, lostId, openId, unknownId] = disputes.map(({ data }) => String(data.object["id"]));
  stripe.endDispute(wonId ?? "", "won");
  stripe.endDispute(lostId ?? "", "lost");
  stripe.balance.disputes.delete(unknownId ?? "");
  const states = async () =>
    (
      await db.query<{ state: string }>(sql`
        SELECT state FROM disputes WHERE id = ANY (${[wonId, lostId, openId, unknownId]}::text[])
        ORDER BY array_position(${[wonId, lostId, openId, unknownId]}::text[], id)`)
    ).map(({ state }) => state);
  await compare();
  assert.deepEqual(await states(), Array(4).fill("opened"));
  now += 7 * 24 * hours;
  await compare();
  assert.deepEqual(await states(), ["won", "lost", "opened", "opened"]);
  const documents = (intent: string) =>
    db.query<{ kind: string; cents: number }>(sql`
      SELECT d.kind, d.part_cents::float8 AS cents FROM billing_documents d JOIN payments p ON p.id = d.payment_id
      WHERE p.payment_intent = ${intent} AND d.kind <> 'receipt' ORDER BY d.id`);
  assert.deepEqual(await documents(lost.intent), [{ kind: "loss", cents: total }]);
  assert.deepEqual(await documents(won.intent), []);
  await compare();
  assert.equal((await documents(lost.intent)).length, 1);
  await sumsAgreeAbout(won.intent, lost.intent);
});

test("an altered dispute, and one that can’t be read from the processor, don’t stop the comparison", async () => {
  const events = await Promise.all([1, 2, 3].map(async () => stripe.dispute((await paid()).intent)));
  for (const event of events) await take(event);
  const [altered = "", failing = "", last = ""] = events.map(({ data }) => String(data.object["id"]));
  stripe.endDispute(last, "won");
  const amount = async (id: string, cents: number) =>
    db.query(sql`UPDATE disputes SET amount_cents = amount_cents + ${cents} WHERE id = ${id}`);
  await amount(altered, 1);
  now += 8 * 24 * hours;
  const { processor } = deps;
  const broken = {
    ...processor,
    dispute: async (id: string) => {
      if (id === failing) throw new Error("the processor is down");
      return processor.dispute(id);
    },
  };
  await scheduleReconciliation(deps);
  await assert.rejects(reconcile({ ...deps, processor: broken }, dayOf(), AbortSignal.abort()), /another one compares/);
  await reconcile({ ...deps, processor: broken }, dayOf());
  assert.equal((await lastReconciliation(db))?.endedAt.getTime(), now);
  assert.deepEqual(
    await db.query(sql`SELECT state FROM disputes WHERE id = ANY (${[altered, failing, last]}::text[]) ORDER BY state`),
    [{ state: "opened" }, { state: "opened" }, { state: "won" }],
  );
  await amount(altered, -1);
});

test("asks no more after three disputes in a row without an answer, and still compares the books", async () => {
  const events = await Promise.all([1, 2, 3, 4, 5].map(async () => stripe.dispute((await paid()).intent)));
  for (const event of events) await take(event);
  now += 8 * 24 * hours;
  stamp();
  const asked: string[] = [];
  const told: string[] = [];
  const log = { ...silent, error: (_: unknown, words: string) => void told.push(words) } as typeof silent;
  const broken = {
    ...processor,
    dispute: async (id: string) => {
      asked.push(id);
      throw new Error("the processor is down");
    },
  };
  await scheduleReconciliation(deps);
  await reconcile({ ...deps, log, processor: broken }, dayOf());
  assert.equal(asked.length, 3);
  assert.equal(told.filter((words) => words.startsWith("stopped asking")).length, 1);
  assert.equal((await lastReconciliation(db))?.endedAt.getTime(), now);
});

test("three disputes that the processor never answers don't keep it from being asked about the others", async () => {
  const events = await Promise.all([1, 2, 3, 4].map(async () => stripe.dispute((await paid()).intent)));
  for (const event of events) {
    await take(event);
    now += 1000;
  }
  const ids = events.map(({ data }) => String(data.object["id"]));
  const last = ids.at(-1) ?? "";
  stripe.endDispute(last, "won");
  now += 8 * 24 * hours;
  const broken = {
    ...processor,
    dispute: async (id: string) => {
      if (id !== last) throw new Error("the processor fails");
      return processor.dispute(id);
    },
  };
  const overdue = await db.query(sql`SELECT FROM disputes WHERE state = 'opened'`);
  for (let day = 0; day < overdue.length; day += 1) {
    stamp();
    now += 24 * hours;
    await scheduleReconciliation(deps);
    await reconcile({ ...deps, processor: broken }, dayOf());
  }
  assert.deepEqual(await db.query(sql`SELECT state FROM disputes WHERE id = ${last}`), [{ state: "won" }]);
});

test("a difference whose mark somebody deleted is found again within 28 days", async () => {
  const { intent } = await pay();
  await compare();
  const isNamed = async () => (await openTasks()).some((reason) => reason.includes(String(chargeOf(intent)["id"])));
  assert.ok(await isNamed());
  await db.query(sql`DELETE FROM payments_to_compare WHERE payment_intent = ${intent}`);
  await compare();
  assert.ok(!(await isNamed()), "the comparison reads only marked payments");
  for (let day = 0; day < 28 && !(await isNamed()); day += 1) await compare();
  assert.ok(await isNamed());
});

test("of two days that are compared at once, the earlier one ends no task of the later one", async () => {
  // The run for the earlier day has compared the books, and waits before it writes its tasks.
  stamp();
  now += 25 * hours;
  await scheduleReconciliation(deps);
  const earlier = dayOf();
  await db.query(sql`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$`);
  await db.transaction((tx) =>
    tx.script(`CREATE TRIGGER wait_for_test BEFORE UPDATE ON reconciliations FOR EACH ROW WHEN (NEW.day = '${earlier}')
      EXECUTE FUNCTION wait_for_test()`),
  );
  const waiters = async (lock: Statement) =>
    (
      await db.query(sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND ${lock}
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
    ).length;
  const runs: Promise<void>[] = [];
  const { intent } = await db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(4711)`);
    runs.push(reconcile(deps, earlier));
    while ((await waiters(sql`objid = 4711`)) === 0) await sleep(20);
    const lost = await pay();
    stamp();
    now += 25 * hours;
    await scheduleReconciliation(deps);
    let hasEnded = false;
    runs.push(reconcile(deps, dayOf()).finally(() => (hasEnded = true)));
    while (!hasEnded && (await waiters(sql`objid <> 4711`)) === 0) await sleep(20);
    return lost;
  });
  await Promise.all(runs);
  const named = (await openTasks()).filter((reason) => reason.includes(String(chargeOf(intent)["id"])));
  assert.equal(named.length, 1);
});

/** Fails when the comparison finds a difference about one of the payments. */
async function sumsAgreeAbout(...intents: readonly string[]): Promise<void> {
  const differing = (await differences()).map(({ paymentIntent }) => paymentIntent);
  assert.deepEqual(
    intents.filter((intent) => differing.includes(intent)),
    [],
  );
}

test("an end of a comparison that was put into the future in the database stops no later one", async () => {
  await compare();
  await db.query(sql`
    UPDATE reconciliations SET ends_at = ends_at + interval '10 years' WHERE day = (SELECT max(day) FROM reconciliations)`);
  const { intent } = await pay();
  await compare();
  const missing = new RegExp(`Missing here: .* of ${intent} with 9900 cents USD`);
  assert.match((await openTasks()).join("\n"), missing);
});
