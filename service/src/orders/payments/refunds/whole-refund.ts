/**
 * About the refund of a whole order: whether it failed, and whether only an earlier account can make it. Also queues
 * refunds of $0.00 again.
 */
import { hasMovedSince } from "../../../kernel/audit/audit.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked, nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { hasJob, requeue } from "../../../kernel/platform/jobs/jobs.ts";
import { fromTasks } from "../../../kernel/tasks/tasks.ts";
import { fromOrders, type LockedOrder, orderState, refundQueue } from "../../order/order.ts";
import { isShareRequest } from "../processor/processor.ts";
import { type HeldPayment, heldPayments, isLost, payeesOfIntent } from "../records/payments.ts";
import { type RefundRowState, refundsOfIntent } from "../records/refunds.ts";

/**
 * The subject of the task about a refund that only an earlier processor account can make.
 * @param request the request for a partial refund; null for a refund of everything that is left
 */
export const elsewhereSubject = (paymentIntent: string | null, orderId: number, request: string | null): string =>
  [paymentIntent, orderId, ...(request === null ? [] : [request]), "elsewhere"].join(":");

/**
 * The state of the last refund of everything that was left of the payment. Null for none, and for a refund that was
 * reported before the order last moved to RefundPending.
 */
export async function wholeRefundOf(
  db: Sql,
  orderId: number,
  { id, paymentIntent, amountCents }: Pick<HeldPayment, "id" | "paymentIntent" | "amountCents">,
): Promise<RefundRowState | null> {
  if (paymentIntent === null) return null;
  const isShared = (await payeesOfIntent(db, paymentIntent)).length > 1;
  const refunds = await refundsOfIntent(db, paymentIntent);
  // Refunds of an unknown amount count as large enough.
  const all = refunds.reduce((sum, each) => sum + (each.amountCents ?? amountCents), 0);
  // An earlier release stored no `request` with the refund of a payment for one order.
  const last =
    refunds.findLast(({ request }) => isShareRequest(request, id)) ??
    refunds.findLast(({ request }) => request === null && !isShared && all >= amountCents);
  if (!last) return null;
  const later = new Date(last.seenAt.getTime() + 1);
  const moved = hasMovedSince(sql`${orderId}::bigint`, "RefundPending", sql`${later}::timestamptz`);
  return (await db.query(sql`SELECT WHERE ${moved}`)).length === 0 ? last.state : null;
}

/**
 * Queues again the refunds of orders of $0.00 that have no job, because no event ends such a refund. Earlier releases
 * ended its job without ending the order. A job that failed for good is retried, so that failed jobs don't pile up.
 */
export async function resumeFreeRefunds(db: Database): Promise<void> {
  const held = sql`SELECT FROM payments p WHERE p.order_id = o.id AND p.refunded_at IS NULL`;
  const orders = await db.query<{ id: number } & Marked>(sql`
    SELECT o.id, ${marked(orderState, sql`o`)} ${fromOrders} WHERE o.environment IN ('live', 'test') AND o.status = 'RefundPending'
      AND EXISTS (${held}) AND NOT EXISTS (${held} AND p.amount_cents > 0)
      AND NOT ${hasJob(refundQueue, sql`payload ->> 'orderId' = o.id::text`)}
    ORDER BY o.id LIMIT 1000`);
  for (const { id: orderId, isAuthentic } of orders) {
    const payments = (await heldPayments(db, orderId).catch(nullIfAltered)) ?? [];
    if (isAuthentic && payments.length > 0 && payments.every(isLost))
      await db.transaction((tx) => requeue(tx, refundQueue, { orderId }));
  }
}

/**
 * Requires that an order whose refund failed keeps a task until its money went back. Only a refund at the processor or
 * a booking ends an order in RefundPending, and the service doesn't repeat a failed refund.
 * @param subject the subject of the task that is about to end without a booking
 * @throws ServiceError `conflict` if this is the last task about the money, and no refund under way returns the money
 */
export async function requireTaskLeft(tx: Tx, { id: orderId, status }: LockedOrder, subject: string): Promise<void> {
  if (status !== "RefundPending") return;
  const others = await tx.query(sql`
    SELECT ${fromTasks} WHERE t.order_id = ${orderId} AND t.kind = 'refund_failed' AND t.state IN ('open', 'claimed') AND t.subject <> ${subject}`);
  if (others.length > 0) return;
  for (const payment of await heldPayments(tx, orderId)) {
    const isElsewhere = subject === elsewhereSubject(payment.paymentIntent, orderId, null);
    if (isLost(payment) || (!isElsewhere && (await wholeRefundOf(tx, orderId, payment)) !== "failed")) continue;
    throw new ServiceError(
      "conflict",
      "The order is being refunded, and its money is still held. End this task once the payment processor has reported another refund of the order, or choose how you paid the money back.",
    );
  }
}
