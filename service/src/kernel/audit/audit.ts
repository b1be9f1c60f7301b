import type { Sql } from "../platform/database/database.ts";
import { isoTime, nothing, type Statement, sql } from "../platform/database/sql.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { readWrittenLines } from "./chain.ts";
import { type AuditLine, macOfLine } from "./line-mac.ts";

export {
  auditChainEnd,
  auditChainTexts,
  auditHashesAt,
  chainAuditLines,
  firstAuditLine,
  protectedTables,
  readWrittenLines,
} from "./chain.ts";
export { type ChainReport, checkAuditChain } from "./check-chain.ts";
export type { AuditLine } from "./line-mac.ts";

/**
 * Builds the INSERT of one audit line. Only `auditLine` and `newOrderLines` insert into the audit log. Run the INSERT
 * in the transaction of the change that the line records: alone, or inside a `WITH` clause of that change's statement.
 * @param from the text after FROM. With it, the INSERT adds one line for each selected row; without it, one line
 */
export function auditLine(line: AuditLine, from?: Statement): Statement {
  return sql`INSERT INTO audit_log (occurred_at, action, actor, partner_id, order_id, room_id, from_status, to_status, detail, row_mac)
  SELECT ${line.at}, ${line.action}, ${line.actor}, ${line.partnerId}, ${line.orderId}, ${line.roomId},
    ${line.fromStatus}, ${line.toStatus}, ${line.detail}, ${macOfLine(line)}${from ? sql` FROM ${from}` : nothing}`;
}

export type NewOrderLines = {
  at: Date;
  actor: string;
  partnerId: string;
  code: string;
  status: string;
  /** The reason for this status; null when none was recorded. */
  reason: string | null;
};

/** SQL expression: the reason for an order's latest change to this status. */
export const lastReason = (orderId: Statement, to: Statement): Statement => sql`(
  SELECT detail ->> 'reason' FROM audit_log
  WHERE audit_log.order_id = ${orderId} AND action = 'order.transition' AND to_status = ${to} ORDER BY id DESC LIMIT 1)`;

/**
 * SQL expression: the actor of an order's latest change to a status.
 * @param from the status that the order must have had before the change; null for any status
 */
export const lastActor = (orderId: Statement, to: string, from: string | null = null): Statement => sql`(
  SELECT actor FROM audit_log
  WHERE audit_log.order_id = ${orderId} AND action = 'order.transition' AND to_status = ${to}
    ${from === null ? nothing : sql`AND from_status = ${from}`} ORDER BY id DESC LIMIT 1)`;

/**
 * SQL expression: the actor who placed an order, without verifying the MAC of the log's line. `readOrigins` verifies
 * it.
 */
export const ordererOf = (orderId: Statement): Statement => sql`(
  SELECT actor FROM audit_log WHERE audit_log.order_id = ${orderId} AND action = 'order.created' ORDER BY id LIMIT 1)`;

/**
 * SQL expression: how many times an order changed to a status. When a hold ends, the order returns to its earlier
 * status; this doesn't count.
 */
export const movesTo = (orderId: Statement, to: string): Statement => sql`(
  SELECT count(*)::int FROM audit_log
  WHERE audit_log.order_id = ${orderId} AND action = 'order.transition' AND to_status = ${to} AND from_status <> 'OnHold')`;

/**
 * SQL condition: the log has a line with this action about the order, after the order's latest change to the status
 * `to`. If the order never changed to `to`, any line with this action counts. The return to a status when a hold ends
 * is not a change.
 */
export const hasLineAfterMove = (orderId: Statement, action: string, to: string): Statement => sql`EXISTS (
  SELECT FROM audit_log WHERE audit_log.order_id = ${orderId} AND action = ${action} AND id > coalesce((
    SELECT max(m.id) FROM audit_log m
    WHERE m.order_id = ${orderId} AND m.action = 'order.transition' AND m.to_status = ${to} AND m.from_status <> 'OnHold'), 0))`;

/**
 * SQL condition: an order changed to this status at the time `since` or later. The log line of the change may have any
 * action. Unlike in `movesTo`, the return to the status when a hold ends counts.
 */
export const hasMovedSince = (orderId: Statement, to: string, since: Statement): Statement => sql`EXISTS (
  SELECT FROM audit_log WHERE audit_log.order_id = ${orderId} AND to_status = ${to} AND occurred_at >= ${since})`;

/**
 * The number of an order's log lines with this action and a time after `since`. Includes lines of the open transaction.
 */
export async function countLines(db: Sql, orderId: number, action: string, since: Date): Promise<number> {
  const [lines] = await db.query<{ n: number }>(sql`
    SELECT count(*)::int AS n FROM audit_log
    WHERE order_id = ${orderId} AND action = ${action} AND occurred_at > ${since}`);
  return lines?.n ?? 0;
}

/**
 * For each of these actions, the number of log lines whose actor is this key. Actions without a line are left out. The
 * condition `LIKE 'key:%'` looks redundant, but lets PostgreSQL use a partial index on the lines of keys.
 */
export async function countActionsOfKey(
  db: Sql,
  keyId: string,
  actions: readonly string[],
): Promise<Map<string, number>> {
  const lines = await db.query<{ action: string; n: number }>(sql`
    SELECT action, count(*) AS n FROM audit_log
    WHERE actor = ${`key:${keyId}`} AND actor LIKE 'key:%' AND action = ANY (${actions}::text[]) GROUP BY action`);
  return new Map(lines.map(({ action, n }) => [action, n]));
}

