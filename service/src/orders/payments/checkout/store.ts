import { readShownFirm } from "../../../firms/partners/partners.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { fromOrders, joinOrder, leftJoinOrder, orderIdOf, ordersTable } from "../../order/order.ts";
import type { CheckoutRequest } from "../processor/checkout-sessions.ts";
import { chargesOfCode, isOpen, isOpenCharge } from "../records/charges.ts";
import { coveredAmount } from "../records/supplements.ts";

/**
 * A checkout session that may still be paid. Status `replacing`: this service is ending the session at the processor.
 * The row is ended only after the processor's answer. So a crash before that answer never loses a session that can
 * still be paid.
 */
export type CheckoutSession = {
  id: string;
  /** The group whose orders the session pays together; null for a session of a single order. */
  groupId: string | null;
  /**
   * The supplement that a checkout of a single order pays; null when it pays the order's total. For a group it is null,
   * and each part names its own supplement.
   */
  supplementId: number | null;
  status: "minting" | "open" | "replacing";
  amountCents: number;
  currency: string;
  /** The processor's id of the session; null until the processor's answer is recorded. */
  sessionId: string | null;
  url: string | null;
  /** The time when the session was requested. It shows which of the processor's accounts has the session. */
  createdAt: Date;
  expiresAt: Date;
};

/** An order in a checkout, and the amount paid for it: its total, or a supplement. */
export type Part = { orderId: number; orderCode: string; amountCents: number; supplementId: number | null };

const partState: StateMac = {
  table: sql`checkout_parts`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (c) => sql`${c}.id, ${c}.checkout_id, ${c}.order_id, ${c}.position, ${coveredAmount(c)}`,
};

/**
 * The MAC covers which order or group a session pays, and the URL that payers are sent to. A group's orders are under
 * the MACs of the parts.
 */
export const sessionState: StateMac = {
  table: sql`checkout_sessions`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    s,
  ) => sql`${s}.id, coalesce(to_jsonb(${s}.order_id), to_jsonb(${s}.group_id)), ${s}.status, ${coveredAmount(s)},
    ${s}.currency, ${s}.session_id, ${s}.url, extract(epoch FROM ${s}.created_at), extract(epoch FROM ${s}.expires_at),
    ${s}.state_version`,
};

export const checkoutRows = [stateRows(sessionState, { backfill: { set: "desk and checkout" } }), stateRows(partState)];

const verifiedSession: Statement = verified(sessionState, sql`s`);

const current = sql`s.status IN ('minting', 'open', 'replacing')`;

/**
 * SQL condition: true if the session pays one of these orders, alone or together with others.
 * @param orderIds an array of ids
 */
export const isOf = (orderIds: Statement) => sql`s.id IN (
  SELECT id FROM checkout_sessions WHERE order_id = ANY (${orderIds})
  UNION ALL SELECT checkout_id FROM checkout_parts WHERE order_id = ANY (${orderIds}))`;

/** SQL expression: the environment of the orders that the session `s` pays. */
export const environmentOfSession: Statement = sql`(SELECT o.environment ${fromOrders} WHERE o.id = coalesce(s.order_id,
  (SELECT min(order_id) FROM checkout_parts c WHERE c.checkout_id = s.id)))`;

/** SQL expression: when the last checkout of an order expires; null for an order without one. */
export const lastCheckoutEnd = (orderId: Statement): Statement =>
  sql`(SELECT max(s.expires_at) FROM checkout_sessions s WHERE ${isOf(sql`ARRAY[${orderId}]`)})`;

const columns = sql`s.id, s.group_id AS "groupId", s.supplement_id AS "supplementId", s.status, s.amount_cents AS "amountCents", s.currency,
  s.session_id AS "sessionId", s.url, s.created_at AS "createdAt", s.expires_at AS "expiresAt"`;

/**
 * The orders' sessions that may still be paid; each order has at most one. The caller must have locked the orders.
 * @throws ServiceError `unavailable` for a session whose MAC is invalid
 */
export const currentSessions = (db: Sql, orderIds: readonly number[]) =>
  db.query<CheckoutSession>(sql`
    SELECT ${columns}, ${verifiedSession} FROM checkout_sessions s WHERE ${isOf(sql`${orderIds}::bigint[]`)} AND ${current}`);

/**
 * True if a payer has completed a checkout of the order, and the bank's money has neither arrived nor failed.
 * @throws ServiceError `unavailable` for a session of the order whose MAC is invalid
 */
export async function hasPendingFunds(db: Sql, orderId: number): Promise<boolean> {
  const found = await db.query<{ status: string }>(sql`
    SELECT s.status, ${verifiedSession} FROM checkout_sessions s WHERE ${isOf(sql`${[orderId]}::bigint[]`)}`);
  return found.some(({ status }) => status === "pending_funds");
}

/**
 * True if a charge of the firm's method is in progress, or a checkout waits for a bank's money. Accepts the order's
 * code, because pages don't have its id.
 */
