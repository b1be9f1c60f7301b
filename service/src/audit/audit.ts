import { nothing, type Part, type Statement, sql } from "../platform/database/sql.ts";

export { chainAuditLines, type Place, placeColumns, placeMembers } from "./chain.ts";
export { type ChainReport, checkAuditChain } from "./check-chain.ts";

/**
 * A line of the audit log. Each member is a value, or a part of a statement where the value is a column of `from`.
 * `actor` is who did it: `key:ID`, `member:ID`, `operator`, `processor`, `system`.
 */
export type AuditLine = {
  at: Part<Date>;
  action: Part<string>;
  actor: Part<string>;
  partnerId?: Part<string> | null | undefined;
  orderId?: Part<number> | null | undefined;
  roomId?: Part<string> | null | undefined;
  fromStatus?: Part<string> | null | undefined;
  toStatus?: Part<string> | null | undefined;
  detail?: Part<object> | null | undefined;
};

/**
 * The insert of a line into the audit log: the log's only writer. It runs by itself in the transaction of the change, or as
 * a part (`WITH ... AS (...)`) of the change's own statement.
 * @param from what follows FROM, when the line is written only if, or as often as, that has rows
 */
export function auditLine(line: AuditLine, from?: Statement): Statement {
  return sql`INSERT INTO audit_log (occurred_at, action, actor, partner_id, order_id, room_id, from_status, to_status, detail)
  SELECT ${line.at}, ${line.action}, ${line.actor}, ${line.partnerId}, ${line.orderId}, ${line.roomId},
    ${line.fromStatus}, ${line.toStatus}, ${line.detail}${from ? sql` FROM ${from}` : nothing}`;
}
