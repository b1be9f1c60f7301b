import type { Tx } from "../../../kernel/platform/database/database.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { type Log, maskCodes } from "../../../kernel/platform/logs.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import {
  type Actor,
  closeCheckoutQueue,
  type LockedOrder,
  lockOrder,
  type Milestone,
  targetOf,
  transition,
} from "../../order/order.ts";
import { transitionByProcessor } from "../../order/transitions/by-processor.ts";
import { currency } from "../checkout/checkout.ts";
import { bindSession, endProcessorSession, sessionOrder } from "../checkout/store.ts";
import {
  auditUnapplied,
  heldPayments,
  markRefunded,
  orderCodeOfIntent,
  recordEvent,
  recordOutcome,
  recordPayment,
  unappliedEvents,
  wasRefunded,
} from "../store.ts";
import { type RefundMessage, readMessage, type SessionMessage } from "./message.ts";
import type { SignedEvent } from "./processor.ts";

/**
 * The result of an event. `moved`: the order moved. `held`: the sum is wrong. `repeated` and `stale`: nothing new.
 * `unapplied`: money that moves no order and needs a person. `foreign`: another account or mode. `unknown`: no such
 * order.
 * `irrelevant`: not about a payment.
 */
export type Outcome = "moved" | "held" | "repeated" | "stale" | "unapplied" | "foreign" | "unknown" | "irrelevant";

export type Taken = {
  outcome: Outcome;
  order: LockedOrder | null;
  firedEvents: Milestone[];
  /** For `unapplied`: whether the service holds the money. A person must then send it back. */
  isHeld?: boolean;
};

export type TakeOptions = {
  at: Date;
  log: Log;
  actor: "processor" | "sandbox";
  simulated: boolean;
  /** The required `livemode` of events that have one; null accepts both. */
  livemode: boolean | null;
};

/**
 * Applies one verified event in the caller's transaction. Nothing else sets an order to Paid. Each event id counts
 * once;
 * late, repeated and foreign events change nothing.
 */
export async function takeEvent(tx: Tx, event: SignedEvent, options: TakeOptions): Promise<Taken> {
  if (!(await recordEvent(tx, event.id, event.type, options.at))) return nothing("repeated");
  const taken = await read(tx, event, options);
  const { outcome, order } = taken;
  await recordOutcome(tx, event.id, order?.id ?? null, outcome);
  if (outcome === "unapplied" && order && taken.isHeld) {
    const { id: orderId, environment } = order;
    await tx.query(openTask({ kind: "payment_unapplied", at: options.at, environment, orderId, subject: event.id }));
  }
  const line = {
    event: maskCodes(event.id),
    type: event.type,
    outcome,
    order: order && maskCode(order.code),
    status: order?.status,
  };
  if (outcome === "held" || outcome === "unapplied") options.log.error(line, "money of the processor needs a person");
  else if (outcome === "foreign" || outcome === "unknown")
    options.log.warn(line, "an event of the processor is not ours");
  else options.log.info(line, "an event of the processor");
  return taken;
}

const nothing = (outcome: Outcome, order: LockedOrder | null = null): Taken => ({ outcome, order, firedEvents: [] });

async function read(tx: Tx, event: SignedEvent, options: TakeOptions): Promise<Taken> {
  // Only events of connected accounts have it, and the service has none.
  if (event.account !== undefined && event.account !== null) return nothing("foreign");
  if (isOtherMode(event, options.livemode)) return nothing("foreign");
  const message = readMessage(event);
  if (!message) return nothing("irrelevant");
  const code = await orderCodeOf(tx, message);
  const order = code === null ? undefined : await lockOrder(tx, code);
  if (!order) return nothing("unknown");
  // Live money never pays a test order.
  if (order.environment === "test" && event.livemode === true) return nothing("foreign", order);
  return message.kind === "refunded"
    ? takeRefund(tx, order, message, options)
    : takeSession(tx, order, message, options);
}

const isOtherMode = ({ livemode }: SignedEvent, expected: boolean | null): boolean =>
  typeof livemode === "boolean" && expected !== null && livemode !== expected;

/**
 * The order of the session or the payment. When its minting was cut off and nothing was recorded, the event's
 * metadata name it.
 */
async function orderCodeOf(tx: Tx, message: SessionMessage | RefundMessage): Promise<string | null> {
  if (message.kind === "refunded") {
    const { paymentIntent } = message;
    return (paymentIntent && (await orderCodeOfIntent(tx, paymentIntent))) ?? message.orderCode;
  }
  const { sessionId, checkoutId } = message;
  if (sessionId !== null && checkoutId !== null) await bindSession(tx, checkoutId, sessionId);
  return (sessionId && (await sessionOrder(tx, sessionId))?.code) ?? message.orderCode;
}

