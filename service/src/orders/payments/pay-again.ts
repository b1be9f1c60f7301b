/**
 * An order whose payment a bank took back can be paid again after an operator allowed it. The amount is a supplement:
 * it uses the same checkouts and charges, and only the processor's event settles it. The payment does not change the
 * order's status.
 */
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { deletedMessage } from "../../kernel/retention/retention.ts";
import { closeTasks, openTask, type TaskEnd } from "../../kernel/tasks/tasks.ts";
import { dollars } from "../dollars.ts";
import {
  fromOrders,
  hasOrderCode,
  isPayable,
  type LockedOrder,
  lockOrder,
  mailClient,
  whenDocumentsWereDeleted,
} from "../order/order.ts";
import { isDisputed } from "./disputes.ts";
import { tellFirm } from "./firm/money-mail.ts";
import { heldPayments } from "./store.ts";
import {
  endsDebt,
  insertSupplement,
  leastSupplementCents,
  supplementPayments,
  supplementsOf,
  withdrawSupplement,
} from "./supplements.ts";
import { unappliedOfOrder } from "./unapplied.ts";

/** The name of the amount to pay again, as the receipt prints it. */
const label = "Payment in place of one that a bank took back";

/**
 * The cents of the order's price that banks took back and nobody has paid again. Below zero when the price was paid
 * again and the bank then returned the first payment. The refunded part of the second payment is treated as unpaid.
 * Leaves out payments that paid for nothing.
 * @throws ServiceError `unavailable` for an altered row
 */
async function lossOf(db: Sql, orderId: number): Promise<number> {
  const replacements = await supplementPayments(db, orderId, true);
  const unapplied = await unappliedOfOrder(db, orderId);
  return (await heldPayments(db, orderId))
    .filter(({ id }) => !unapplied.has(id))
    .reduce(
      (sum, { id, amountCents, lostCents, creditedCents }) =>
        sum + lostCents - (replacements.has(id) ? amountCents - creditedCents : 0),
      0,
    );
}

/**
 * The cents of an order's price that banks took back and nobody has paid again. Finds the order by its code; 0 for an
 * unknown one.
 */
