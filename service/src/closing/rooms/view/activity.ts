import { shownLines } from "../../../kernel/audit/audit.ts";
import { isoTime, sql } from "../../../kernel/platform/database/sql.ts";

/**
 * SQL condition: the audit actions that a room's timeline shows; the contract lists them. The condition must have the
 * same words as the predicate of the index audit_log_activity. Otherwise PostgreSQL doesn't use that index.
 */
const isActivity = sql`action IN ('order.created', 'order.transition', 'order.claimed', 'order.cancelled',
  'signing_link.issued', 'room.order_attached')`;

/**
 * SQL: the latest events of the room's timeline. Events of an order appear in every room that contains it. The event of
 * its attachment to a room appears only in that room. The query must define `attached`.
 */
export const recent = sql`
  SELECT a.code, item.* FROM attached a CROSS JOIN LATERAL (
    ${shownLines(sql`a.order_id`, sql`room_id IS NULL`, isActivity)}
    UNION ALL ${shownLines(sql`a.order_id`, sql`room_id = a.room_id`, isActivity)}
  ) item ORDER BY item.occurred_at DESC, item.id DESC LIMIT 100`;

/** SQL: the timeline as a JSON list, newest first. The query must define `recent`. */
export const activity = sql`
  SELECT coalesce(json_agg(json_build_object('orderCode', code, 'action', action, 'fromStatus', from_status,
    'toStatus', to_status, 'occurredAt', ${isoTime(sql`occurred_at`)}) ORDER BY occurred_at DESC, id DESC), '[]') AS list
  FROM recent`;
