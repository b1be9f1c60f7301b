import type { Sql } from "../platform/database.ts";

export type PartnerAudit = { at: Date; action: string; actor: string; partnerId: string | null; detail: object };

/** A line of the audit log about a firm, its people or its keys; in the transaction of what it tells of. */
export const insertAudit = (sql: Sql, { at, action, actor, partnerId, detail }: PartnerAudit) =>
  sql.rows("INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail) VALUES ($1, $2, $3, $4, $5)", [
    at,
    action,
    actor,
    partnerId,
    detail,
  ]);
