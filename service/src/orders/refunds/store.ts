import { operatorName } from "../../firms/operators/operators.ts";
import { joinFirm, type MarkedFirm, markedFirm, withFirmNames } from "../../firms/partners/partners.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { changeRow } from "../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { joinOrder } from "../order/order.ts";

/**
 * A payment that the service holds; its amount is in the smallest unit of the currency. `unapplied`: the payment was
 * not used to pay its order, so refunding it doesn't end the order.
 */
export type Held = { id: number; amountCents: number; currency: string; unapplied?: true };

type RefundState = "requested" | "approved" | "refused" | "withdrawn" | "closed";

export type RefundRequest = {
  id: string;
  orderId: number;
  orderCode: string;
  orderStatus: string;
  firmName: string;
  environment: Environment;
  reason: string;
  /**
   * The payments that the refund returns, each with the amount held at the request or, for a partial refund, the part.
   */
  payments: readonly Held[];
  /**
   * True if the refund doesn't move the order: it returns a part of the held money, or a payment that did not pay it.
   */
  part: boolean;
  requestedBy: string;
  requestedByName: string;
  requestedAt: Date;
  state: RefundState;
  /**
   * The person who decided on the request. Null while the request is open, and when it was closed because the order was
   * refunded in another way.
   */
  decidedByName: string | null;
  decidedAt: Date | null;
  solo: boolean;
  note: string | null;
};

/**
 * SQL condition: true if the database trigger closed the request. The trigger writes a note that nothing else writes.
 */
const isClosed = (r: Statement): Statement =>
  sql`(${r}.state = 'closed' AND ${r}.note = 'The refund was asked for by another way.')`;

/**
 * The columns of a refund request that its MAC covers. One trigger allows only one decision on a request; an approved
 * partial refund may still be closed. Another trigger closes an open request whose order is refunded in another way.
 * That trigger has no MAC key, so a request that it closed keeps the MAC of its open state.
 *
 * For a partial refund, the MAC covers the amount as a negative number. Rows of earlier releases are not partial
 * refunds, so their MACs stay valid.
 */
const requestState: StateMac = {
  table: sql`refund_requests`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    r,
  ) => sql`${r}.id, ${r}.order_id, ${r}.reason, CASE WHEN ${r}.part THEN -${r}.amount_cents ELSE ${r}.amount_cents END, ${r}.payments, ${r}.requested_by,
    extract(epoch FROM ${r}.requested_at), ${r}.decided_by, ${r}.solo, CASE WHEN NOT ${isClosed(r)} THEN ${r}.note END,
    CASE WHEN ${isClosed(r)} THEN 'requested' ELSE ${r}.state END,
    CASE WHEN NOT ${isClosed(r)} THEN extract(epoch FROM ${r}.decided_at) END`,
};

export const requestRows = [stateRows(requestState, { backfill: { set: "money" } })];

const requests = (seen: Statement) => sql`
  SELECT ${seen}, r.id, r.order_id AS "orderId", o.code AS "orderCode@order", o.status AS "orderStatus", p.name AS "firmName",
    o.environment, r.reason, r.payments, r.part, r.requested_by AS "requestedBy",
    ${operatorName(sql`r.requested_by`)} AS "requestedByName", r.requested_at AS "requestedAt", r.state, ${operatorName(sql`r.decided_by`)} AS "decidedByName",
    r.decided_at AS "decidedAt", r.solo, r.note, ${markedFirm}
  FROM refund_requests r ${joinOrder(sql`r.order_id`)} ${joinFirm(sql`o.partner_id`)}`;

const verifiedRequest = requests(verified(requestState, sql`r`));
const markedRequests = requests(marked(requestState, sql`r`));

/**
 * Finds a refund request; undefined for a request that is unknown, or in the other environment.
 * @throws ServiceError `unavailable` when the MAC of the request is invalid
 */
export async function selectRequest(db: Sql, id: string, environment: Environment): Promise<RefundRequest | undefined> {
  const found = await db.query<RefundRequest & MarkedFirm>(
    sql`${verifiedRequest} WHERE r.id = ${id} AND o.environment = ${environment}`,
  );
  return withFirmNames(found)[0];
}

/** At most 200 open requests, oldest first. Leaves out altered ones. */
export const selectOpen = async (db: Sql, environment: Environment) =>
  authentic(
    await db.query<RefundRequest & MarkedFirm & Marked>(sql`${markedRequests}
    WHERE r.state = 'requested' AND o.environment = ${environment} ORDER BY r.requested_at, r.id LIMIT 200`),
  );

