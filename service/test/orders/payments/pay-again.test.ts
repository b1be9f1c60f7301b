import assert from "node:assert/strict";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { enqueue } from "../../../src/kernel/platform/jobs/jobs.ts";
import { closeMonths, documentsOfOrder, statementsOf } from "../../../src/orders/billing/billing.ts";
import { heldCents, owedCents } from "../../../src/orders/billing/statements.ts";
import { firmChargeQueue, lockOrder, transition } from "../../../src/orders/order/order.ts";
import {
  allowPayAgain,
  chargeByMember,
  chargesOfCode,
  checkoutUrl,
  payAgainOf,
  supplementsOfCode,
} from "../../../src/orders/payments/payments.ts";
import { openMoneyWorld, type PayingFirm } from "./money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, fuse, clock } = world;
const total = 9_900;
const day = 24 * 3_600_000;
let second = Math.floor(Date.now() / 1000);
const later = (event: StripeEvent): StripeEvent => ({ ...event, created: ++second });
const sessionOf = (url: string) => url.split("/").at(-1) ?? "";

type Lost = { code: string; id: number; firm: PayingFirm; intent: string; dispute: string };

/** A live order whose payment a bank took back for good. */
async function lostOrder(payBy: "client" | "firm" = "client", cents = total): Promise<Lost> {
  const firm = await world.newFirm();
  const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy });
  const paid = stripe.pay(sessionOf(await checkoutUrl(deps, code, null)));
  await world.take(paid);
  const intent = String(paid.data.object["payment_intent"]);
  const asked = later(stripe.dispute(intent, { amount: cents }));
  const dispute = String(asked.data.object["id"]);
  await world.take(asked);
  await world.take(later(stripe.endDispute(dispute, "lost")));
  await db.query(sql`DELETE FROM jobs`);
  return { code, id: await world.orderIdOf(code), firm, intent, dispute };
}

const allow = (code: string) => allowPayAgain(deps, { code, environment: "live", actor: "operator:test" });
const statusOf = async (code: string) => (await world.orders.look(code)).status;
const stateOf = async (code: string) => (await supplementsOfCode(db, code)).map(({ state }) => state);
const open = async (code: string) => sessionOf(await checkoutUrl(deps, code, null));
async function work(): Promise<void> {
  for (let round = 0; round < 5; round++) for (const job of await world.waitingJobs()) await world.run(job);
}
const tasksOf = (id: number) =>
  db.query<{ reason: string; subject: string; kind: string }>(
    sql`SELECT kind, reason, subject FROM tasks WHERE order_id = ${id} AND state = 'open' AND kind IN ('dispute', 'payment_unapplied') ORDER BY id`,
  );
const mailsOf = async (id: number, moment: string) =>
  (
    await db.query(
      sql`SELECT FROM jobs WHERE payload ->> 'orderId' = ${String(id)} AND payload ->> 'moment' = ${moment}`,
    )
  ).length;
const sumsOf = async ({ firm }: Lost) => {
  const found = (await statementsOf(deps, firm.owner)).at(-1)?.sums;
  assert.ok(found);
  const { charges, payments, losses, closing } = found;
  return { charges, payments, losses, closing, owed: owedCents(found), held: heldCents(found) };
};
const refused = (code: string, words: RegExp) =>
  assert.rejects(checkoutUrl(deps, code, null), (error: Error) => words.test(error.message));

test("an order whose payment was lost is paid again by a new checkout once an operator allows it, and owes nothing then", async () => {
  const lost = await lostOrder();
  const { code, id, dispute } = lost;
  await refused(code, /An order in OnHold is not payable/);
  assert.equal((await sumsOf(lost)).owed, total);
  await allow(code);
  assert.deepEqual([await mailsOf(id, "pay_again")].flat(), [2]);
  await world.take(stripe.pay(await open(code)));
  assert.deepEqual(await stateOf(code), ["paid"]);
  assert.equal(await statusOf(code), "OnHold");
  const [task, ...more] = await tasksOf(id);
  assert.deepEqual(more, []);
  assert.match(task?.reason ?? "", /\$99\.00 was paid again .* The order is on hold: release it/);
  assert.equal(task?.subject.startsWith(dispute), false);
  assert.deepEqual(await sumsOf(lost), {
    ...{ charges: total, payments: 2 * total, losses: total, closing: 0, owed: 0, held: 0 },
  });
  const receipts = await documentsOfOrder(db, code, lost.firm.owner);
  assert.deepEqual(
    receipts.map(({ kind, amountCents, replacesLoss }) => [kind, amountCents, replacesLoss]),
    [
      ["receipt", total, false],
      ["loss", total, false],
      ["receipt", total, true],
    ],
  );
  await refused(code, /not payable/);
  assert.equal(await payAgainOf(db, { id, status: "OnHold" }), null);
});

