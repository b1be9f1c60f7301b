import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { verified, verifiedAll } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import { type LockedOrder, refundQueue } from "../../order/order.ts";
import { isShareRefunded } from "../by-hand.ts";
import { partNewsQueue } from "../disputes.ts";
import { billingDocumentState, reverseCredit } from "../documents.ts";
import { tellFirm } from "../firm/money-mail.ts";
import type { RefundRowState } from "../refund-rows.ts";
import { paymentState } from "../store.ts";
import type { TakeOptions } from "./apply.ts";
import type { RefundMessage } from "./message.ts";

type FailedRefund = RefundMessage & { refundId: string };

/**
 * Applies a refund that failed. The service has the money again, and a person pays it back in another way. No order
 * moves. Of a payment for several orders, each order's task names its own part.
 * @param before the refund's earlier state; null when it was not on record
 */
export async function takeFailedRefund(
  tx: Tx,
  orders: readonly LockedOrder[],
  { refundId: id, paymentIntent, share, refund: name, amount }: FailedRefund,
  options: TakeOptions & { before: RefundRowState | null },
): Promise<void> {
  const { at, before } = options;
  if (paymentIntent === null) return;
  const payments = await paymentsOf(tx, paymentIntent, id);
  const isUnnamed = share === null && payments.length > 1;
  // A refund of a payment for several orders that names none of them gets credit notes only when people assign it to
  // orders. So its success does not prove that it was credited.
  const hadSucceeded = before === "succeeded" && !isUnnamed;
  const reversed = new Map<number, number>();
  let left = amount ?? 0;
  for (const { id: paymentId, orderId } of isUnnamed ? await creditedBy(tx, paymentIntent, payments) : payments) {
    if (share !== null && share !== String(paymentId)) continue;
    const cents = await reverseCredit(tx, paymentId, { id, name, cents: left, hadSucceeded }, at);
    left -= cents;
    reversed.set(orderId, (reversed.get(orderId) ?? 0) + cents);
  }
  const sum = amount === null ? "A refund" : `The refund of ${dollars(amount)}`;
  // A refund without reversed credit notes gets one task, about the first of its orders.
  const credited = orders.filter((order) => (reversed.get(order.id) ?? 0) > 0);
  const owed = credited.length > 0 ? credited : orders.slice(0, 1);
  for (const order of orders) {
    const { id: orderId, environment, status } = order;
    const cents = reversed.get(orderId) ?? 0;
    if (cents > 0) await tellFirm(tx, order, { moment: "refund_failed", cents, about: id });
    const back = orders.length > 1 && cents > 0 ? `${dollars(cents)} of it` : "it";
    const reason = `${sum} (${id}) failed at the payer’s bank, and the service has the money again. Pay ${back} back in another way, and note how.`;
    if (owed.includes(order))
      await openTask(tx, { kind: "refund_failed", at, environment, orderId, subject: id, reason });
    await enqueue(tx, partNewsQueue, { orderId });
    const end = { state: "dropped", at, by: options.actor, outcome: "the refund failed" } as const;
    await closeTasks(tx, { orderId, kinds: ["refund_by_hand"], subject: id }, end);
    // The order's own refund may have waited until people knew which orders this one belonged to.
    if (isUnnamed && status === "RefundPending") await enqueue(tx, refundQueue, { orderId });
  }
}

type Payment = {
  id: number;
  orderId: number;
  /** Whether people assigned a part of the failed refund to this payment. */
  hasNote: boolean;
};

/** The payments of an intent that have receipts, oldest first. @throws ServiceError `unavailable` for an altered row */
function paymentsOf(tx: Tx, paymentIntent: string, refund: string): Promise<Payment[]> {
  const documents = sql`FROM billing_documents d WHERE d.payment_id = p.id`;
  return tx.query<Payment>(sql`
    SELECT p.id, p.order_id AS "orderId", ${verified(paymentState, sql`p`)},
      EXISTS (SELECT ${documents} AND d.kind = 'credit_note' AND d.refund = ${refund}) AS "hasNote",
      ${verifiedAll(billingDocumentState, sql`d`, documents)}
    FROM payments p WHERE p.payment_intent = ${paymentIntent}
      AND EXISTS (SELECT ${documents} AND d.kind = 'receipt') ORDER BY p.id`);
}

/**
 * The payments of which a refund that this service did not request can have returned money. Without an assignment, it
 * returned all that was left of the intent, so not the payments that the service had refunded itself.
 */
async function creditedBy(tx: Tx, paymentIntent: string, payments: readonly Payment[]): Promise<readonly Payment[]> {
  const assigned = payments.filter(({ hasNote }) => hasNote);
  if (assigned.length > 0) return assigned;
  const credited: Payment[] = [];
  for (const payment of payments)
    if (!(await isShareRefunded(tx, { paymentIntent }, payment.id))) credited.push(payment);
  return credited;
}
