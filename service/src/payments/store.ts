import type { Sql, Tx } from "../platform/database.ts";

/** Records an event once. @returns false when it was recorded before; waits for a twin that is in progress */
export async function recordEvent(tx: Tx, id: string, type: string, at: Date): Promise<boolean> {
  const recorded = await tx.rows(
    `INSERT INTO processor_events (event_id, type, outcome, received_at) VALUES ($1, $2, 'taken', $3)
     ON CONFLICT (event_id) DO NOTHING RETURNING 1`,
    [id, type, at],
  );
  return recorded.length === 1;
}

export const recordOutcome = (tx: Tx, id: string, orderId: number | null, outcome: string) =>
  tx.rows("UPDATE processor_events SET order_id = $2, outcome = $3 WHERE event_id = $1", [id, orderId, outcome]);

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
  const recorded = await tx.rows(
    `INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at, refunded_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (order_id, session_id) DO NOTHING RETURNING 1`,
    [orderId, paymentIntent, sessionId, amount, currency, simulated, at, refundedAt],
  );
  return recorded.length === 1;
}

/** @returns true when that payment was on record, and was not refunded before */
export async function markRefunded(tx: Tx, orderId: number, paymentIntent: string, at: Date): Promise<boolean> {
  const marked = await tx.rows(
    "UPDATE payments SET refunded_at = $3 WHERE order_id = $1 AND payment_intent = $2 AND refunded_at IS NULL RETURNING 1",
    [orderId, paymentIntent, at],
  );
  return marked.length > 0;
}

export type HeldPayment = { id: number; paymentIntent: string | null; simulated: boolean };

/** Money that is held for the order. */
export const heldPayments = (sql: Sql, orderId: number) =>
  sql.rows<HeldPayment>(
    `SELECT id, payment_intent AS "paymentIntent", simulated FROM payments WHERE order_id = $1 AND refunded_at IS NULL ORDER BY id`,
    [orderId],
  );

export async function wasRefunded(tx: Tx, orderId: number, paymentIntent: string): Promise<boolean> {
  const found = await tx.rows(
    "SELECT FROM payments WHERE order_id = $1 AND payment_intent = $2 AND refunded_at IS NOT NULL LIMIT 1",
    [orderId, paymentIntent],
  );
  return found.length > 0;
}

export async function orderCodeOfIntent(sql: Sql, paymentIntent: string): Promise<string | null> {
  const [found] = await sql.rows<{ code: string }>(
    "SELECT o.code FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.payment_intent = $1 LIMIT 1",
    [paymentIntent],
  );
  return found?.code ?? null;
}

/** Money that moved no order is told on the audit log. */
export const auditUnapplied = (tx: Tx, order: { id: number; partnerId: string }, at: Date, detail: object) =>
  tx.rows(
    `INSERT INTO audit_log (occurred_at, action, actor, partner_id, order_id, detail)
     VALUES ($1, 'payment.unapplied', 'processor', $2, $3, $4::jsonb)`,
    [at, order.partnerId, order.id, JSON.stringify(detail)],
  );