test("only what was lost is asked for, and the statement is right when the months have closed", async () => {
  const lost = await lostOrder("client", 4_000);
  await allow(lost.code);
  assert.deepEqual(
    (await supplementsOfCode(db, lost.code)).map(({ amountCents }) => amountCents),
    [4_000],
  );
  world.advance(40 * day);
  await closeMonths(deps, new AbortController().signal);
  assert.equal((await sumsOf(lost)).owed, 4_000);
  await world.take(stripe.pay(await open(lost.code)));
  world.advance(40 * day);
  await closeMonths(deps, new AbortController().signal);
  const { owed, held, closing } = await sumsOf(lost);
  assert.deepEqual([owed, held, closing], [0, 0, 0]);
});

test("the firm pays again by its card at a member’s request, and nothing is charged without one", async () => {
  const { code, id, firm } = await lostOrder("firm");
  await allow(code);
  await work();
  await db.transaction((tx) => enqueue(tx, firmChargeQueue, { orderId: id }));
  await work();
  assert.deepEqual(await chargesOfCode(db, code), []);
  await chargeByMember(deps, firm.principal, code);
  await work();
  const [charge] = await chargesOfCode(db, code);
  await world.take(stripe.chargeEvent(charge?.paymentIntent ?? ""));
  assert.deepEqual(await stateOf(code), ["paid"]);
});

test("nothing is allowed for an order without a loss, with an open dispute, twice, or in the other environment", async () => {
  const { code, intent } = await lostOrder();
  const rejects = (work: Promise<void>, words: RegExp) => assert.rejects(work, words);
  await rejects(allowPayAgain(deps, { code, environment: "test", actor: "operator:test" }), /Order not found/);
  await rejects(allow("0".repeat(40)), /Order not found/);
  await world.take(
    later(
      stripe.event("charge.dispute.created", {
        ...{ id: "dp_other", payment_intent: intent, amount: 100, currency: "usd", status: "needs_response" },
      }),
    ),
  );
  await rejects(allow(code), /A bank still decides/);
  await world.take(
    later(
      stripe.event("charge.dispute.closed", {
        ...{ id: "dp_other", payment_intent: intent, amount: 100, currency: "usd", status: "won" },
      }),
    ),
  );
  await allow(code);
  await rejects(allow(code), /can be paid again already/);
  const healthy = await world.orders.insert("EsignPending");
  await rejects(allow(healthy), /No money of this order/);
});

test("a bank that decides again closes the checkout, and money that still comes is a task, not a second payment", async () => {
  const { code, id, dispute } = await lostOrder();
  await allow(code);
  const session = await open(code);
  const paid = stripe.pay(session);
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.deepEqual(await stateOf(code), ["withdrawn"]);
  await refused(code, /not payable/);
  await world.take(paid);
  assert.deepEqual(await stateOf(code), ["withdrawn"]);
  assert.deepEqual(
    (await tasksOf(id)).map(({ kind }) => kind),
    ["payment_unapplied"],
  );
});

test("an order that was paid again and whose first payment comes back as well has a task with the sum that is here twice", async () => {
  const lost = await lostOrder();
  const { code, id, dispute } = lost;
  await allow(code);
  await world.take(stripe.pay(await open(code)));
  await world.take(later(stripe.endDispute(dispute, "won")));
  assert.ok((await tasksOf(id)).some(({ reason }) => /\$99\.00 is here twice/.test(reason)));
  const { owed, held } = await sumsOf(lost);
  assert.deepEqual([owed, held], [0, total]);
  await world.take(later(stripe.endDispute(dispute, "lost")));
  assert.equal(
    (await tasksOf(id)).some(({ reason }) => /twice/.test(reason)),
    false,
  );
  assert.deepEqual(await stateOf(code), ["paid"]);
});

