import type { Tx } from "../../../kernel/platform/database/database.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { closeTasks } from "../../../kernel/tasks/tasks.ts";
import {
  type LockedOrder,
  type Milestone,
  mailClient,
  orderPayer,
  type TransitionResult,
  targetOf,
  transition,
} from "../../order/order.ts";
import { transitionByProcessor } from "../../order/transitions/by-processor.ts";
import { currency } from "../checkout/sessions.ts";
import { endLoss, endLostTasks, endPriceTasks, receivedCentsOf } from "../debts/price-debt.ts";
import { reportDebit, reportFirmsDebit, reportSupplement } from "../debts/unpaid.ts";
import { tellFirm } from "../mails/money-mail.ts";
import type { RefundMessage, SessionMessage } from "../processor/message.ts";
import { settleLosses } from "../records/loss-documents.ts";
import {
  heldPayments,
  isLost,
  markRefunded,
  type PartRefund,
  recordPart,
  recordPayment,
  unappliedEvents,
  wasRefunded,
} from "../records/payments.ts";
import { settleSupplement, supplementPayments } from "../records/supplements.ts";
import { auditUnapplied, reportWholeRefund } from "../records/unapplied.ts";
import { untilDecided, wrongSum } from "./sum-words.ts";

/** An event's result for one order. `repeated`: recorded before. `stale`: the status stays, but records may be new. */
export type Outcome =
  | "moved"
  /** A firm's card or bank account was saved, or can't be used any more. */
  | "saved"
  /** The amount is wrong. */
  | "held"
  | "repeated"
  | "stale"
  /** Money arrived that moves no order, so a person must decide; or the money was already refunded. */
  | "unapplied"
  /** The event is from another account or mode. */
  | "foreign"
  /** The order, card or permission that the event names is not stored. */
  | "unknown"
  /** The event is not about a payment. */
  | "irrelevant";

export type Applied = {
  outcome: Outcome;
  order: LockedOrder | null;
  firedEvents: Milestone[];
  /** For `unapplied`: true if the service holds the money. A person must then refund it. */
  isHeld?: boolean;
};

export type ApplyOptions = {
  at: Date;
  log: Log;
  /** `sandbox`: the payment is simulated. */
  actor: "processor" | "sandbox";
  /** True if the key is of live mode; events of test mode are then ignored. Null when the key doesn’t show its mode. */
  livemode?: boolean | null;
};

export const appliedAs = (outcome: Outcome, order: LockedOrder | null = null): Applied => ({
  outcome,
  order,
  firedEvents: [],
});

export const appliedMove = (
  { order, firedEvents }: TransitionResult,
  outcome: "moved" | "held" = "moved",
): Applied => ({ outcome, order, firedEvents });

/** The part of the event's money that is for one order. */
export type Share = {
  amount: number | null;
  /**
   * The reason of a wrong sum for several orders or a supplement. Null for a right sum, and for one order's total.
   */
  mismatch: string | null;
  /** The supplement that the payment is for; null for the order's total. */
  supplementId: number | null;
};

/**
 * Applies the processor's message about a checkout session to one of the session's orders.
 * @param status the session's status before the message
 */
export async function applySession(
  tx: Tx,
  order: LockedOrder,
  message: SessionMessage,
  options: ApplyOptions & { share: Share; status: string | undefined },
): Promise<Applied> {
  const { kind } = message;
  if (kind === "cleared") return applyMoney(tx, order, message, options);
  if (options.status === "failed") return appliedAs("stale", order);
  if (kind !== "failed") return moveIfTable(tx, order, "payment_pending", options);
  const applied = await moveIfTable(tx, order, "payment_failed", options);
  const moved = applied.order ?? order;
  if (options.share.supplementId === null) await reportDebit(tx, moved, message, options.at);
  const isFirms = (await orderPayer(tx, order.id)) === "firm";
  await (isFirms ? reportFirmsDebit : reportSupplement)(tx, moved, message, options);
  return applied;
}

async function moveIfTable(
  tx: Tx,
  order: LockedOrder,
  on: "payment_pending" | "payment_failed",
  options: ApplyOptions,
): Promise<Applied> {
  if (targetOf(order, on) === null) return appliedAs("stale", order);
  return appliedMove(await transitionByProcessor(tx, order, on, options));
}

