/**
 * An order whose payment a bank took back can be paid again after an operator allowed it. The amount is a supplement:
 * it uses the same checkouts and charges, and only the processor's event settles it. The payment does not change the
 * order's status.
 */
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { deletedMessage } from "../../../kernel/retention/retention.ts";
import { openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars, minPaymentCents } from "../../dollars.ts";
import {
  fromOrders,
  hasOrderCode,
  isPayable,
  type LockedOrder,
  lockOrder,
  mailClient,
  orderNotFound,
  whenDocumentsWereDeleted,
} from "../../order/order.ts";
import { tellFirm } from "../mails/money-mail.ts";
import { isDisputed } from "../records/disputes.ts";
import {
  endsDebt,
  insertSupplement,
  supplementPayments,
  supplementsOf,
  withdrawSupplement,
} from "../records/supplements.ts";
import { allowSubject, endAllow, endRest, endTasksAfter, lossOf } from "./price-debt.ts";

/** The name of the amount to pay again, as the receipt prints it. */
const label = "Payment in place of one that a bank took back";

/**
 * The cents of an order's price that banks took back and nobody has paid again. Finds the order by its code; 0 for an
 * unknown code.
 */
export async function unpaidLossOf(db: Sql, orderCode: string): Promise<number> {
  const [order] = await db.query<{ id: number }>(sql`SELECT o.id ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  return order ? Math.max(0, await lossOf(db, order.id)) : 0;
}

/**
 * The payments from which a partial refund is made first; normally none. While the service holds the price of an order
 * twice, these are the payments made again after a bank took one back. A refund of the original payment would reduce
 * the order's price, although the service still holds the price once.
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
  if (cents < minPaymentCents)
    return `The payment processor does not accept payments below ${dollars(minPaymentCents)}.`;
  const isAsked = (await supplementsOf(db, id)).some(({ state, replacesLoss }) => state === "asked" && replacesLoss);
  return isAsked ? "The order can be paid again already." : null;
}

/**
 * Lets the payer of an order pay again the amount that a bank took back, and mails the payer.
 * @throws ServiceError `not_found` for an order that is unknown or in the other environment; `conflict` when nothing is
 * to be paid again, or not now
 */
export async function allowPayAgain(
  { db, clock, acceptsPayment }: { db: Database; clock: Clock; acceptsPayment: AcceptsPayment },
  { code, environment, actor }: { code: string; environment: Environment; actor: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const order = isCode(code) ? await lockOrder(tx, code) : undefined;
    if (order?.environment !== environment) throw orderNotFound();
    const found = await payAgainOf(tx, acceptsPayment, order);
    if (!found) throw new ServiceError("conflict", "This order has nothing to pay again.");
    if (found.refusal !== null) throw new ServiceError("conflict", found.refusal);
    const { cents } = found;
    const at = clock();
    const id = await insertSupplement(tx, order, { amountCents: cents, label, replacesLoss: true, actor, at });
    await endAllow(tx, order.id, { actor, at });
    await endRest(tx, order.id, { actor, at });
    await mailClient(tx, order.id, "pay_again", at);
    await tellFirm(tx, order, { moment: "pay_again", cents, about: String(id) });
  });
}

/**
 * Call this when a dispute may have changed the order's loss. Withdraws the request to pay again if its amount has
 * changed, or if a bank is deciding again. If a withdrawn amount can be paid again, opens a task for an operator to
 * allow it; otherwise closes that task. While the service holds the price twice, keeps tasks to refund it or to return
 * the firm's money; otherwise closes them.
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
  await endTasksAfter(tx, order, cents, { actor, at }, dispute);
  return cents;
}
