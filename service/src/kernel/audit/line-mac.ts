import { type Statement, sql } from "../platform/database/sql.ts";
import { MacOfRow, textOf } from "../platform/database/state-mac.ts";
import type { Members } from "../platform/row-mac.ts";

/**
 * A line of the audit log, as it is written. `actor` names who acted, for example `key:ID`, `member:ID`, `operator:ID`,
 * `signer`, `processor` or `system`. The MAC covers the whole line.
 */
export type AuditLine = {
  at: Date;
  action: string;
  actor: string;
  partnerId?: string | null | undefined;
  orderId?: number | null | undefined;
  roomId?: string | null | undefined;
  fromStatus?: string | null | undefined;
  toStatus?: string | null | undefined;
  detail?: object | null | undefined;
};

/**
 * The columns of a line that the hash chain covers, with their values as PostgreSQL writes them. These are all columns
 * except those of the MAC and of the place in the chain.
 */
export type ChainLine = {
  id: number;
  occurredAt: string;
  action: string;
  actor: string;
  partnerId: string | null;
  orderId: number | null;
  roomId: string | null;
  fromStatus: string | null;
  toStatus: string | null;
  detail: string | null;
};

/** Selects the columns of `audit_log` that make up a `ChainLine`. */
export const lineColumns: Statement = sql`id,
  to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS "occurredAt", action, actor,
  partner_id AS "partnerId", order_id AS "orderId", room_id AS "roomId", from_status AS "fromStatus",
  to_status AS "toStatus", detail::text AS detail`;

/**
 * A line with every value that its MAC covers. `newOrder` is for a line that was inserted together with its order: the
 * order's code, because the order had no id when the MAC was computed. Null for any other line.
 */
export type MacLine = ChainLine & { newOrder: string | null };

/** Selects the columns of `audit_log` that make up a `MacLine`. */
export const macLineColumns: Statement = sql`${lineColumns},
  CASE WHEN action = 'order.created' OR from_status = 'Created'
    THEN (SELECT code FROM orders WHERE orders.id = audit_log.order_id) END AS "newOrder@order"`;

export const auditTable = "audit_log";

/**
 * The values that a line's MAC covers. They contain the order's numeric id or, for a new order without an id, the
 * order's code. `detail` is the text that PostgreSQL writes for the jsonb value.
 */
export const lineMembers = ({ newOrder, orderId, detail, ...line }: Omit<MacLine, "id">): Members => ({
  occurredAt: line.occurredAt,
  action: line.action,
  actor: line.actor,
  partnerId: line.partnerId,
  order: newOrder ?? orderId,
  roomId: line.roomId,
  fromStatus: line.fromStatus,
  toStatus: line.toStatus,
  detail: detail === null ? null : textOf([JSON.parse(detail)]),
});

/**
 * The MAC of a line that is about to be inserted.
 * @param newOrder the code of the order that the same statement inserts
 */
export const macOfLine = (line: AuditLine, newOrder: string | null = null): MacOfRow =>
  new MacOfRow(
    auditTable,
    lineMembers({
      // The MAC covers the time to the microsecond, as PostgreSQL stores it. Otherwise somebody could change the
      // microseconds unnoticed.
      occurredAt: line.at.toISOString().replace("Z", "000"),
      action: line.action,
      actor: line.actor,
      partnerId: line.partnerId ?? null,
      orderId: line.orderId ?? null,
      newOrder,
      roomId: line.roomId ?? null,
      fromStatus: line.fromStatus ?? null,
      toStatus: line.toStatus ?? null,
      detail: line.detail ? JSON.stringify(line.detail) : null,
    }),
  );
