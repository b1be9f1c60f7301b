import type { Tx } from "../../../kernel/platform/database/database.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { type Actor, type LockedOrder, type Milestone, targetOf, transition } from "../../order/order.ts";
import { transitionByProcessor } from "../../order/transitions/by-processor.ts";
import { currency } from "../checkout/sessions.ts";
import { partNewsQueue } from "../disputes.ts";
import { receiptedPayments, reverseCredit, settleLosses } from "../documents.ts";
import type { RefundRowState } from "../refund-rows.ts";
import {
  auditUnapplied,
  type HeldPayment,
  heldPayments,
  markRefunded,
  recordPart,
  recordPayment,
  unappliedEvents,
  wasRefunded,
} from "../store.ts";
import { settleSupplement, supplementPayments } from "../supplements.ts";
import type { RefundMessage, SessionMessage } from "./message.ts";

/**
 * The result of an event. `moved`: the order moved. `saved`: a firm's card or bank account. `held`: the amount is wrong.
 * `repeated` and `stale`: nothing new.
 * `unapplied`: money that moves no order and needs a person. `foreign`: another account or mode. `unknown`: no such
 * order. `irrelevant`: not about a payment.
 */
export type Outcome =
  | "moved"
  | "saved"
  | "held"
  | "repeated"
  | "stale"
  | "unapplied"
  | "foreign"
  | "unknown"
  | "irrelevant";

export type Taken = {
  outcome: Outcome;
  order: LockedOrder | null;
  firedEvents: Milestone[];
  /** For `unapplied`: whether the service holds the money, which a person must then refund. */
  isHeld?: boolean;
};

export type TakeOptions = {
  at: Date;
  log: Log;
  actor: "processor" | "sandbox";
  simulated: boolean;
  /** The required `livemode` of events that have the field; null accepts both values. */
  livemode: boolean | null;
};

export const nothing = (outcome: Outcome, order: LockedOrder | null = null): Taken => ({
  outcome,
  order,
  firedEvents: [],
});

const actorOf = ({ actor, at, log }: TakeOptions): Actor => ({ actor, at, log });

/** The part of the event's money that is for one order. */
export type Share = {
  amount: number | null;
  /** Why the amount of a payment for several orders is wrong; null when it is right. */
  mismatch: string | null;
  /** The supplement that the payment is for; null for the order's total. */
  supplementId: number | null;
};

/** Applies a message about a session to one of its orders. @param status the session's status before the message */
export async function takeSession(
  tx: Tx,
  order: LockedOrder,
  message: SessionMessage,
  options: TakeOptions & { share: Share; status: string | undefined },
): Promise<Taken> {
  const { kind } = message;
  if (kind === "cleared") return takeMoney(tx, order, message, options);
  if (options.status === "failed") return nothing("stale", order);
  return moveIfTable(tx, order, kind === "failed" ? "payment_failed" : "payment_pending", options);
}

async function moveIfTable(
  tx: Tx,
  order: LockedOrder,
  on: "payment_pending" | "payment_failed",
  options: TakeOptions,
): Promise<Taken> {
  if (targetOf(order, on) === null) return nothing("stale", order);
  const moved = await transitionByProcessor(tx, order, on, actorOf(options));
  return { outcome: "moved", order: moved.order, firedEvents: moved.firedEvents };
}

async function takeMoney(
  tx: Tx,
  order: LockedOrder,
  message: SessionMessage,
  options: TakeOptions & { share: Share },
): Promise<Taken> {
  const { sessionId, paymentIntent } = message;
  const { at, simulated, share } = options;
  const { amount, mismatch, supplementId } = share;
  // The full wrong amount is recorded only for the first order.
  if (mismatch !== null && amount === 0)
    return supplementId === null ? hold(tx, order, mismatch, options) : nothing("stale", order);
  const known = sessionId ?? `intent:${paymentIntent}`;
  const payment = {
    ...{ paymentIntent, sessionId: known, amount: amount ?? 0 },
    ...{ currency: message.currency ?? "", simulated, at },
  };
  const gone = paymentIntent !== null && (await wasRefunded(tx, order.id, paymentIntent));
  const paymentId = await recordPayment(tx, { orderId: order.id, ...payment, ...(gone && { refundedAt: at }) });
  if (paymentId === null) return nothing("repeated", order);
  const isSettled =
    supplementId !== null &&
    !gone &&
    mismatch === null &&
    (await settleSupplement(tx, order, { supplementId, paymentId, cents: amount ?? 0 }, actorOf(options)));
  if (isSettled) return nothing("moved", order);
  const right = mismatch === null && amount === order.totalCents && message.currency?.toLowerCase() === currency;
  if (gone || supplementId !== null || targetOf(order, "payment_cleared") === null) {
    await auditUnapplied(tx, order, at, { paymentIntent, amount, currency: message.currency, status: order.status });
    return { ...nothing("unapplied", order), isHeld: !gone };
  }
  if (!right) {
    const reason = mismatch ?? `paid ${amount} ${message.currency}, not ${order.totalCents} ${currency}`;
    return hold(tx, order, reason, options);
  }
  const moved = await transitionByProcessor(tx, order, "payment_cleared", actorOf(options));
  return { outcome: "moved", order: moved.order, firedEvents: moved.firedEvents };
}