test("a refund of an order that was paid again returns the second payment alone, and nothing is owed", async () => {
  const lost = await lostOrder();
  const { code } = lost;
  await allow(code);
  await world.take(stripe.pay(await open(code)));
  const before = stripe.refunds.length;
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await work();
  const given = stripe.refunds.slice(before);
  assert.deepEqual(
    given.map(({ amount }) => amount),
    [total],
  );
  for (const refund of given) for (const event of stripe.refundEvents(refund)) await world.take(event);
  await work();
  assert.equal(await statusOf(code), "Refunded");
  assert.deepEqual(await sumsOf(lost), {
    ...{ charges: total, payments: 2 * total, losses: 0, closing: 0, owed: 0, held: 0 },
  });
});

test("a refund closes the page on which an order could be paid again", async () => {
  const { code } = await lostOrder();
  await allow(code);
  const session = await open(code);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, "refund_requested", { actor: "system", at: clock(), log: deps.log, reason: "asked" });
  });
  await work();
  assert.equal(stripe.sessions.get(session)?.["status"], "expired");
  assert.equal(await statusOf(code), "Refunded");
});

test("ten operators, ten checkouts and doubled events at once end in one payment", async () => {
  const { code, id } = await lostOrder();
  const allowed = await Promise.allSettled(Array.from({ length: 10 }, () => allow(code)));
  assert.equal(allowed.filter(({ status }) => status === "fulfilled").length, 1);
  const urls = await Promise.all(Array.from({ length: 10 }, () => checkoutUrl(deps, code, null)));
  const [url = "", ...others] = [...new Set(urls)];
  assert.deepEqual(others, []);
  const paid = stripe.pay(sessionOf(url));
  await Promise.all([paid, paid, { ...paid, id: `${paid.id}_again` }].map((event) => world.take(event)));
  assert.deepEqual(await stateOf(code), ["paid"]);
  const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM payments WHERE order_id = ${id}`,
  );
  assert.equal(count, 2);
});

test("a payment and a decision of the bank at once are one payment or one task, never both", async () => {
  for (let run = 0; run < 6; run++) {
    const { code, id, dispute } = await lostOrder();
    await allow(code);
    const paid = stripe.pay(await open(code));
    const won = later(stripe.endDispute(dispute, "won"));
    await Promise.all((run % 2 === 0 ? [paid, won] : [won, paid]).map((event) => world.take(event)));
    const [state] = await stateOf(code);
    const kinds = (await tasksOf(id)).filter(
      ({ reason, kind }) => kind === "payment_unapplied" || /twice/.test(reason),
    );
    assert.equal(kinds.length, 1, String(state));
    assert.equal(kinds[0]?.kind, state === "paid" ? "dispute" : "payment_unapplied");
  }
});

test("a crash at any point of allowing, paying and settling ends in one payment", async () => {
  for (let point = 0; point < 12; point++) {
    const { code, id } = await lostOrder();
    let session = "";
    const steps = [
      async () => void ((await stateOf(code)).length === 0 && (await allow(code))),
      async () => {
        session = await open(code);
      },
    ];
    for (const step of steps) {
      fuse.set(point);
      await step().catch(() => undefined);
      fuse.set(null);
      await step();
    }
    const paid = stripe.pay(session);
    fuse.set(point);
    const isTaken = await world.take(paid);
    fuse.set(null);
    if (!isTaken) await world.take(paid);
    await world.take(paid);
    await work();
    assert.deepEqual(await stateOf(code), ["paid"], String(point));
    assert.equal((await db.query(sql`SELECT FROM payments WHERE order_id = ${id}`)).length, 2);
  }
});

test("a request that was altered in the database is refused, and so is its checkout", async () => {
  const { code, id } = await lostOrder();
  await allow(code);
  await db.query(sql`ALTER TABLE supplements DISABLE TRIGGER USER`);
  await db.query(sql`UPDATE supplements SET replaces_loss = false WHERE order_id = ${id}`);
  await db.query(sql`ALTER TABLE supplements ENABLE TRIGGER USER`);
  await assert.rejects(checkoutUrl(deps, code, null), { code: "unavailable" });
});
