import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";

export type CheckoutSession = {
  id: string;
  status: "minting" | "open";
  amountCents: number;
  currency: string;
  sessionId: string | null;
  url: string | null;
  expiresAt: Date;
};

/** The session by which the order can be paid now; the caller has locked the order. */
export async function currentSession(tx: Tx, orderId: number): Promise<CheckoutSession | undefined> {
  const [session] = await tx.query<CheckoutSession>(sql`
    SELECT id, status, amount_cents AS "amountCents", currency, session_id AS "sessionId", url, expires_at AS "expiresAt"
    FROM checkout_sessions WHERE order_id = ${orderId} AND status IN ('minting', 'open')`);
  return session;
}

export const insertMinting = (tx: Tx, orderId: number, session: CheckoutSession, at: Date) =>
  tx.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    VALUES (${session.id}, ${orderId}, 'minting', ${session.amountCents}, ${session.currency}, ${at}, ${session.expiresAt})`);

/** Concurrent requests mint the same session, so the second one changes nothing. */
export const recordMinted = (db: Sql, id: string, sessionId: string, url: string) =>
  db.query(sql`
    UPDATE checkout_sessions SET status = 'open', session_id = ${sessionId}, url = ${url}
    WHERE id = ${id} AND status = 'minting'`);

export const failMinting = (db: Sql, id: string) =>
  db.query(sql`UPDATE checkout_sessions SET status = 'failed' WHERE id = ${id} AND status = 'minting'`);

export type SessionEnd = "complete" | "expired" | "failed";

export const endSession = (db: Sql, id: string, status: SessionEnd) =>
  db.query(sql`UPDATE checkout_sessions SET status = ${status} WHERE id = ${id} AND status IN ('minting', 'open')`);

/** Records how the processor ended its session. A recorded failure stays, because later events are older news. */
export const endProcessorSession = (db: Sql, sessionId: string, status: SessionEnd) =>
  db.query(sql`UPDATE checkout_sessions SET status = ${status} WHERE session_id = ${sessionId} AND status <> 'failed'`);

/** The order that a session was minted for, and the session's status. */
export async function sessionOrder(db: Sql, sessionId: string) {
  const [found] = await db.query<{ code: string; status: string }>(sql`
    SELECT o.code AS "code@order", s.status FROM checkout_sessions s JOIN orders o ON o.id = s.order_id
    WHERE s.session_id = ${sessionId}`);
  return found;
}

/** The order's sessions that can still be paid. */
export const openSessions = (db: Sql, orderId: number) =>
  db.query<{ id: string; sessionId: string | null }>(sql`
    SELECT id, session_id AS "sessionId" FROM checkout_sessions
    WHERE order_id = ${orderId} AND status IN ('minting', 'open')`);
