import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";

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

/** The order that a session's money pays, and the address that payers are sent to. */
const sessionState: StateMac = {
  table: sql`checkout_sessions`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.order_id, ${s}.status, ${s}.amount_cents, ${s}.currency, ${s}.session_id, ${s}.url,
    extract(epoch FROM ${s}.created_at), extract(epoch FROM ${s}.expires_at), ${s}.state_version`,
};

export const sessionRows = stateRows(sessionState, { backfill: { set: "desk and checkout" } });

const verifiedSession: Statement = verified(sessionState, sql`s`);

const current = sql`status IN ('minting', 'open', 'replacing')`;

/**
 * The sessions by which the order may be paid, at most one; the caller has locked the order.
 * @throws ServiceError `unavailable` for a session that fails its MAC
 */
export const currentSessions = (db: Sql, orderId: number) =>
  db.query<CheckoutSession>(sql`
    SELECT id, status, amount_cents AS "amountCents", currency, session_id AS "sessionId", url, expires_at AS "expiresAt",
      ${verifiedSession}
    FROM checkout_sessions s WHERE order_id = ${orderId} AND ${current}`);

/**
 * Whether a payer has finished a checkout of the order by a method whose money has neither come nor failed.
 * @throws ServiceError `unavailable` for a session of the order that fails its MAC
 */
export async function hasPendingFunds(tx: Sql, orderId: number): Promise<boolean> {
  const found = await tx.query<{ status: string }>(sql`
    SELECT status, ${verifiedSession} FROM checkout_sessions s WHERE order_id = ${orderId}`);
  return found.some(({ status }) => status === "pending_funds");
}

/** The same for pages, which know the order's code. */
export async function isPaymentInProcess(db: Sql, orderCode: string): Promise<boolean> {
  const found = await db.query<{ status: string }>(sql`
    SELECT s.status, ${verifiedSession} FROM checkout_sessions s JOIN orders o ON o.id = s.order_id
    WHERE ${isSealed(sql`o.code`, "order", orderCode)}`);
  return found.some(({ status }) => status === "pending_funds");
}

export async function insertMinting(tx: Tx, orderId: number, session: CheckoutSession, at: Date): Promise<void> {
  await tx.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    VALUES (${session.id}, ${orderId}, 'minting', ${session.amountCents}, ${session.currency}, ${at}, ${session.expiresAt})`);
  await writeStateMacs(tx, sessionState, sql`id = ${session.id}`);
}

/** @returns how many changed @throws ServiceError `unavailable` for a session that fails its MAC */
async function change(tx: Tx, which: Statement, set: Statement): Promise<number> {
  const found = await tx.query<{ id: string }>(sql`
    SELECT id, ${verifiedSession} FROM checkout_sessions s WHERE ${which} FOR UPDATE`);
  for (const { id } of found) {
    await tx.query(sql`UPDATE checkout_sessions SET ${set} WHERE id = ${id}`);
    await writeStateMacs(tx, sessionState, sql`id = ${id}`);
  }
  return found.length;
}

/**
 * Records the minted session. Concurrent requests mint the same one, so the second one changes nothing.
 * @returns false when the row was ended or is being replaced: nobody may get the session's address
 */
export const recordMinted = (db: Database, id: string, sessionId: string, url: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    const set = sql`status = 'open', session_id = ${sessionId}, url = ${url}`;
    if ((await change(tx, sql`id = ${id} AND status = 'minting'`, set)) === 1) return true;
    const open = await tx.query(sql`
      SELECT ${verifiedSession} FROM checkout_sessions s WHERE id = ${id} AND status = 'open'`);
    return open.length === 1;
  });

export const failMinting = (db: Database, id: string) =>
  db.transaction((tx) => change(tx, sql`id = ${id} AND status = 'minting'`, sql`status = 'failed'`));

export const markReplacing = (tx: Tx, id: string) =>
  change(tx, sql`id = ${id} AND ${current}`, sql`status = 'replacing'`);

/** Call it only after the processor said that the session cannot be paid. */
export const endSession = (tx: Tx, id: string) => change(tx, sql`id = ${id} AND ${current}`, sql`status = 'expired'`);

export type SessionEnd = "pending_funds" | "complete" | "expired" | "failed";

/** The statuses that an event may change. Events come late and in any order: a failure stays, and money stays. */
const before = {
  pending_funds: sql`status IN ('minting', 'open', 'replacing', 'expired')`,
  complete: sql`status <> 'failed'`,
  expired: current,
  failed: sql`true`,
} as const satisfies Record<SessionEnd, unknown>;

/** Records how the processor ended its session. @returns false when that is not news */
export const endProcessorSession = async (tx: Tx, sessionId: string, status: SessionEnd): Promise<boolean> =>
  (await change(tx, sql`session_id = ${sessionId} AND ${before[status]}`, sql`status = ${status}`)) === 1;

/** Gives a session its id when the answer to its minting was lost. */
export const bindSession = (tx: Tx, id: string, sessionId: string) =>
  change(tx, sql`id = ${id} AND session_id IS NULL`, sql`session_id = ${sessionId}`);

/**
 * The order that a session was minted for, and the session's status.
 * @throws ServiceError `unavailable` for a session that fails its MAC: its money must not pay another order
 */
export async function sessionOrder(db: Sql, sessionId: string) {
  const [found] = await db.query<{ code: string; status: string }>(sql`
    SELECT o.code AS "code@order", s.status, ${verifiedSession} FROM checkout_sessions s JOIN orders o ON o.id = s.order_id
    WHERE s.session_id = ${sessionId}`);
  return found;
}