async function applyMoney(
  tx: Tx,
  order: LockedOrder,
  message: SessionMessage,
  options: ApplyOptions & { share: Share },
): Promise<Applied> {
  const { sessionId, paymentIntent } = message;
  const { at, actor } = options;
  const { amount, mismatch, supplementId } = options.share;
  // If the amount is wrong, all of it is recorded for the first order. Each other order is put on hold, unless the
  // payment was for its supplement.
  if (mismatch !== null && amount === 0)
    return supplementId === null ? hold(tx, order, mismatch, options) : appliedAs("stale", order);
  const sessionOrIntent = sessionId ?? `intent:${paymentIntent}`;
  const payment = {
    paymentIntent,
    sessionId: sessionOrIntent,
    amount: amount ?? 0,
    currency: message.currency ?? "",
    simulated: actor === "sandbox",
    at,
  };
  const gone = paymentIntent !== null && (await wasRefunded(tx, order.id, paymentIntent));
  const paymentId = await recordPayment(tx, { orderId: order.id, ...payment, ...(gone && { refundedAt: at }) });
  if (paymentId === null) return appliedAs("repeated", order);
  const isSettled =
    supplementId !== null &&
    !gone &&
    mismatch === null &&
    (await settleSupplement(tx, order, { supplementId, paymentId, cents: amount ?? 0 }, options));
  if (isSettled) {
    await endLoss(tx, order, { supplementId, cents: amount ?? 0, actor, at });
    return appliedAs("moved", order);
  }
  const right = mismatch === null && amount === order.totalCents && message.currency?.toLowerCase() === currency;
  if (gone || supplementId !== null || targetOf(order, "payment_cleared") === null) {
    await auditUnapplied(tx, order, at, { paymentIntent, amount, currency: message.currency, status: order.status });
    if (!gone) await tellFirm(tx, order, { moment: "unneeded", cents: amount, about: sessionOrIntent });
    if (!gone && order.status === "Cancelled") await mailClient(tx, order.id, "paid_late", at);
    return { ...appliedAs("unapplied", order), isHeld: !gone };
  }
  if (!right) {
    const reason =
      mismatch ??
      `${wrongSum({ amount, currency: message.currency }, order.totalCents)}. The order waits ${untilDecided}`;
    return hold(tx, order, reason, options);
  }
  return appliedMove(await transitionByProcessor(tx, order, "payment_cleared", options));
}

async function hold(tx: Tx, order: LockedOrder, reason: string, options: ApplyOptions): Promise<Applied> {
  if (targetOf(order, "payment_mismatched") === null) return appliedAs("stale", order);
  return appliedMove(await transitionByProcessor(tx, order, "payment_mismatched", { ...options, reason }), "held");
}

/** Issues the credit note for a partial refund, and notifies the firm and the client about it once. */
export async function applyPartRefund(
  tx: Tx,
  order: LockedOrder,
  part: PartRefund,
  { actor, at }: Pick<ApplyOptions, "actor" | "at">,
): Promise<void> {
  const cents = await recordPart(tx, order.id, part, at);
  if (cents === 0) return;
  await tellPart(tx, order, { cents, refund: part.refund, about: part.refund }, at);
  await endPriceTasks(tx, order, { actor, at });
}

/** Mails the firm, and the client, about a partial refund that has its credit note. */
export async function tellPart(
  tx: Tx,
  order: LockedOrder,
  { cents, refund, about }: { cents: number; refund: string; about: string },
  at: Date,
): Promise<void> {
  await tellFirm(tx, order, { moment: "refunded", cents, about });
  await mailClient(tx, order.id, "refunded_part", at, { refund });
}

