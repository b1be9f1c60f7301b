import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../kernel/platform/database/sql.ts";

/**
 * `replacing`: the processor is asked to end it, so that another can be minted. The row changes only after the answer:
 * a crash in between leaves no session that can be paid out of sight.
 */
export type CheckoutSession = {
  id: string;
  status: "minting" | "open" | "replacing";
  amountCents: number;
  currency: string;
  /** Null until the answer of the processor is recorded. */
  sessionId: string | null;
  url: string | null;
  expiresAt: Date;
};

const current = sql`status IN ('minting', 'open', 'replacing')`;

/** The sessions by which the order may be paid, at most one; the caller has locked the order. */
export const currentSessions = (db: Sql, orderId: number) =>
  db.query<CheckoutSession>(sql`
    SELECT id, status, amount_cents AS "amountCents", currency, session_id AS "sessionId", url, expires_at AS "expiresAt"
    FROM checkout_sessions WHERE order_id = ${orderId} AND ${current}`);

/** Whether a payer has finished a checkout of the order by a method whose money has neither come nor failed. */
export async function hasPendingFunds(tx: Sql, orderId: number): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT FROM checkout_sessions WHERE order_id = ${orderId} AND status = 'pending_funds' LIMIT 1`);
  return found.length === 1;
}

/** The same for pages, which know the order's code. */
export async function isPaymentInProcess(db: Sql, orderCode: string): Promise<boolean> {
  const found = await db.query(sql`
    SELECT FROM checkout_sessions s JOIN orders o ON o.id = s.order_id
    WHERE ${isSealed(sql`o.code`, "order", orderCode)} AND s.status = 'pending_funds' LIMIT 1`);
  return found.length === 1;
}

export const insertMinting = (tx: Tx, orderId: number, session: CheckoutSession, at: Date) =>
  tx.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    VALUES (${session.id}, ${orderId}, 'minting', ${session.amountCents}, ${session.currency}, ${at}, ${session.expiresAt})`);

/**
 * Records the minted session. Concurrent requests mint the same one, so the second one changes nothing.
 * @returns false when the row was ended or is being replaced: nobody may get the session's address
 */
export async function recordMinted(db: Sql, id: string, sessionId: string, url: string): Promise<boolean> {
  const recorded = await db.query(sql`
    UPDATE checkout_sessions SET status = 'open', session_id = ${sessionId}, url = ${url}
    WHERE id = ${id} AND status = 'minting' RETURNING 1`);
  if (recorded.length === 1) return true;
  const open = await db.query(sql`SELECT FROM checkout_sessions WHERE id = ${id} AND status = 'open'`);
  return open.length === 1;
}

export const failMinting = (db: Sql, id: string) =>
  db.query(sql`UPDATE checkout_sessions SET status = 'failed' WHERE id = ${id} AND status = 'minting'`);

export const markReplacing = (tx: Tx, id: string) =>
  tx.query(sql`UPDATE checkout_sessions SET status = 'replacing' WHERE id = ${id} AND ${current}`);

/** Call it only after the processor said that the session cannot be paid. */
export const endSession = (db: Sql, id: string) =>
  db.query(sql`UPDATE checkout_sessions SET status = 'expired' WHERE id = ${id} AND ${current}`);

export type SessionEnd = "pending_funds" | "complete" | "expired" | "failed";

/** The statuses that an event may change. Events come late and in any order: a failure stays, and money stays. */
const before = {
  pending_funds: sql`status IN ('minting', 'open', 'replacing', 'expired')`,
  complete: sql`status <> 'failed'`,
  expired: current,
  failed: sql`true`,
} as const satisfies Record<SessionEnd, unknown>;

/** Records how the processor ended its session. @returns false when that is not news */
export async function endProcessorSession(db: Sql, sessionId: string, status: SessionEnd): Promise<boolean> {
  const ended = await db.query(sql`
    UPDATE checkout_sessions SET status = ${status} WHERE session_id = ${sessionId} AND ${before[status]} RETURNING 1`);
  return ended.length === 1;
}

/** Gives a session its id when the answer to its minting was lost. */
export const bindSession = (tx: Tx, id: string, sessionId: string) =>
  tx.query(sql`UPDATE checkout_sessions SET session_id = ${sessionId} WHERE id = ${id} AND session_id IS NULL`);

/** The order that a session was minted for, and the session's status. */
export async function sessionOrder(db: Sql, sessionId: string) {
  const [found] = await db.query<{ code: string; status: string }>(sql`
    SELECT o.code AS "code@order", s.status FROM checkout_sessions s JOIN orders o ON o.id = s.order_id
    WHERE s.session_id = ${sessionId}`);
  return found;
}