export async function isPaymentInProcess(db: Sql, orderCode: string): Promise<boolean> {
  if ((await chargesOfCode(db, orderCode)).some(isOpenCharge)) return true;
  const found = await db.query<{ status: string }>(sql`
    SELECT s.status, ${verifiedSession} FROM checkout_sessions s
    WHERE ${isOf(sql`ARRAY${orderIdOf(orderCode)}`)}`);
  return found.some(({ status }) => status === "pending_funds");
}

/**
 * For the SELECT list of a query on orders `o`: true if a payment for the order is in progress. Not verified, so it may
 * only choose words: `isPaymentInProcess` decides.
 */
export const isBeingPaid: Statement = sql`(
  EXISTS (SELECT FROM firm_charges c WHERE c.order_id = o.id AND ${isOpen(sql`c`)})
  OR EXISTS (SELECT FROM checkout_sessions s WHERE ${isOf(sql`ARRAY[o.id]`)} AND s.status = 'pending_funds')) AS "isBeingPaid"`;

/**
 * The parts of a shared checkout, as its page lists them. @throws ServiceError `unavailable` when the MAC of a part is
 * invalid
 */
export const partsOf = (db: Sql, checkoutId: string) =>
  db.query<Part>(sql`
    SELECT c.order_id AS "orderId", o.code AS "orderCode@order", c.amount_cents AS "amountCents",
      c.supplement_id AS "supplementId", ${verified(partState, sql`c`)}
    FROM checkout_parts c ${joinOrder(sql`c.order_id`)} WHERE c.checkout_id = ${checkoutId} ORDER BY c.position`);

type OrderOfSession = {
  orderId: number;
  orderCode: string;
  partnerId: string;
  environment: Environment;
  sessionId: string | null;
  createdAt: Date;
};

/** The orders that a session pays. @throws ServiceError `unavailable` for a session whose MAC is invalid */
export const ordersOf = (db: Sql, id: string) =>
  db.query<OrderOfSession>(sql`
    SELECT o.id AS "orderId", o.code AS "orderCode@order", o.partner_id AS "partnerId", o.environment,
      s.session_id AS "sessionId", s.created_at AS "createdAt", ${verifiedSession}
    FROM checkout_sessions s, ${ordersTable}
    WHERE (o.id = s.order_id OR o.id IN (SELECT order_id FROM checkout_parts WHERE checkout_id = s.id)) AND s.id = ${id} ORDER BY o.id`);

/**
 * Inserts the row of a session before the processor creates it. `parts` holds the single order, or all orders of a
 * group.
 */
export async function insertMinting(
  tx: Tx,
  { id, groupId, supplementId, amountCents, currency, createdAt, expiresAt }: CheckoutSession,
  parts: readonly Part[],
): Promise<void> {
  const orderId = groupId === null ? parts[0]?.orderId : null;
  await tx.query(sql`
    INSERT INTO checkout_sessions (id, order_id, group_id, supplement_id, status, amount_cents, currency, created_at, expires_at)
    VALUES (${id}, ${orderId}, ${groupId}, ${supplementId}, 'minting', ${amountCents}, ${currency}, ${createdAt}, ${expiresAt})`);
  await writeStateMacs(tx, sessionState, sql`id = ${id}`);
  if (groupId === null) return;
  await tx.query(sql`
    INSERT INTO checkout_parts (checkout_id, order_id, position, amount_cents, supplement_id)
    SELECT ${id}::uuid, part.order_id, part.n - 1, part.amount_cents, part.supplement_id
    FROM unnest(${parts.map((part) => part.orderId)}::bigint[], ${parts.map((part) => part.amountCents)}::int[],
      ${parts.map((part) => part.supplementId)}::bigint[]) WITH ORDINALITY AS part (order_id, amount_cents, supplement_id, n)
    ORDER BY part.n`);
  await writeStateMacs(tx, partState, sql`checkout_id = ${id}`);
}

/**
 * Makes the request for a row's session. The request is the same each time unless the firm's name changes, so that a
 * row has only one session.
 */
export async function mintRequest(db: Sql, { id, groupId, ...session }: CheckoutSession): Promise<CheckoutRequest> {
  const lines: readonly Part[] =
    groupId === null
      ? await db.query<Part>(sql`
          SELECT o.id AS "orderId", o.code AS "orderCode@order", s.amount_cents AS "amountCents",
            s.supplement_id AS "supplementId"
          FROM checkout_sessions s ${joinOrder(sql`s.order_id`)} WHERE s.id = ${id}`)
      : await partsOf(db, id);
  const [order] = await db.query<{ partnerId: string; environment: string }>(sql`
    SELECT o.partner_id AS "partnerId", o.environment ${fromOrders} WHERE o.id = ${lines[0]?.orderId}`);
  if (!order) throw new Error("a checkout without an order");
  const { name: firmName } = await readShownFirm(db, order.partnerId);
  const { currency, expiresAt } = session;
  return { id, isShared: groupId !== null, firmName, environment: order.environment, lines, currency, expiresAt };
}

