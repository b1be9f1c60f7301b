import type { Sql, Tx } from "../../platform/database.ts";

export type CheckoutSession = {
  id: string;
  status: "minting" | "open";
  amountCents: number;
  currency: string;
  sessionId: string | null;
  url: string | null;
  expiresAt: Date;
};

const columns = `id, status, amount_cents AS "amountCents", currency, session_id AS "sessionId", url, expires_at AS "expiresAt"`;

/** The session that the order's payer may pay by, if there is one; the order's row is locked. */
export async function currentSession(tx: Tx, orderId: number): Promise<CheckoutSession | undefined> {
  const [session] = await tx.rows<CheckoutSession>(
    `SELECT ${columns} FROM checkout_sessions WHERE order_id = $1 AND status IN ('minting', 'open')`,
    [orderId],
  );
  return session;
}

export async function insertMinting(tx: Tx, orderId: number, session: CheckoutSession, at: Date): Promise<void> {
  await tx.rows(
    `INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
     VALUES ($1, $2, 'minting', $3, $4, $5, $6)`,
    [session.id, orderId, session.amountCents, session.currency, at, session.expiresAt],
  );
}

/** Twins mint the same session: the second finds it recorded. */
export const recordMinted = (sql: Sql, id: string, sessionId: string, url: string) =>
  sql.rows(
    `UPDATE checkout_sessions SET status = 'open', session_id = $2, url = $3 WHERE id = $1 AND status = 'minting'`,
    [id, sessionId, url],
  );

export const failMinting = (sql: Sql, id: string) =>
  sql.rows("UPDATE checkout_sessions SET status = 'failed' WHERE id = $1 AND status = 'minting'", [id]);

export type SessionEnd = "complete" | "expired" | "failed";

export const endSession = (sql: Sql, id: string, status: SessionEnd) =>
  sql.rows("UPDATE checkout_sessions SET status = $2 WHERE id = $1 AND status IN ('minting', 'open')", [id, status]);

/** Records what the processor says of its session. A failure stays: what comes late says nothing new. */
export const endProcessorSession = (sql: Sql, sessionId: string, status: SessionEnd) =>
  sql.rows("UPDATE checkout_sessions SET status = $2 WHERE session_id = $1 AND status <> 'failed'", [
    sessionId,
    status,
  ]);

/** Which order a session of the processor was minted for, and how it stands. */
export async function sessionOrder(sql: Sql, sessionId: string) {
  const [found] = await sql.rows<{ code: string; status: string }>(
    `SELECT o.code, s.status FROM checkout_sessions s JOIN orders o ON o.id = s.order_id WHERE s.session_id = $1`,
    [sessionId],
  );
  return found;
}

/** Sessions of an order by which one might still pay. */
export const openSessions = (sql: Sql, orderId: number) =>
  sql.rows<{ id: string; sessionId: string | null }>(
    `SELECT id, session_id AS "sessionId" FROM checkout_sessions WHERE order_id = $1 AND status IN ('minting', 'open')`,
    [orderId],
  );
