import type { Environment } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Held } from "./rules.ts";

export type RefundState = "requested" | "approved" | "refused" | "withdrawn" | "closed";

export type RefundRequest = {
  id: string;
  orderId: number;
  orderCode: string;
  orderStatus: string;
  firmName: string;
  environment: Environment;
  reason: string;
  /** What was held when it was asked for: what goes back. */
  payments: readonly Held[];
  requestedBy: string;
  requestedByName: string;
  requestedAt: Date;
  state: RefundState;
  /** Null while it is open, and where nobody decided. */
  decidedByName: string | null;
  decidedAt: Date | null;
  solo: boolean;
  note: string | null;
};

const requests = sql`
  SELECT r.id, r.order_id AS "orderId", o.code AS "orderCode", o.status AS "orderStatus", p.name AS "firmName",
    o.environment, r.reason, r.payments, r.requested_by AS "requestedBy",
    a.name AS "requestedByName", r.requested_at AS "requestedAt", r.state, d.name AS "decidedByName",
    r.decided_at AS "decidedAt", r.solo, r.note
  FROM refund_requests r JOIN orders o ON o.id = r.order_id JOIN partners p ON p.id = o.partner_id
    JOIN operators a ON a.user_id = r.requested_by LEFT JOIN operators d ON d.user_id = r.decided_by`;

export async function selectRequest(db: Sql, id: string, environment: Environment): Promise<RefundRequest | undefined> {
  const [found] = await db.query<RefundRequest>(sql`${requests} WHERE r.id = ${id} AND o.environment = ${environment}`);
  return found;
}

/** Those that wait, the oldest first. */
export const selectOpen = (db: Sql, environment: Environment) =>
  db.query<RefundRequest>(sql`${requests}
    WHERE r.state = 'requested' AND o.environment = ${environment} ORDER BY r.requested_at, r.id LIMIT 200`);

/** Those that ended, the latest first. */
export const selectEnded = (db: Sql, environment: Environment) =>
  db.query<RefundRequest>(sql`${requests}
    WHERE r.state <> 'requested' AND o.environment = ${environment} ORDER BY r.decided_at DESC, r.id LIMIT 50`);

export async function selectOpenOfOrder(db: Sql, orderId: number): Promise<string | undefined> {
  const [found] = await db.query<{ id: string }>(
    sql`SELECT id FROM refund_requests WHERE order_id = ${orderId} AND state = 'requested'`,
  );
  return found?.id;
}

export type NewRequest = {
  id: string;
  orderId: number;
  reason: string;
  /** What was held when it was asked for: what goes back. */
  payments: readonly Held[];
  requestedBy: string;
  at: Date;
};

/** @returns false when the order has an open request */
export async function insertRequest(
  tx: Tx,
  { id, orderId, reason, payments, requestedBy, at }: NewRequest,
): Promise<boolean> {
  const cents = payments.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const inserted = await tx.query(sql`
    INSERT INTO refund_requests (id, order_id, reason, amount_cents, payments, requested_by, requested_at)
    VALUES (${id}, ${orderId}, ${reason}, ${cents}, ${JSON.stringify(payments)}::jsonb, ${requestedBy}, ${at})
    ON CONFLICT (order_id) WHERE state = 'requested' DO NOTHING RETURNING 1`);
  return inserted.length === 1;
}

export type Decision = {
  state: Exclude<RefundState, "requested">;
  by: string | null;
  at: Date;
  solo?: boolean;
  note: string | null;
};

export const updateDecision = (tx: Tx, id: string, { state, by, at, solo = false, note }: Decision) =>
  tx.query(sql`
    UPDATE refund_requests SET state = ${state}, decided_by = ${by}, decided_at = ${at}, solo = ${solo}, note = ${note}
    WHERE id = ${id}`);