/** Applies a refund to one of the orders that the refunded payment paid. @param amount the part for this order */
export async function applyRefund(
  tx: Tx,
  order: LockedOrder,
  { paymentIntent, whole, share, refund, refundId, amount: amountCents, currency: paidIn }: RefundMessage,
  options: ApplyOptions & { amount: number | null },
): Promise<Applied> {
  const { at, actor, amount } = options;
  if (paymentIntent === null) return appliedAs("unknown");
  // A partial refund gets a credit note, and doesn't move the order.
  if (!whole) {
    if (refund !== null && amountCents !== null)
      await applyPartRefund(tx, order, { paymentIntent, share, refund, amountCents }, options);
    // If this part was the last money that the service held, the refund of the whole order has ended.
    const held = order.status === "RefundPending" ? await heldPayments(tx, order.id) : [];
    return held.length > 0 && held.every(isLost) ? endRefunded(tx, order, options) : appliedAs("stale", order);
  }
  const credited = await markRefunded(tx, order.id, paymentIntent, at);
  if (credited === null) {
    if (await wasRefunded(tx, order.id, paymentIntent)) return appliedAs("repeated", order);
    // The refund arrived before its payment. Because of this placeholder, the payment will be recorded as already
    // refunded.
    const payment = {
      paymentIntent,
      // A payment without a checkout session, such as a firm's charge, is stored under `intent:ID`. Under that key, the
      // placeholder would make the payment look as if it were already recorded.
      sessionId: `refund:${paymentIntent}`,
      amount: amount ?? 0,
      currency: paidIn ?? "",
    };
    const simulated = actor === "sandbox";
    await recordPayment(tx, { orderId: order.id, ...payment, simulated, at, refundedAt: at, isPlaceholder: true });
    return appliedAs("unapplied", order);
  }
  if (credited > 0)
    await tellFirm(tx, order, { moment: "refunded", cents: credited, about: `${paymentIntent}:${at.getTime()}` });
  await closeUnapplied(tx, order.id, paymentIntent, "refunded", options);
  await endPriceTasks(tx, order, options);
  const held = await heldPayments(tx, order.id);
  if (targetOf(order, "refunded"))
    return held.every(isLost) ? endRefunded(tx, order, options) : appliedAs("stale", order);
  // If only payments of supplements are held, the order's price was refunded at the processor. The refund job then
  // refunds the supplements.
  const supplements = await supplementPayments(tx, order.id, false);
  const isPriceBack = held.every(({ id }) => supplements.has(id));
  const subject = share === null ? (refundId ?? paymentIntent) : null;
  const asked = isPriceBack ? await askedByProcessor(tx, order, subject, options) : null;
  if (!asked) {
    if (credited > 0) await mailClient(tx, order.id, "payment_returned", at, { refund: paymentIntent });
    return appliedAs("stale", order);
  }
  return held.every(isLost) ? endRefunded(tx, asked.order, options) : appliedMove(asked);
}

async function closeUnapplied(
  tx: Tx,
  orderId: number,
  paymentIntent: string,
  outcome: string,
  { at, actor }: ApplyOptions,
): Promise<void> {
  const end = { state: "done", at, by: actor, outcome } as const;
  for (const subject of await unappliedEvents(tx, orderId, paymentIntent))
    await closeTasks(tx, { orderId, kinds: ["payment_unapplied"], subject }, end);
}

/**
 * Ends an order in RefundPending. The service no longer holds money for the order: all of it was refunded, or the bank
 * took it back. The firm no longer owes the price. So each loss document, issued after a lost dispute, is reversed, and
 * a credit note takes its place.
 */
export async function endRefunded(
  tx: Tx,
  order: LockedOrder,
  options: ApplyOptions & { reason?: string },
): Promise<Applied> {
  const { at } = options;
  const cents = await settleLosses(tx, order.id, at);
  const isOwed = (await receivedCentsOf(tx, order.id)) > 0;
  if (cents > 0) await tellFirm(tx, order, { moment: "settled", cents, about: String(at.getTime()), isOwed });
  for (const { paymentIntent } of await heldPayments(tx, order.id)) {
    if (paymentIntent === null) continue;
    await markRefunded(tx, order.id, paymentIntent, at);
    await closeUnapplied(tx, order.id, paymentIntent, "returned by the bank", options);
  }
  const moved = await transitionByProcessor(tx, order, "refunded", options);
  await endPriceTasks(tx, moved.order, options);
  await endLostTasks(tx, order.id, options);
  return appliedMove(moved);
}

/**
 * Moves the order to RefundPending after a refund at the processor, and opens a task so that a person finds out why. If
 * a person has already said which orders the refund was for (`subject` is null), opens no task.
 */
async function askedByProcessor(tx: Tx, order: LockedOrder, subject: string | null, options: ApplyOptions) {
  if (targetOf(order, "refund_requested") === null) return null;
  if (subject !== null) await reportWholeRefund(tx, order, subject, options.at);
  return transition(tx, order, "refund_requested", { ...options, reason: "refunded at the processor" });
}
