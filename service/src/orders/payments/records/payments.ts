import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  verifiedAll,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { joinOrder } from "../../order/order.ts";
import { disputeRows } from "./disputes.ts";
import {
  billingDocumentState,
  billingRows,
  creditedCentsOf,
  creditPart,
  creditRest,
  issueReceipt,
} from "./documents.ts";
import { lostCentsOf } from "./loss-documents.ts";
import { isPaidOutside } from "./outside-notes.ts";
import { refundRows, refundState } from "./refunds.ts";

/**
 * The columns of a payment that its MAC covers. A trigger forbids changing `refunded_at` once it is set, and deleting
 * the row. So nobody can put an old row back with its old MAC.
 */
export const paymentState: StateMac = {
  table: sql`payments`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (p) => sql`${p}.id, ${p}.order_id, ${p}.payment_intent, ${p}.session_id, ${p}.amount_cents, ${p}.currency,
    ${p}.simulated, extract(epoch FROM ${p}.received_at), extract(epoch FROM ${p}.refunded_at)`,
};

/** The columns of a processor's event that its MAC covers. A trigger allows its outcome to be set only once. */
export const processorEventState: StateMac = {
  table: sql`processor_events`,
  key: sql`event_id`,
  mac: sql`row_mac`,
  covered: (e) => sql`${e}.event_id, ${e}.type, ${e}.order_id, ${e}.outcome, extract(epoch FROM ${e}.received_at)`,
};

/**
 * The columns that the MAC of a note covers. A note explains how a person resolved a payment that moved no order. The
 * rows never change.
 */
export const resolutionState: StateMac = {
  table: sql`payment_resolutions`,
  key: sql`event_id`,
  mac: sql`row_mac`,
  covered: (r) => sql`${r}.event_id, ${r}.resolved_by, ${r}.note, extract(epoch FROM ${r}.resolved_at)`,
};

const backfill = { set: "desk and checkout" };

export const moneyRows = [
  stateRows(paymentState, { backfill: { set: "money" } }),
  stateRows(processorEventState, { backfill }),
  stateRows(resolutionState, { backfill }),
  ...billingRows,
  ...disputeRows,
  ...refundRows,
];

const verifiedPayments: Statement = verified(paymentState, sql`payments`);

const verifiedEvents: Statement = verified(processorEventState, sql`e`);

/**
 * Records an event once. If a concurrent transaction is recording the same event, waits for it.
 * @returns false when the event was already on record
 * @throws ServiceError `unavailable` when the MAC of the recorded event is invalid; the processor then sends it again
 */
export async function recordEvent(tx: Tx, id: string, type: string, at: Date): Promise<boolean> {
  const recorded = await tx.query(sql`
    INSERT INTO processor_events (event_id, type, outcome, received_at) VALUES (${id}, ${type}, 'taken', ${at})
    ON CONFLICT (event_id) DO NOTHING RETURNING 1`);
  if (recorded.length === 1) return true;
  await tx.query(sql`SELECT ${verifiedEvents} FROM processor_events e WHERE event_id = ${id}`);
  return false;
}

/** Records the outcome of an event that the same transaction recorded. */
export async function recordOutcome(tx: Tx, id: string, orderId: number | null, outcome: string): Promise<void> {
  await tx.query(sql`UPDATE processor_events SET order_id = ${orderId}, outcome = ${outcome} WHERE event_id = ${id}`);
  await writeStateMacs(tx, processorEventState, sql`event_id = ${id}`);
}

/** Records the results of an event for several orders, each in an event row of its own. */
export async function recordParts(
  tx: Tx,
  parts: readonly { id: string; orderId: number | null; outcome: string }[],
  type: string,
  at: Date,
): Promise<void> {
  const ids = parts.map(({ id }) => id);
  await tx.query(sql`
    INSERT INTO processor_events (event_id, type, order_id, outcome, received_at)
    SELECT part.id, ${type}, part.order_id, part.outcome, ${at}::timestamptz
    FROM unnest(${ids}::text[], ${parts.map(({ orderId }) => orderId)}::bigint[],
      ${parts.map(({ outcome }) => outcome)}::text[]) AS part (id, order_id, outcome)`);
  await writeStateMacs(tx, processorEventState, sql`event_id = ANY (${ids}::text[])`);
}

export type NewPayment = {
  orderId: number;
  paymentIntent: string | null;
  sessionId: string;
  amount: number;
  currency: string;
  simulated: boolean;
  at: Date;
  refundedAt?: Date;
  /**
   * True for the placeholder of a refund that arrived before its payment. No money has arrived, so the placeholder gets
   * no receipt.
   */
  isPlaceholder?: true;
};

/**
 * Records a payment and issues its receipt. If it was already refunded, also issues the credit note.
 * @returns the payment's id; null when a payment of this session was already recorded for the order
 * @throws ServiceError `unavailable` when the MAC of the recorded payment is invalid
 */