async function hold(tx: Tx, order: LockedOrder, reason: string, options: TakeOptions): Promise<Taken> {
  if (targetOf(order, "payment_mismatched") === null) return nothing("stale", order);
  const held = await transitionByProcessor(tx, order, "payment_mismatched", { ...actorOf(options), reason });
  return { outcome: "held", order: held.order, firedEvents: held.firedEvents };
}

/** Applies a refund to one of the orders that the money paid. @param amount the order's part of it */
export async function takeRefund(
  tx: Tx,
  order: LockedOrder,
  { paymentIntent, whole, share, refund, amount: amountCents, currency: paidIn }: RefundMessage,
  options: TakeOptions & { amount: number | null },
): Promise<Taken> {
  const { at, simulated, amount } = options;
  if (paymentIntent === null) return nothing("unknown");
  // A partial refund doesn't change the order.
  if (!whole) {
    if (refund !== null && amountCents !== null)
      await recordPart(tx, order.id, { paymentIntent, share, refund, amountCents }, at);
    return nothing("stale", order);
  }
  if (!(await markRefunded(tx, order.id, paymentIntent, at))) {
    if (await wasRefunded(tx, order.id, paymentIntent)) return nothing("repeated", order);
    // The refund arrived before its payment. It is recorded, so that the payment won't count when it arrives.
    const payment = {
      paymentIntent,
      // The payment of a firm's charge has no session either, and must not count as a repetition of this row.
      sessionId: `refund:${paymentIntent}`,
      amount: amount ?? 0,
      currency: paidIn ?? "",
    };
    await recordPayment(tx, { orderId: order.id, ...payment, simulated, at, refundedAt: at, isPlaceholder: true });
    return nothing("unapplied", order);
  }
  await closeUnapplied(tx, order.id, paymentIntent, "refunded", options);
  const held = await heldPayments(tx, order.id);
  if (targetOf(order, "refunded"))
    return held.every(isLost) ? endRefunded(tx, order, options) : nothing("stale", order);
  // The order's price was refunded at the processor. The refund job then returns its supplements.
  const supplements = await supplementPayments(tx, order.id);
  if (!held.every(({ id }) => supplements.has(id))) return nothing("stale", order);
  const asked = await askedByProcessor(tx, order, options);
  if (!asked) return nothing("stale", order);
  return held.every(isLost) ? endRefunded(tx, asked.order, options) : { outcome: "moved", ...asked };
}

/** Whether the bank took the whole payment back, so that the service can refund nothing of it. */
export const isLost = ({ amountCents, lostCents }: HeldPayment): boolean => lostCents > 0 && lostCents >= amountCents;

async function closeUnapplied(
  tx: Tx,
  orderId: number,
  paymentIntent: string,
  outcome: string,
  { at, actor }: TakeOptions,
): Promise<void> {
  const end = { state: "done", at, by: actor, outcome } as const;
  for (const subject of await unappliedEvents(tx, orderId, paymentIntent))
    await closeTasks(tx, { orderId, kinds: ["payment_unapplied"], subject }, end);
}

/**
 * Ends an order in RefundPending of which the service holds no money: the rest was refunded, or the bank took it back.
 * The firm no longer owes the price, so the losses become credit notes.
 */
export async function endRefunded(
  tx: Tx,
  order: LockedOrder,
  options: TakeOptions & { reason?: string },
): Promise<Taken> {
  const { at, reason } = options;
  await settleLosses(tx, order.id, at);
  for (const { paymentIntent } of await heldPayments(tx, order.id)) {
    if (paymentIntent === null) continue;
    await markRefunded(tx, order.id, paymentIntent, at);
    await closeUnapplied(tx, order.id, paymentIntent, "returned by the bank", options);
  }
  const by = { ...actorOf(options), ...(reason !== undefined && { reason }) };
  const moved = await transitionByProcessor(tx, order, "refunded", by);
  return { outcome: "moved", order: moved.order, firedEvents: moved.firedEvents };
}

/**
 * Applies a refund that failed: the money of its credit note is held again, and a person pays it back in another way.
 * No order moves.
 * @param before the refund's earlier state, if it is known
 */
export async function takeFailedRefund(
  tx: Tx,
  orders: readonly LockedOrder[],
  { refundId: id, paymentIntent, share, refund: name, amount }: RefundMessage & { refundId: string },
  options: TakeOptions & { before: RefundRowState | null },
): Promise<void> {
  const { at, before } = options;
  if (paymentIntent === null) return;
  let left = amount ?? 0;
  for (const paymentId of await receiptedPayments(tx, paymentIntent))
    if (share === null || share === String(paymentId))
      left -= await reverseCredit(tx, paymentId, { id, name, cents: left, hadSucceeded: before === "succeeded" }, at);
  const sum = amount === null ? "A refund" : `The refund of $${(amount / 100).toFixed(2)}`;
  const reason = `${sum} (${id}) failed at the payer’s bank, and the service has the money again. Pay it back in another way, and note how.`;
  for (const { id: orderId, environment } of orders) {
    await openTask(tx, { kind: "refund_failed", at, environment, orderId, subject: id, reason });
    await enqueue(tx, partNewsQueue, { orderId });
  }
}

/** After a refund in the processor's own dashboard, the order must first enter RefundPending. */
async function askedByProcessor(tx: Tx, order: LockedOrder, options: TakeOptions) {
  if (targetOf(order, "refund_requested") === null) return null;
  const by = { ...actorOf(options), reason: "refunded at the processor" };
  const { order: asked, firedEvents } = await transition(tx, order, "refund_requested", by);
  return { order: asked, firedEvents };
}
