import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { verified, verifiedAll } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import { type LockedOrder, mailClient, refundQueue } from "../../order/order.ts";
import { reviseLoss } from "../debts/pay-again.ts";
import { endPriceTasks } from "../debts/price-debt.ts";
import { tellFirm } from "../mails/money-mail.ts";
import type { RefundMessage } from "../processor/message.ts";
import { type Dispute, disputesOfIntent, settledRefundQueue } from "../records/disputes.ts";
import { billingDocumentState, restOf, reverseCredit } from "../records/documents.ts";
import { unbookLoss } from "../records/loss-documents.ts";
import { paymentState, refundCheckQueue } from "../records/payments.ts";
import { isShareRefunded, type RefundRowState, recordRefund, refundsOfIntent } from "../records/refunds.ts";
import { type Applied, type ApplyOptions, appliedAs, applyRefund } from "./apply.ts";
import { bookDispute } from "./apply-dispute.ts";

/** An order's code, its share of the money if known, and the supplement that the share pays. */
export type Named = { orderCode: string; amountCents: number | null; supplementId?: number | null };

/** The locked orders whose money an event is about. */
export type LockedPayees = {
  payees: readonly Named[];
  orders: readonly LockedOrder[];
  /** For a refund of one order's share: the other orders of the payment. */
  others: readonly LockedOrder[];
};

/** Records the state of a refund, and applies it to the orders whose money it returned. */
export async function readRefund(
  tx: Tx,
  message: RefundMessage,
  { payees, orders, others }: LockedPayees,
  options: ApplyOptions,
): Promise<Applied[]> {
  const { whole, paymentIntent, refund, refundId, state } = message;
  const unmoved = orders.length === 0 ? [appliedAs("unknown")] : orders.map((order) => appliedAs("stale", order));
  let isChange = false;
  if (refundId !== null) {
    const recorded = await recordRefund(tx, { ...message, refundId }, options.at);
    isChange = recorded.isChange;
    if (state === "failed" && isChange)
      await applyFailedRefund(tx, orders, { ...message, refundId }, { ...options, before: recorded.before });
    // A failed refund stays failed, whatever events arrive later.
    if (state !== "succeeded" || recorded.now === "failed") return unmoved;
  }
  if (orders.length === 0) return unmoved;
  // A partial refund of a payment for several orders doesn't name its order, so a person must assign it.
  const isUnassigned = refund !== null && orders.length > 1;
  if (!whole && (refund === null || isUnassigned) && paymentIntent !== null)
    await enqueue(tx, refundCheckQueue, { paymentIntent });
  if (isUnassigned) return unmoved;
  const divided = isChange ? await undivideLosses(tx, message, options) : [];
  const parts = new Map(payees.map(({ orderCode, amountCents }) => [orderCode, amountCents]));
  const results: Applied[] = [];
  for (const order of orders)
    results.push(
      await applyRefund(tx, order, message, { ...options, amount: parts.get(order.code) ?? message.amount }),
    );
  for (const dispute of divided) {
    await bookDispute(tx, dispute, options.at);
    for (const order of [...results.flatMap(({ order }) => order ?? []), ...others]) {
      await reviseLoss(tx, order, { dispute: dispute.id, ...options });
      // Runs the order's refund job again. If the loss left nothing to refund, the job ends the order.
      if (order.status === "RefundPending") await enqueue(tx, refundQueue, { orderId: order.id });
    }
  }
  return results;
}

/**
 * Runs before the refund of one order's share of a payment is booked. If a bank took the payment back between the
 * refund and its event, the loss was divided without regard to the refund. If too little of the share is then left for
 * the refund, reverses the payment's losses.
 * @returns the disputes whose losses are to be divided again
 */