/**
 * Changes the sessions that a condition selects, and renews their MACs.
 * @returns the number of changed sessions
 * @throws ServiceError `unavailable` for a session whose MAC is invalid
 */
async function change(tx: Tx, which: Statement, set: Statement): Promise<number> {
  const found = await tx.query<{ id: string }>(sql`
    SELECT s.id, ${verifiedSession} FROM checkout_sessions s WHERE ${which} FOR NO KEY UPDATE`);
  for (const { id } of found) {
    await tx.query(sql`UPDATE checkout_sessions SET ${set} WHERE id = ${id}`);
    await writeStateMacs(tx, sessionState, sql`id = ${id}`);
  }
  return found.length;
}

/**
 * Records the created session. Concurrent requests create the same session, so a second call changes nothing.
 * @returns false when the row was ended or is being replaced, so that nobody may get the session's URL
 */
export const recordMinted = (db: Database, id: string, sessionId: string, url: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    const set = sql`status = 'open', session_id = ${sessionId}, url = ${url}`;
    if ((await change(tx, sql`s.id = ${id} AND s.status = 'minting'`, set)) === 1) return true;
    const open = await tx.query(sql`
      SELECT ${verifiedSession} FROM checkout_sessions s WHERE s.id = ${id} AND s.status = 'open'`);
    return open.length === 1;
  });

export const failMinting = (db: Database, id: string) =>
  db.transaction((tx) => change(tx, sql`s.id = ${id} AND s.status = 'minting'`, sql`status = 'failed'`));

export const markReplacing = (tx: Tx, id: string) =>
  change(tx, sql`s.id = ${id} AND ${current}`, sql`status = 'replacing'`);

/**
 * Marks the session as expired. Call this only if the session can't be paid any more: the processor confirmed this or
 * refused to create the session; the session expired in another account; or the order has no processor.
 */
export const endSession = (tx: Tx, id: string) => change(tx, sql`s.id = ${id} AND ${current}`, sql`status = 'expired'`);

export type SessionEnd = "pending_funds" | "complete" | "expired" | "failed";

/**
 * For each new status: a condition on the statuses that it may replace. Events arrive late and in any order. So a
 * failure is final, and only a failure replaces `complete`.
 */
const before = {
  pending_funds: sql`s.status IN ('minting', 'open', 'replacing', 'expired')`,
  complete: sql`s.status <> 'failed'`,
  expired: current,
  failed: sql`true`,
} as const satisfies Record<SessionEnd, unknown>;

/**
 * Records how a session ended at the processor.
 * @returns false when no stored session has the id, or its stored status may not be replaced by this one
 */
export const endProcessorSession = async (tx: Tx, sessionId: string, status: SessionEnd): Promise<boolean> =>
  (await change(tx, sql`s.session_id = ${sessionId} AND ${before[status]}`, sql`status = ${status}`)) === 1;

/** Ends the wait for a bank's money. The caller must have locked the session's orders. */
export const endPending = (tx: Tx, id: string) =>
  change(tx, sql`s.id = ${id} AND s.status = 'pending_funds'`, sql`status = 'failed'`);

/** Stores the processor's id of a session, if the answer to its creation was lost. */
export const bindSession = (tx: Tx, id: string, sessionId: string) =>
  change(tx, sql`s.id = ${id} AND s.session_id IS NULL`, sql`session_id = ${sessionId}`);

export type Payee = { orderId: number; orderCode: string; amountCents: number | null; supplementId: number | null };

/**
 * The orders that a session pays, with our id of the session and its status; undefined for a session that is not
 * stored. Looks the session up by our own id first, because the signed event contains that id.
 * @throws ServiceError `unavailable` for a session whose MAC is invalid, because its money must not pay another order
 */
export async function sessionPayees(
  db: Sql,
  { sessionId, checkoutId }: { sessionId: string | null; checkoutId: string | null },
): Promise<{ id: string; status: string; payees: readonly Payee[] } | undefined> {
  type Found = Pick<CheckoutSession, "id" | "amountCents" | "supplementId"> & {
    status: string;
    orderId: number | null;
    code: string | null;
  };
  const [found] = await db.query<Found>(sql`
    SELECT s.id, s.status, s.order_id AS "orderId", o.code AS "code@order", s.amount_cents AS "amountCents",
      s.supplement_id AS "supplementId", ${verifiedSession}
    FROM checkout_sessions s ${leftJoinOrder(sql`s.order_id`)}
    WHERE s.session_id = ${sessionId} OR s.id = ${checkoutId}
    ORDER BY s.id = ${checkoutId} DESC NULLS LAST LIMIT 1`);
  if (!found) return undefined;
  const { id, status, orderId, code, supplementId } = found;
  if (orderId === null) return { id, status, payees: await partsOf(db, id) };
  const amountCents = supplementId === null ? null : found.amountCents;
  return { id, status, payees: [{ orderId, orderCode: code ?? "", amountCents, supplementId }] };
}