export async function recordPayment(tx: Tx, payment: NewPayment): Promise<number | null> {
  const { orderId, paymentIntent, sessionId, amount, currency, simulated, at, refundedAt = null } = payment;
  const { isPlaceholder = false } = payment;
  const recorded = await tx.query<{ id: number }>(sql`
    INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at, refunded_at)
    VALUES (${orderId}, ${paymentIntent}, ${sessionId}, ${amount}, ${currency}, ${simulated}, ${at}, ${refundedAt})
    ON CONFLICT (order_id, session_id) DO NOTHING RETURNING id`);
  const [row] = recorded;
  if (row) {
    await writeStateMacs(tx, paymentState, sql`id = ${row.id}`);
    if (!isPlaceholder) await issueReceipt(tx, row.id, at);
    if (!isPlaceholder && refundedAt) await creditRest(tx, row.id, at);
  } else
    await tx.query(
      sql`SELECT ${verifiedPayments} FROM payments WHERE order_id = ${orderId} AND session_id = ${sessionId}`,
    );
  return row?.id ?? null;
}

/**
 * Marks the payment as refunded, and issues the credit note for what is left of it.
 * @returns the credited cents; null when the payment is not on record, or was already refunded
 * @throws ServiceError `unavailable` when the MAC of the payment is invalid
 */
export async function markRefunded(tx: Tx, orderId: number, paymentIntent: string, at: Date): Promise<number | null> {
  const held = await tx.query<{ id: number; refundedAt: Date | null }>(sql`
    SELECT id, refunded_at AS "refundedAt", ${verifiedPayments} FROM payments
    WHERE order_id = ${orderId} AND payment_intent = ${paymentIntent} FOR NO KEY UPDATE`);
  const ids = held.filter(({ refundedAt }) => refundedAt === null).map(({ id }) => id);
  let credited = 0;
  for (const id of ids) {
    await tx.query(sql`UPDATE payments SET refunded_at = ${at} WHERE id = ${id}`);
    await writeStateMacs(tx, paymentState, sql`id = ${id}`);
    credited += await creditRest(tx, id, at);
  }
  return ids.length > 0 ? credited : null;
}

export type PartRefund = {
  paymentIntent: string;
  /** Our id of the payment; null if the refund's metadata doesn't name it. */
  share: string | null;
  /** The name of the refund: the id of its request, or the processor's id. */
  refund: string;
  amountCents: number;
};

/**
 * Issues the credit note for a partial refund, if the payment has a receipt.
 * @returns the credited cents
 * @throws ServiceError `unavailable` when the MAC of the payment is invalid
 */
export async function recordPart(
  tx: Tx,
  orderId: number,
  { paymentIntent, share, refund, amountCents }: PartRefund,
  at: Date,
): Promise<number> {
  const [payment] = await tx.query<{ id: number }>(sql`
    SELECT id, ${verifiedPayments} FROM payments
    WHERE order_id = ${orderId} AND payment_intent = ${paymentIntent}
      AND (${share}::text IS NULL OR id::text = ${share})
      AND EXISTS (SELECT FROM billing_documents d WHERE d.payment_id = payments.id AND d.kind = 'receipt')
    ORDER BY id LIMIT 1 FOR NO KEY UPDATE`);
  return payment ? creditPart(tx, payment.id, { refund, partCents: amountCents }, at) : 0;
}

export type HeldPayment = {
  id: number;
  paymentIntent: string | null;
  simulated: boolean;
  /** The amount, in the smallest unit of the currency. */
  amountCents: number;
  currency: string;
  /** True if the payment is one order's share of a payment for several orders. */
  isShared: boolean;
  /** The cents of the payment that the bank took back permanently. */
  lostCents: number;
  /** The cents of the payment that were refunded at the processor without a request here, or outside the processor. */
  byHandCents: number;
  /** The refunded cents of the payment: the sum of its credit notes, without those that a failed refund reversed. */
  creditedCents: number;
};

/**
 * True if nothing of the payment is left to refund: partial refunds returned it, the bank took it back, or the order
 * cost nothing. The stored amount is also 0 if the event of an order's own payment at the processor named no amount.
 * The service may hold money of such a payment, so the result is false.
 */
export const isLost = ({ amountCents, lostCents, creditedCents, ...payment }: HeldPayment): boolean =>
  amountCents === 0
    ? payment.paymentIntent === null || payment.simulated || payment.isShared
    : lostCents + creditedCents >= amountCents;

/**
 * The payments of the order that are not marked as refunded. Parts of them may have been refunded or lost.
 * @throws ServiceError `unavailable` when the MAC of any payment of the order is invalid. This includes payments marked
 * as refunded, because the mark may be forged.
 */