const actorOf = ({ actor, at, log }: TakeOptions): Actor => ({ actor, at, log });

async function takeSession(tx: Tx, order: LockedOrder, message: SessionMessage, options: TakeOptions): Promise<Taken> {
  const { sessionId, kind } = message;
  // Read after locking the order: another event may have changed the session.
  const session = sessionId === null ? undefined : await sessionOrder(tx, sessionId);
  if (kind === "cleared") return takeMoney(tx, order, message, options);
  const end = kind === "pending" ? "pending_funds" : kind;
  const hasEnded = sessionId !== null && (await endProcessorSession(tx, sessionId, end));
  // Another open session could be paid, too, while the bank's money is on its way.
  if (hasEnded && kind === "pending") await enqueue(tx, closeCheckoutQueue, { orderId: order.id });
  if (session?.status === "failed") return nothing("stale", order);
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

async function takeMoney(tx: Tx, order: LockedOrder, message: SessionMessage, options: TakeOptions): Promise<Taken> {
  const { sessionId, paymentIntent, amount } = message;
  const { at, simulated } = options;
  if (sessionId !== null) await endProcessorSession(tx, sessionId, "complete");
  const known = sessionId ?? `intent:${paymentIntent}`;
  const payment = {
    paymentIntent,
    sessionId: known,
    amount: amount ?? 0,
    currency: message.currency ?? "",
    simulated,
    at,
  };
  const gone = paymentIntent !== null && (await wasRefunded(tx, order.id, paymentIntent));
  if (!(await recordPayment(tx, { orderId: order.id, ...payment, ...(gone && { refundedAt: at }) })))
    return nothing("repeated", order);
  const right = amount === order.totalCents && message.currency?.toLowerCase() === currency;
  const on = right ? "payment_cleared" : "payment_mismatched";
  if (gone || targetOf(order, on) === null) {
    await auditUnapplied(tx, order, at, { paymentIntent, amount, currency: message.currency, status: order.status });
    return { ...nothing("unapplied", order), isHeld: !gone };
  }
  const reason = right ? {} : { reason: `paid ${amount} ${message.currency}, not ${order.totalCents} ${currency}` };
  const moved = await transitionByProcessor(tx, order, on, { ...actorOf(options), ...reason });
  return { outcome: right ? "moved" : "held", order: moved.order, firedEvents: moved.firedEvents };
}

async function takeRefund(tx: Tx, order: LockedOrder, message: RefundMessage, options: TakeOptions): Promise<Taken> {
  const { paymentIntent, amount, currency: paidIn } = message;
  const { at, simulated } = options;
  if (paymentIntent === null) return nothing("unknown");
  // A partial refund doesn't change the order.
  if (!message.whole) return nothing("stale", order);
  if (!(await markRefunded(tx, order.id, paymentIntent, at))) {
    if (await wasRefunded(tx, order.id, paymentIntent)) return nothing("repeated", order);
    // The refund arrived before its payment. Record it, so that the payment won't count when it arrives.
    const payment = {
      paymentIntent,
      sessionId: `intent:${paymentIntent}`,
      amount: amount ?? 0,
      currency: paidIn ?? "",
    };
    await recordPayment(tx, { orderId: order.id, ...payment, simulated, at, refundedAt: at });
    return nothing("unapplied", order);
  }
  const end = { state: "done", at, by: options.actor, outcome: "refunded" } as const;
  for (const subject of await unappliedEvents(tx, order.id, paymentIntent))
    await tx.query(closeTasks({ orderId: order.id, kinds: ["payment_unapplied"], subject }, end));
  if ((await heldPayments(tx, order.id)).length > 0) return nothing("stale", order);
  const asked = targetOf(order, "refunded") ? order : await askedByProcessor(tx, order, options);
  if (!asked) return nothing("stale", order);
  const moved = await transitionByProcessor(tx, asked, "refunded", actorOf(options));
  return { outcome: "moved", order: moved.order, firedEvents: moved.firedEvents };
}

/** For a refund made in the processor's own dashboard, the order passes RefundPending first. */
async function askedByProcessor(tx: Tx, order: LockedOrder, options: TakeOptions): Promise<LockedOrder | null> {
  if (targetOf(order, "refund_requested") === null) return null;
  return (await transition(tx, order, "refund_requested", { ...actorOf(options), reason: "refunded at the processor" }))
    .order;
}