/** SQL condition: the log has a line with exactly this action and this time. */
export const hasLine = ({ action, at }: Pick<AuditLine, "action" | "at">): Statement =>
  sql`EXISTS (SELECT FROM audit_log WHERE action = ${action} AND occurred_at = ${at})`;

/** SQL condition: the log has a line that `which` selects and whose time is `since` or later. */
export const hasLineSince = (which: Statement, since: Statement): Statement =>
  sql`EXISTS (SELECT FROM audit_log WHERE ${which} AND occurred_at >= ${since})`;

/**
 * SQL: a FROM clause that selects the log lines with this action.
 * @param member the JSON member of a line's `detail` that becomes the column `subject`
 */
export const fromLines = (action: string, member: string): Statement =>
  sql`FROM (SELECT detail ->> ${member} AS subject FROM audit_log WHERE action = ${action}) AS lines`;

/** SQL: the log lines of these orders with this action, as a subquery for FROM. */
export const linesOfOrders = (orderIds: readonly number[], action: string): Statement =>
  sql`(SELECT order_id, room_id, partner_id FROM audit_log
    WHERE order_id = ANY (${orderIds}::bigint[]) AND action = ${action})`;

/** SQL: the log lines that `which` selects, as a subquery for FROM. */
export const linesWhere = (which: Statement): Statement => sql`(SELECT * FROM audit_log WHERE ${which})`;

/** The latest log line that `which` selects; undefined for none. Doesn't verify the line's MAC. */
export async function findLine<Detail>(
  db: Sql,
  which: Statement,
): Promise<{ actor: string; detail: Detail } | undefined> {
  const [line] = await db.query<{ actor: string; detail: Detail }>(sql`
    SELECT actor, detail FROM audit_log WHERE ${which} ORDER BY id DESC LIMIT 1`);
  return line;
}

export type LastLine = { id: number; at: string };

/** The last line of the log, ignoring lines with the actions in `without`; null when there is none. */
export async function lastLine(db: Sql, without: readonly string[] = []): Promise<LastLine | null> {
  const [line] = await db.query<LastLine>(sql`
    SELECT id, ${isoTime(sql`occurred_at`)} AS at FROM audit_log
    WHERE action <> ALL (${[...without]}::text[]) ORDER BY id DESC LIMIT 1`);
  return line ?? null;
}

/**
 * SQL subquery: the latest 100 log lines about an order that a page shows.
 * @param room a condition on `room_id`
 * @param isShown a condition on `action`
 */
export const shownLines = (orderId: Statement, room: Statement, isShown: Statement): Statement => sql`(
  SELECT id, action, from_status, to_status, occurred_at FROM audit_log
  WHERE order_id = ${orderId} AND ${room}
    AND ${isShown} ORDER BY occurred_at DESC, id DESC LIMIT 100)`;

/**
 * The actor who placed an order, and the reason for its present status. Each is null if no authentic log line states
 * it.
 */
export type Origin = { placedBy: string | null; reason: string | null };

/** The origins of orders, by order id. Uses only log lines whose MAC is valid. */
export async function readOrigins(
  db: Sql,
  rowMac: RowMac,
  orderIds: readonly number[],
): Promise<ReadonlyMap<number, Origin>> {
  const ids = sql`order_id = ANY (${orderIds}::bigint[])`;
  const lines = await readWrittenLines(
    db,
    rowMac,
    sql`${ids} AND (action = 'order.created' OR id IN (
      SELECT max(id) FROM audit_log WHERE ${ids} AND action = 'order.transition' GROUP BY order_id))`,
  );
  const origins = new Map<number, Origin>(orderIds.map((id) => [id, { placedBy: null, reason: null }]));
  for (const line of lines) {
    const origin = origins.get(line.orderId ?? 0);
    if (!origin) continue;
    if (line.action === "order.created") origin.placedBy = line.actor;
    else origin.reason = (line.detail && (JSON.parse(line.detail) as { reason?: string }).reason) ?? null;
  }
  return origins;
}

/** SQL condition: at some time, an order changed from the status `from` to the status `to`. */
export const hasMoved = (orderId: Statement, from: string, to: string): Statement => sql`EXISTS (
  SELECT FROM audit_log
  WHERE audit_log.order_id = ${orderId} AND action = 'order.transition' AND from_status = ${from} AND to_status = ${to})`;

/**
 * The two log lines of a new order, as a part of the statement that inserts the order. The lines' MACs cover the
 * order's code, because the order has no id yet.
 */
export function newOrderLines(
  { at, actor, partnerId, code, status, reason }: NewOrderLines,
  newOrder: Statement,
): Statement {
  const line = { at, actor, partnerId };
  const created = macOfLine({ ...line, action: "order.created", toStatus: "Created" }, code);
  const detail = reason === null ? null : { reason };
  const moved = macOfLine(
    { ...line, action: "order.transition", fromStatus: "Created", toStatus: status, detail },
    code,
  );
  return sql`INSERT INTO audit_log (occurred_at, action, actor, partner_id, order_id, from_status, to_status, detail, row_mac)
  SELECT ${at}, step.action, ${actor}, ${partnerId}, new_order.id, step.from_status, step.to_status, step.detail, step.mac
  FROM ${newOrder} AS new_order, (VALUES
    (1, 'order.created', NULL, 'Created', NULL, ${created}::bytea),
    (2, 'order.transition', 'Created', ${status}::text, ${detail && JSON.stringify(detail)}::jsonb, ${moved}::bytea)
  ) AS step (n, action, from_status, to_status, detail, mac) ORDER BY step.n`;
}
