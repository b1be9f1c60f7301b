/**
 * Corrects a wrong booking of money that was paid back outside the processor. Nothing is deleted: a reversing entry
 * follows the credit note, and a task about the money opens.
 */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { verified } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import type { LockedOrder } from "../../order/order.ts";
import { tellFirm } from "../mails/money-mail.ts";
import { disputesOfIntent, lockIntent } from "../records/disputes.ts";
import { billingDocumentState, lockedBooks, reverseCredit } from "../records/documents.ts";
import { type OutsideWay, outsideWay, outsideWays } from "../records/outside-notes.ts";
import { paymentState } from "../records/payments.ts";
import { refundsOfIntent } from "../records/refunds.ts";

type Booking = { payment: number; paymentIntent: string | null; refund: string; cents: number; way: OutsideWay };

/** The credit note of this id, if it booked money of the order that was paid back outside the processor. */
async function bookingOf(db: Sql, orderId: number, document: number): Promise<Booking | undefined> {
  const [found] = await db.query<Booking>(sql`
    SELECT d.payment_id AS payment, p.payment_intent AS "paymentIntent", d.refund, d.part_cents::float8 AS cents,
      ${outsideWay(sql`d`)} AS way, ${verified(billingDocumentState, sql`d`)}, ${verified(paymentState, sql`p`)}
    FROM billing_documents d JOIN payments p ON p.id = d.payment_id
    WHERE d.id = ${document} AND p.order_id = ${orderId} AND d.kind = 'credit_note' AND d.refund LIKE 'outside:%'`);
  return found;
}

type Undo = { document: number; reason: string; actor: string; at: Date; isRefundOpen: boolean };

/**
 * Reverses the booking. The caller must have locked the order.
 * @param isRefundOpen true while a requested refund of the order has no decision, or an approved partial refund has
 * moved no money yet
 * @throws ServiceError for a document that is not such a booking, for a booking that is already reversed, while the
 * order is in RefundPending, and while another refund is open. Also if a bank disputes the payment or took it back,
 * because the loss was booked without this part.
 */
export async function undoPaidOutside(
  tx: Tx,
  order: LockedOrder,
  { document, reason, actor, at, isRefundOpen }: Undo,
): Promise<void> {
  const { id: orderId, environment, partnerId } = order;
  const booking = await bookingOf(tx, orderId, document);
  if (!booking) throw new ServiceError("not_found", "No such booking.");
  const { payment, paymentIntent, refund: name, way } = booking;
  // The event of the whole refund credits everything that is left. So it would also credit this money, although nobody
  // requested a refund of it.
  if (order.status === "RefundPending")
    throw new ServiceError("conflict", "The order is being refunded. Wait until the refund succeeds or fails.");
  if (paymentIntent !== null) await lockIntent(tx, paymentIntent);
  const refunds = paymentIntent === null ? [] : await refundsOfIntent(tx, paymentIntent);
  const isOfPayment = (of: string | null) => of === null || of === String(payment);
  // An open refund would return this money, too, although the person who decided on that refund saw a smaller sum.
  if (isRefundOpen || refunds.some((each) => each.state === "pending" && isOfPayment(each.payment)))
    throw new ServiceError(
      "conflict",
      "Another refund of this order is open. Decide on it or wait for it, and then reverse the booking.",
    );
  const disputes = paymentIntent === null ? [] : await disputesOfIntent(tx, paymentIntent);
  if (disputes.some(({ state }) => state !== "won"))
    throw new ServiceError("conflict", "A bank disputes this payment or took it back, so the booking stays.");
  const cents = await reverseCredit(tx, payment, { id: name, name, cents: booking.cents, hadSucceeded: true }, at);
  if (cents === 0) throw new ServiceError("conflict", "This booking was corrected before.");
  const how = outsideWays[way];
  const words = `That ${dollars(cents)} went back ${how} was booked wrongly (${reason}). Find out whether the money went back. If not, pay it back in another way. Note how.`;
  const task = { kind: "refund_failed", at, environment, orderId, subject: `undone:${document}` } as const;
  await openTask(tx, { ...task, reason: words });
  const detail = { document, how: way, amountCents: cents, reason };
  await tx.query(auditLine({ at, action: "refund.paid_outside_undone", actor, partnerId, orderId, detail }));
  await tellFirm(tx, order, { moment: "paid_back_undone", cents, about: name, how });
}

/** The money of a reversed booking that the task is about, and what was refunded since; undefined for another task. */
export async function undonePart(tx: Tx, orderId: number, subject: string) {
  const document = /^undone:(\d{1,15})$/.exec(subject)?.[1];
  const booking = document === undefined ? undefined : await bookingOf(tx, orderId, Number(document));
  if (!booking) return undefined;
  const { notes } = await lockedBooks(tx, booking.payment);
  const reversal = notes.findIndex(({ refund }) => refund === `reversed:${booking.refund}`);
  const later = notes.slice(reversal + 1).filter(({ kind }) => kind === "credit_note");
  const part = { payment: booking.payment, name: subject, cents: reversal === -1 ? 0 : booking.cents };
  return { part, laterNotes: later.length };
}
