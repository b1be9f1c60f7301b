import type { Sql, Tx } from "../platform/database.ts";
import type { AccessRequest } from "./fields.ts";
import type { Reason } from "./screening/screening.ts";

export type RequestStatus = "issued" | "pending" | "declined";

/** A request as the operator sees it. */
export type ListedRequest = AccessRequest & {
  requestId: string;
  status: RequestStatus;
  reasons: Reason[];
  partnerId: string | null;
  /** Another request of this address was issued a key. */
  addressHasKey: boolean;
  createdAt: Date;
  decidedAt: Date | null;
  mailedAt: Date | null;
};

const columns = `r.id AS "requestId", r.status, r.firm_name AS "firmName", r.contact_name AS "contactName",
  r.work_email AS "workEmail", r.role, r.expected_volume AS "expectedVolume", r.use_case AS "useCase", r.reasons,
  r.partner_id AS "partnerId",
  EXISTS (SELECT FROM access_requests o WHERE lower(o.work_email) = lower(r.work_email) AND o.status = 'issued' AND o.id <> r.id)
    AS "addressHasKey",
  r.created_at AS "createdAt", r.decided_at AS "decidedAt", r.mailed_at AS "mailedAt"`;

/** Those that wait, the longest waiting first. */
export const selectPending = (sql: Sql, limit: number) =>
  sql.rows<ListedRequest>(
    `SELECT ${columns} FROM access_requests r WHERE r.status = 'pending' ORDER BY r.created_at, r.id LIMIT $1`,
    [limit],
  );

export async function countPending(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ pending: number }>(
    "SELECT count(*) AS pending FROM access_requests WHERE status = 'pending'",
  );
  return row?.pending ?? 0;
}

/** Those that wait, the longest waiting first; then those decided, newest first. */
export async function selectRequests(sql: Sql, limit: number): Promise<ListedRequest[]> {
  const waiting = await selectPending(sql, limit);
  const decided = await sql.rows<ListedRequest>(
    `SELECT ${columns} FROM access_requests r WHERE r.status <> 'pending'
     ORDER BY r.decided_at DESC, r.id DESC LIMIT $1`,
    [limit - waiting.length],
  );
  return [...waiting, ...decided];
}

/** Until the transaction ends nobody else decides on a request of this address. */
export const lockAddress = (tx: Tx, workEmail: string) =>
  tx.rows("SELECT pg_advisory_xact_lock(hashtextextended('access-request:' || lower($1), 0))", [workEmail]);

export async function addressHasKey(sql: Sql, workEmail: string): Promise<boolean> {
  const found = await sql.rows(
    "SELECT FROM access_requests WHERE lower(work_email) = lower($1) AND status = 'issued'",
    [workEmail],
  );
  return found.length > 0;
}

export const insertRequest = (sql: Sql, id: string, request: AccessRequest, reasons: readonly Reason[], at: Date) =>
  sql.rows(
    `INSERT INTO access_requests (id, firm_name, contact_name, work_email, role, expected_volume, use_case, status, reasons, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9)`,
    [
      id,
      request.firmName,
      request.contactName,
      request.workEmail,
      request.role,
      request.expectedVolume,
      request.useCase,
      reasons,
      at,
    ],
  );

export async function selectForDecision(tx: Tx, id: string) {
  const [found] = await tx.rows<{ status: RequestStatus; firmName: string; workEmail: string }>(
    `SELECT status, firm_name AS "firmName", work_email AS "workEmail" FROM access_requests WHERE id = $1 FOR UPDATE`,
    [id],
  );
  return found ?? null;
}

export const markIssued = (sql: Sql, id: string, issued: { partnerId: string; sealedKey: Buffer; at: Date }) =>
  sql.rows(
    "UPDATE access_requests SET status = 'issued', partner_id = $2, sealed_key = $3, decided_at = $4 WHERE id = $1",
    [id, issued.partnerId, issued.sealedKey, issued.at],
  );

export const markDeclined = (sql: Sql, id: string, at: Date) =>
  sql.rows("UPDATE access_requests SET status = 'declined', decided_at = $2 WHERE id = $1", [id, at]);

export async function selectToMail(sql: Sql, id: string) {
  const [found] = await sql.rows<{ workEmail: string; sealedKey: Buffer | null }>(
    `SELECT work_email AS "workEmail", sealed_key AS "sealedKey" FROM access_requests WHERE id = $1`,
    [id],
  );
  return found ?? null;
}

/** From now on the key's text is nowhere but with its holder. */
export const markMailed = (sql: Sql, id: string, at: Date) =>
  sql.rows("UPDATE access_requests SET sealed_key = NULL, mailed_at = $2 WHERE id = $1", [id, at]);