async function undivideLosses(
  tx: Tx,
  { paymentIntent, share, amount }: RefundMessage,
  { at }: ApplyOptions,
): Promise<Dispute[]> {
  if (paymentIntent === null || share === null || amount === null) return [];
  const payments = await paymentsOf(tx, paymentIntent, "");
  const own = payments.find(({ id }) => share === String(id));
  if (!own || payments.length < 2 || (await restOf(tx, own.id)) >= amount) return [];
  const lost = (await disputesOfIntent(tx, paymentIntent)).filter(({ state }) => state === "lost");
  for (const { id: dispute } of lost) for (const { id } of payments) await unbookLoss(tx, id, dispute, at);
  return lost;
}

type FailedRefund = RefundMessage & { refundId: string };

/**
 * Applies a refund that failed. The service has the money again, and a person pays it back in another way. No order
 * moves. If the payment was for several orders, each order's task names its own part.
 * @param before the refund's earlier state; null when it was not stored
 */
async function applyFailedRefund(
  tx: Tx,
  orders: readonly LockedOrder[],
  { refundId: id, paymentIntent, share, refund: name, amount, request }: FailedRefund,
  options: ApplyOptions & { before: RefundRowState | null },
): Promise<void> {
  const { at, before } = options;
  if (paymentIntent === null) return;
  const payments = await paymentsOf(tx, paymentIntent, id);
  const isUnnamed = share === null && payments.length > 1;
  // If the payment was for several orders, the refund may name none of them. It then gets credit notes only when people
  // assign it to orders. So its success does not prove that it was credited.
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
  // Each order whose credit notes were reversed gets a task about the failed refund. If no credit note was reversed,
  // only the first order gets one.
  const credited = orders.filter((order) => (reversed.get(order.id) ?? 0) > 0);
  const owed = credited.length > 0 ? credited : orders.slice(0, 1);
  // The event of a whole refund names no refund, so its task may name the payment instead. Such a task may also be
  // about another refund that was made at the processor. So it is closed only if no other such refund exists.
  const others = (await refundsOfIntent(tx, paymentIntent)).filter(({ state }) => state !== "failed");
  const isLast = request === null && others.every((each) => each.request !== null);
  const subjects = isLast ? [id, paymentIntent] : [id];
  for (const order of orders) {
    const { id: orderId, environment, status } = order;
    const cents = reversed.get(orderId) ?? 0;
    if (cents > 0) {
      await tellFirm(tx, order, { moment: "refund_failed", cents, about: id });
      await mailClient(tx, orderId, "refund_failed", at, { refund: id });
      await endPriceTasks(tx, order, options);
    }
    const back = orders.length > 1 && cents > 0 ? `${dollars(cents)} of it` : "it";
    const reason = `${sum} (${id}) failed at the payer’s bank, and the service has the money again. Pay ${back} back in another way, and note how.`;
    if (owed.includes(order))
      await openTask(tx, { kind: "refund_failed", at, environment, orderId, subject: id, reason });
    await enqueue(tx, settledRefundQueue, { orderId });
    const end = { state: "dropped", at, by: options.actor, outcome: "the refund failed" } as const;
    for (const subject of subjects) await closeTasks(tx, { orderId, kinds: ["refund_by_hand"], subject }, end);
    // The refund of this order may have waited until people had assigned the failed refund to orders.
    if (isUnnamed && status === "RefundPending") await enqueue(tx, refundQueue, { orderId });
  }
}

type Payment = {
  id: number;
  orderId: number;
  /** True if people assigned a part of the failed refund to this payment. */
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
 * The payments whose money may have been returned by a refund that this service did not request. Without an assignment,
 * such a refund returned all that was left of the intent. So payments that the service had refunded are excluded.
 */
async function creditedBy(tx: Tx, paymentIntent: string, payments: readonly Payment[]): Promise<readonly Payment[]> {
  const assigned = payments.filter(({ hasNote }) => hasNote);
  if (assigned.length > 0) return assigned;
  const credited: Payment[] = [];
  for (const payment of payments) if (!(await isShareRefunded(tx, paymentIntent, payment.id))) credited.push(payment);
  return credited;
}