export async function heldPayments(db: Sql, orderId: number): Promise<HeldPayment[]> {
  const own = sql`FROM billing_documents d WHERE d.payment_id = payments.id`;
  const byHand = sql`FROM refunds r WHERE r.payment_intent = payments.payment_intent AND r.request IS NULL`;
  const payments = await db.query<HeldPayment & { refundedAt: Date | null }>(sql`
    SELECT id, payment_intent AS "paymentIntent", simulated, amount_cents::float8 AS "amountCents", currency,
      refunded_at AS "refundedAt", ${verifiedPayments},
      EXISTS (SELECT FROM payments q WHERE q.payment_intent = payments.payment_intent
        AND q.order_id <> payments.order_id) AS "isShared",
      ${lostCentsOf(sql`payments.id`)} AS "lostCents",
      (SELECT coalesce(sum(d.part_cents), 0) ${own} AND d.kind = 'credit_note'
        AND (${isPaidOutside(sql`d`)} OR EXISTS (SELECT ${byHand} AND r.id = d.refund AND r.state = 'succeeded')))::float8 AS "byHandCents",
      ${creditedCentsOf(sql`payments.id`)} AS "creditedCents",
      ${verifiedAll(billingDocumentState, sql`d`, own)}, ${verifiedAll(refundState, sql`r`, byHand)}
    FROM payments WHERE order_id = ${orderId} ORDER BY id`);
  return payments.filter(({ refundedAt }) => refundedAt === null).map(({ refundedAt: _, ...payment }) => payment);
}

/** True if the payment is marked as refunded as a whole. @throws ServiceError `unavailable` when the MAC of the payment is invalid */
export async function wasRefunded(tx: Tx, orderId: number, paymentIntent: string): Promise<boolean> {
  const found = await tx.query<{ isRefunded: boolean }>(sql`
    SELECT refunded_at IS NOT NULL AS "isRefunded", ${verifiedPayments} FROM payments
    WHERE order_id = ${orderId} AND payment_intent = ${paymentIntent}`);
  return found.some(({ isRefunded }) => isRefunded);
}

export type PayeeOfIntent = { orderId: number; orderCode: string };

/**
 * The orders for which the payment is stored. Leaves out rows whose MAC is invalid. If every row's MAC is invalid,
 * returns the order of the first row, and later reads refuse that row.
 */
export async function payeesOfIntent(db: Sql, paymentIntent: string): Promise<PayeeOfIntent[]> {
  const found = await db.query<PayeeOfIntent & Marked>(sql`
    SELECT o.id AS "orderId", o.code AS "orderCode@order", ${marked(paymentState, sql`p`)}
    FROM payments p ${joinOrder(sql`p.order_id`)} WHERE p.payment_intent = ${paymentIntent} ORDER BY p.id`);
  const authentic = found.filter(({ isAuthentic }) => isAuthentic);
  const payees = authentic.length > 0 ? authentic : found.slice(0, 1);
  const byOrder = payees.map(({ orderId, orderCode }) => [orderId, { orderId, orderCode }] as const);
  return [...new Map(byOrder).values()];
}

/**
 * The queue of payments that are checked for refunds made at the processor without a request here; payload
 * `{paymentIntent}`.
 */
export const refundCheckQueue = "refund-check";

/**
 * True if all stored payments of the intent were refunded, or will be because their orders are in RefundPending. If
 * several orders share the payment, RefundPending does not suffice: the refunds may wait until people have assigned
 * another refund to its orders.
 */
export async function isFullyRefunded(db: Sql, paymentIntent: string): Promise<boolean> {
  const held = await db.query(sql`
    SELECT FROM payments p ${joinOrder(sql`p.order_id`)}
    WHERE p.payment_intent = ${paymentIntent} AND p.refunded_at IS NULL AND (o.status <> 'RefundPending'
      OR EXISTS (SELECT FROM payments q WHERE q.payment_intent = p.payment_intent AND q.order_id <> p.order_id))`);
  return held.length === 0;
}

/**
 * The order that a payment is for, by our id of the payment.
 * @throws ServiceError `unavailable` when the MAC of the payment is invalid
 */
export async function payeeOf(db: Sql, id: string, paymentIntent: string): Promise<PayeeOfIntent | undefined> {
  const [found] = await db.query<PayeeOfIntent>(sql`
    SELECT o.id AS "orderId", o.code AS "orderCode@order", ${verified(paymentState, sql`p`)}
    FROM payments p ${joinOrder(sql`p.order_id`)}
    WHERE p.id::text = ${id} AND p.payment_intent = ${paymentIntent}`);
  return found;
}

/** Ids of the events whose money moved no order. @throws ServiceError `unavailable` when an event's MAC is invalid */
export async function unappliedEvents(tx: Tx, orderId: number, paymentIntent: string): Promise<string[]> {
  const found = await tx.query<{ id: string }>(sql`
    SELECT e.event_id AS id, ${verifiedEvents} FROM processor_events e
    JOIN payments p ON p.order_id = e.order_id AND p.received_at = e.received_at
    WHERE e.order_id = ${orderId} AND e.outcome = 'unapplied' AND p.payment_intent = ${paymentIntent}`);
  return found.map(({ id }) => id);
}
