import { auditLine } from "../audit/audit.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

/** Records an event once. @returns false when it was recorded before; waits for a duplicate that is in progress */
export async function recordEvent(tx: Tx, id: string, type: string, at: Date): Promise<boolean> {
  const recorded = await tx.query(sql`
    INSERT INTO processor_events (event_id, type, outcome, received_at) VALUES (${id}, ${type}, 'taken', ${at})
    ON CONFLICT (event_id) DO NOTHING RETURNING 1`);
  return recorded.length === 1;
}

export const recordOutcome = (tx: Tx, id: string, orderId: number | null, outcome: string) =>
  tx.query(sql`UPDATE processor_events SET order_id = ${orderId}, outcome = ${outcome} WHERE event_id = ${id}`);

export type NewPayment = {
  orderId: number;
  paymentIntent: string | null;
  sessionId: string;
  amount: number;
  currency: string;
  simulated: boolean;
  at: Date;
  refundedAt?: Date;
};

/** @returns false when the session's money was recorded before */
export async function recordPayment(tx: Tx, payment: NewPayment): Promise<boolean> {
  const { orderId, paymentIntent, sessionId, amount, currency, simulated, at, refundedAt = null } = payment;
  const recorded = await tx.query(sql`
    INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at, refunded_at)
    VALUES (${orderId}, ${paymentIntent}, ${sessionId}, ${amount}, ${currency}, ${simulated}, ${at}, ${refundedAt})
    ON CONFLICT (order_id, session_id) DO NOTHING RETURNING 1`);
  return recorded.length === 1;
}

/** @returns true when that payment was on record, and was not refunded before */
export async function markRefunded(tx: Tx, orderId: number, paymentIntent: string, at: Date): Promise<boolean> {
  const marked = await tx.query(sql`
    UPDATE payments SET refunded_at = ${at}
    WHERE order_id = ${orderId} AND payment_intent = ${paymentIntent} AND refunded_at IS NULL RETURNING 1`);
  return marked.length > 0;
}

export type HeldPayment = {
  id: number;
  paymentIntent: string | null;
  simulated: boolean;
  /** In the smallest unit of the currency. */
  amountCents: number;
  currency: string;
};

/** Money that is held for the order. */
export const heldPayments = (db: Sql, orderId: number) =>
  db.query<HeldPayment>(sql`
    SELECT id, payment_intent AS "paymentIntent", simulated, amount_cents::float8 AS "amountCents", currency FROM payments
    WHERE order_id = ${orderId} AND refunded_at IS NULL ORDER BY id`);

export type PaymentRow = {
  amountCents: number;
  currency: string;
  paymentIntent: string | null;
  simulated: boolean;
  receivedAt: Date;
  refundedAt: Date | null;
};

/** All money that came in for the order, the first first. */
export const paymentsOf = (db: Sql, orderId: number) =>
  db.query<PaymentRow>(sql`
    SELECT amount_cents::float8 AS "amountCents", currency, payment_intent AS "paymentIntent", simulated,
      received_at AS "receivedAt", refunded_at AS "refundedAt"
    FROM payments WHERE order_id = ${orderId} ORDER BY id`);

export async function wasRefunded(tx: Tx, orderId: number, paymentIntent: string): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT FROM payments
    WHERE order_id = ${orderId} AND payment_intent = ${paymentIntent} AND refunded_at IS NOT NULL LIMIT 1`);
  return found.length > 0;
}

export async function orderCodeOfIntent(db: Sql, paymentIntent: string): Promise<string | null> {
  const [found] = await db.query<{ code: string }>(sql`
    SELECT o.code FROM payments p JOIN orders o ON o.id = p.order_id
    WHERE p.payment_intent = ${paymentIntent} LIMIT 1`);
  return found?.code ?? null;
}

/** The ids of the events by which money came that moved no order. */
export async function unappliedEvents(tx: Tx, orderId: number, paymentIntent: string): Promise<string[]> {
  const found = await tx.query<{ id: string }>(sql`
    SELECT e.event_id AS id FROM processor_events e
    JOIN payments p ON p.order_id = e.order_id AND p.received_at = e.received_at
    WHERE e.order_id = ${orderId} AND e.outcome = 'unapplied' AND p.payment_intent = ${paymentIntent}`);
  return found.map(({ id }) => id);
}

/** Money that moved no order is on the audit log. */
export const auditUnapplied = (tx: Tx, order: { id: number; partnerId: string }, at: Date, detail: object) =>
  tx.query(
    auditLine({
      at,
      action: "payment.unapplied",
      actor: "processor",
      partnerId: order.partnerId,
      orderId: order.id,
      detail,
    }),
  );