/** The 50 requests that ended last, latest first. Leaves out altered ones. */
export const selectEnded = async (db: Sql, environment: Environment) =>
  authentic(
    await db.query<RefundRequest & MarkedFirm & Marked>(sql`${markedRequests}
    WHERE r.state <> 'requested' AND o.environment = ${environment} ORDER BY r.decided_at DESC, r.id LIMIT 50`),
  );

/** Leaves out requests whose MAC is invalid. */
const authentic = (rows: readonly (RefundRequest & MarkedFirm & Marked)[]): RefundRequest[] =>
  withFirmNames(rows.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...request }) => request));

/**
 * The id of the order's open refund request; undefined without one.
 * @throws ServiceError `unavailable` when the MAC of the request is invalid
 */
export async function selectOpenOfOrder(db: Sql, orderId: number): Promise<string | undefined> {
  const [found] = await db.query<{ id: string }>(sql`
    SELECT id, ${verified(requestState, sql`refund_requests`)} FROM refund_requests
    WHERE order_id = ${orderId} AND state = 'requested'`);
  return found?.id;
}

/**
 * True if the order has a partial refund that was not refused, withdrawn or closed.
 * @throws ServiceError `unavailable` for a request whose MAC is invalid
 */
export async function hasPartRefund(db: Sql, orderId: number): Promise<boolean> {
  const found = await db.query(sql`
    SELECT ${verified(requestState, sql`refund_requests`)} FROM refund_requests
    WHERE order_id = ${orderId} AND part AND state IN ('requested', 'approved')`);
  return found.length > 0;
}

export type ApprovedPart = { id: string; orderId: number; payments: readonly Held[]; approvedAt: Date };

/**
 * The approved partial refunds of a request or of an order, for the jobs that make them.
 * @param which the id of the request, or the id of the order
 * @throws ServiceError `unavailable` for a request whose MAC is invalid
 */
export const selectApprovedParts = (db: Sql, which: { id: string } | { orderId: number }): Promise<ApprovedPart[]> =>
  db.query<ApprovedPart>(sql`
    SELECT id, order_id AS "orderId", payments, decided_at AS "approvedAt", ${verified(requestState, sql`refund_requests`)}
    FROM refund_requests WHERE ${"id" in which ? sql`id = ${which.id}` : sql`order_id = ${which.orderId}`} AND part AND state = 'approved'
    ORDER BY requested_at, id`);

/**
 * Closes an approved partial refund that can't be made any more. The caller must have locked its order and read its
 * request.
 */
export const closePart = (tx: Tx, id: string, note: string): Promise<void> =>
  changeRow(tx, requestState, id, sql`state = 'closed', note = ${note}`);

export type NewRequest = {
  id: string;
  orderId: number;
  reason: string;
  /**
   * The payments that the refund returns, each with the amount held at the request or, for a partial refund, the part.
   */
  payments: readonly Held[];
  part?: boolean;
  requestedBy: string;
  at: Date;
};

/**
 * Inserts a refund request.
 * @returns false when the order already has an open request
 */
export async function insertRequest(
  tx: Tx,
  { id, orderId, reason, payments, part = false, requestedBy, at }: NewRequest,
): Promise<boolean> {
  const cents = payments.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const inserted = await tx.query(sql`
    INSERT INTO refund_requests (id, order_id, reason, amount_cents, payments, part, requested_by, requested_at)
    VALUES (${id}, ${orderId}, ${reason}, ${cents}, ${JSON.stringify(payments)}::jsonb, ${part}, ${requestedBy}, ${at})
    ON CONFLICT (order_id) WHERE state = 'requested' DO NOTHING RETURNING 1`);
  if (inserted.length === 1) await writeStateMacs(tx, requestState, sql`id = ${id}`);
  else await selectOpenOfOrder(tx, orderId);
  return inserted.length === 1;
}

export type Decision = {
  state: Exclude<RefundState, "requested">;
  by: string | null;
  at: Date;
  solo?: boolean;
  note: string | null;
};

export const updateDecision = (tx: Tx, id: string, { state, by, at, solo = false, note }: Decision): Promise<void> =>
  changeRow(
    tx,
    requestState,
    id,
    sql`state = ${state}, decided_by = ${by}, decided_at = ${at}, solo = ${solo}, note = ${note}`,
  );

/** SQL expression: the firm of the order that a request is about. */
export const partnerOfRequest = (id: Statement): Statement =>
  sql`(SELECT o.partner_id FROM refund_requests q ${joinOrder(sql`q.order_id`)} WHERE q.id = ${id})`;
