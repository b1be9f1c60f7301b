import type { Owner } from "../../../kernel/identity/identity.ts";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { fromOrders, hasOrderCode } from "../../../orders/order/order.ts";

/**
 * A notary's request to the firm to allow an act in person, on paper, although the order is for online notarization.
 */
export type InPersonRequest = {
  id: string;
  reason: string;
  requestedBy: string;
  requestedAt: Date;
  state: "requested" | "agreed" | "declined";
  /** The member or the key of the firm that made the decision, as in the audit log. Null while the request is open. */
  decidedBy: string | null;
  decidedAt: Date | null;
};

/** The columns that the MAC covers. A database trigger allows one decision on a request, and no other change. */
const inPersonState: StateMac = {
  table: sql`in_person_requests`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    r,
  ) => sql`${r}.id, ${r}.order_id, ${r}.reason, ${r}.requested_by, extract(epoch FROM ${r}.requested_at), ${r}.state,
    ${r}.decided_by, extract(epoch FROM ${r}.decided_at)`,
};

export const inPersonRows = stateRows(inPersonState, { backfill: { set: "firms, signers and notaries" } });

/**
 * The latest request about an order.
 * @throws ServiceError `unavailable` when its MAC is invalid
 */
export async function latestRequest(db: Sql, orderId: number): Promise<InPersonRequest | undefined> {
  const [found] = await db.query<InPersonRequest>(sql`
    SELECT id, reason, requested_by AS "requestedBy", requested_at AS "requestedAt", state, decided_by AS "decidedBy",
      decided_at AS "decidedAt", ${verified(inPersonState, sql`in_person_requests`)}
    FROM in_person_requests WHERE order_id = ${orderId} ORDER BY requested_at DESC, id LIMIT 1`);
  return found;
}

/** Finds an order of the firm by the order's code. */
export async function orderIdOf(db: Sql, code: string, { partnerId, environment }: Owner): Promise<number | undefined> {
  const [order] = await db.query<{ id: number }>(sql`
    SELECT o.id ${fromOrders}
    WHERE ${hasOrderCode(code)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}`);
  return order?.id;
}

export async function countRequests(tx: Tx, orderId: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM in_person_requests WHERE order_id = ${orderId}`,
  );
  return row?.count ?? 0;
}

type NewRequest = { id: string; orderId: number; reason: string; requestedBy: string; at: Date };

/** Stores a new request. The transaction must have locked the order. */
export async function insertInPerson(tx: Tx, { id, orderId, reason, requestedBy, at }: NewRequest): Promise<void> {
  await tx.query(sql`
    INSERT INTO in_person_requests (id, order_id, reason, requested_by, requested_at)
    VALUES (${id}, ${orderId}, ${reason}, ${requestedBy}, ${at})`);
  await writeStateMacs(tx, inPersonState, sql`id = ${id}`);
}

type Decision = { state: "agreed" | "declined"; by: string; at: Date };

export const decideInPerson = (tx: Tx, id: string, { state, by, at }: Decision): Promise<void> =>
  changeRow(tx, inPersonState, id, sql`state = ${state}, decided_by = ${by}, decided_at = ${at}`);