export async function unpaidLossOf(db: Sql, orderCode: string): Promise<number> {
  const [order] = await db.query<{ id: number }>(sql`SELECT o.id ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  return order ? Math.max(0, await lossOf(db, order.id)) : 0;
}

/**
 * The payments from which a partial refund is made first; normally none. While the service holds the price of an order
 * twice, these are the payments that replaced a lost one. A refund of the first payment would credit the price,
 * although the service still holds it.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function refundedFirst(db: Sql, orderId: number): Promise<ReadonlySet<number>> {
  return (await lossOf(db, orderId)) < 0 ? supplementPayments(db, orderId, true) : new Set();
}

/** True if orders in this environment can be paid online. */
export type AcceptsPayment = (environment: Environment) => boolean;

export type PayAgain = {
  /** The cents to pay again. */
  cents: number;
  /** The reason why an operator can't allow this payment now; null when they can. */
  refusal: string | null;
};

/** The amount that could be paid again for an order; null when no bank took anything back, or it was paid again. */
export async function payAgainOf(
  db: Sql,
  acceptsPayment: AcceptsPayment,
  { environment, ...order }: { id: number; status: string; environment: Environment },
): Promise<PayAgain | null> {
  const cents = await lossOf(db, order.id);
  if (cents <= 0) return null;
  return { cents, refusal: acceptsPayment(environment) ? await refusalOf(db, order, cents) : notConfigured };
}

const notConfigured = "Payments are not configured, so nobody could pay.";

async function refusalOf(db: Sql, { id, status }: { id: number; status: string }, cents: number) {
  if (endsDebt.has(status) || isPayable(status)) return `An order in ${status} can’t be paid again.`;
  const deletedAt = await whenDocumentsWereDeleted(db, id);
  if (deletedAt) return deletedMessage("The document of this order", deletedAt);
  if (await isDisputed(db, id)) return "A bank still decides on a payment of this order. Wait for its answer.";
  if (cents < leastSupplementCents) return "The payment processor does not accept payments below $0.50.";
  const isAsked = (await supplementsOf(db, id)).some(({ state, replacesLoss }) => state === "asked" && replacesLoss);
  return isAsked ? "The order can be paid again already." : null;
}

/**
 * Lets the payer of an order pay again what a bank took back, and mails them.
 * @throws ServiceError `not_found` for an order that is unknown or in the other environment; `conflict` when nothing is
 * to be paid again, or not now
 */
export async function allowPayAgain(
  { db, clock, acceptsPayment }: { db: Database; clock: Clock; acceptsPayment: AcceptsPayment },
  { code, environment, actor }: { code: string; environment: Environment; actor: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const order = isCode(code) ? await lockOrder(tx, code) : undefined;
    if (order?.environment !== environment) throw new ServiceError("not_found", "Order not found.");
    const found = await payAgainOf(tx, acceptsPayment, order);
    if (!found) throw new ServiceError("conflict", "This order has nothing to pay again.");
    if (found.refusal !== null) throw new ServiceError("conflict", found.refusal);
    const { cents } = found;
    const at = clock();
    const id = await insertSupplement(tx, order, { amountCents: cents, label, replacesLoss: true, actor, at });
    await endAllow(tx, order.id, { actor, at });
    await mailClient(tx, order.id, "pay_again", at);
    await tellFirm(tx, order, { moment: "pay_again", cents, about: String(id) });
  });
}

const allowSubject = (orderId: number): string => `pay-again:${orderId}`;

/** Closes the task about an order that can be paid again. */
async function endAllow(tx: Tx, orderId: number, { actor, at }: { actor: string; at: Date }): Promise<void> {
  const end = { state: "done", at, by: actor, outcome: "nothing is left to allow" } as const;
  await closeTasks(tx, { orderId, kinds: ["dispute"], subject: allowSubject(orderId) }, end);
}

/**
 * After an event of a dispute: withdraws the amount to pay again, if it has changed or the bank is deciding again. If a
 * withdrawn amount can be paid again, opens a task for an operator to allow it; otherwise closes that task. If the
 * service holds the price twice, opens a task about that; otherwise closes it.
 * @returns the cents of the price that nobody has paid now; below zero for money that is held twice
 */
export async function reviseLoss(
  tx: Tx,
  order: LockedOrder,
  { dispute, actor, at }: { dispute: string; actor: string; at: Date },
): Promise<number> {
  const { id: orderId, environment } = order;
  const last = (await supplementsOf(tx, orderId)).findLast(({ replacesLoss }) => replacesLoss);
  const cents = await lossOf(tx, orderId);
  const isStale = last?.state === "asked" && (last.amountCents !== cents || (await isDisputed(tx, orderId)));
  if (isStale) await withdrawSupplement(tx, order, { actor, at, ofLoss: true });
  const wasWithdrawn = isStale || last?.state === "withdrawn";
  if (wasWithdrawn && cents > 0 && (await refusalOf(tx, order, cents)) === null) {
    const reason = `The request to pay this order again was withdrawn while a bank decided. ${dollars(cents)} can be paid again now: allow it on the order’s page, or settle with the firm.`;
    await openTask(tx, { kind: "dispute", at, environment, orderId, subject: allowSubject(orderId), reason });
  } else await endAllow(tx, orderId, { actor, at });
  if (cents >= 0) {
    await endTasksAfter(tx, order, cents, { actor, at });
    return cents;
  }
  const reason = `The bank decided for the service (${dispute}), but the order had been paid again, so ${dollars(-cents)} was paid twice. Refund that much of the order.`;
  await openTask(tx, { kind: "dispute", at, environment, orderId, subject: `${dispute}:${orderId}:twice`, reason });
  return cents;
}

/**
 * After a refund or a dispute: closes outdated tasks about the price of an order. Such tasks report that the price can
 * be paid again, or that its money is held twice.
 */
export async function endPriceTasks(tx: Tx, order: LockedOrder, by: { actor: string; at: Date }): Promise<void> {
  await endTasksAfter(tx, order, await lossOf(tx, order.id), by);
}

/**
 * Closes the tasks about the order's price that are outdated.
 * @param cents the cents of the price that nobody has paid now
 */
async function endTasksAfter(
  tx: Tx,
  { id: orderId, status }: LockedOrder,
  cents: number,
  { actor, at }: { actor: string; at: Date },
): Promise<void> {
  if (cents <= 0 || endsDebt.has(status)) await endAllow(tx, orderId, { actor, at });
  if (cents < 0) return;
  const end = { state: "dropped", at, by: actor, outcome: "no money is held twice any more" } as const;
  await endTasksOfDisputes(tx, orderId, "twice", end);
}

/**
 * Closes the tasks with this kind of subject about all disputes of an order; with `lost`, only about its lost disputes.
 */
async function endTasksOfDisputes(tx: Tx, orderId: number, about: "lost" | "twice", end: TaskEnd): Promise<void> {
  const disputes = await tx.query<{ subject: string }>(sql`
    SELECT d.id || ':' || ${orderId}::bigint || ':' || ${about}::text AS subject FROM disputes d
    WHERE (${about}::text <> 'lost' OR d.state = 'lost')
      AND d.payment_intent IN (SELECT payment_intent FROM payments WHERE order_id = ${orderId})`);
  for (const { subject } of disputes) await closeTasks(tx, { orderId, kinds: ["dispute"], subject }, end);
}

/**
 * After the payment of a supplement: if it replaced a loss, closes the tasks that ask a person to settle the loss, and
 * notifies the firm. An order on hold stays on hold; a task asks an operator to release it.
 */
export async function endLoss(
  tx: Tx,
  order: LockedOrder,
  { supplementId, cents, actor, at }: { supplementId: number; cents: number; actor: string; at: Date },
): Promise<void> {
  const { id: orderId, environment, status } = order;
  const paid = (await supplementsOf(tx, orderId)).find(({ id }) => id === supplementId);
  if (!paid?.replacesLoss) return;
  await endTasksOfDisputes(tx, orderId, "lost", { state: "done", at, by: actor, outcome: "the order was paid again" });
  const reason = `${dollars(cents)} was paid again for this order, whose payment a bank had taken back. The order is on hold: release it.`;
  if (status === "OnHold")
    await openTask(tx, { kind: "dispute", at, environment, orderId, subject: `paid-again:${supplementId}`, reason });
  await tellFirm(tx, order, { moment: "paid_again", cents, about: String(supplementId) });
}
