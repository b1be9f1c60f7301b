import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { closeTasks, openTask, type TaskEnd } from "../tasks/tasks.ts";
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

const columns = sql`r.id AS "requestId", r.status, r.firm_name AS "firmName", r.contact_name AS "contactName",
  r.work_email AS "workEmail", r.role, r.expected_volume AS "expectedVolume", r.use_case AS "useCase", r.reasons,
  r.partner_id AS "partnerId",
  EXISTS (SELECT FROM access_requests o WHERE lower(o.work_email) = lower(r.work_email) AND o.status = 'issued' AND o.id <> r.id)
    AS "addressHasKey",
  r.created_at AS "createdAt", r.decided_at AS "decidedAt", r.mailed_at AS "mailedAt"`;

/** Those that wait, the longest waiting first. */
export const selectPending = (db: Sql, limit: number) =>
  db.query<ListedRequest>(
    sql`SELECT ${columns} FROM access_requests r WHERE r.status = 'pending' ORDER BY r.created_at, r.id LIMIT ${limit}`,
  );

export async function countPending(db: Sql): Promise<number> {
  const [row] = await db.query<{ pending: number }>(
    sql`SELECT count(*) AS pending FROM access_requests WHERE status = 'pending'`,
  );
  return row?.pending ?? 0;
}

/** Those that wait, the longest waiting first; then those decided, newest first. */
export async function selectRequests(db: Sql, limit: number): Promise<ListedRequest[]> {
  const waiting = await selectPending(db, limit);
  const decided = await db.query<ListedRequest>(
    sql`SELECT ${columns} FROM access_requests r WHERE r.status <> 'pending'
     ORDER BY r.decided_at DESC, r.id DESC LIMIT ${limit - waiting.length}`,
  );
  return [...waiting, ...decided];
}

/** Until the transaction ends nobody else decides on a request of this address or its domain. */
export const lockAddress = (tx: Tx, workEmail: string) =>
  tx.query(sql`
    SELECT pg_advisory_xact_lock(hashtextextended('access-request:' || coalesce(mail_domain(e), lower(e)), 0))
    FROM (VALUES (${workEmail}::text)) AS asked (e)`);

/** Whether the address was issued a key, and how many addresses of its domain were. */
export async function issuedTo(tx: Tx, workEmail: string): Promise<{ address: boolean; ofDomain: number }> {
  const [found] = await tx.query<{ address: boolean; ofDomain: number }>(sql`
    SELECT coalesce(bool_or(lower(work_email) = lower(${workEmail})), false) AS address, count(*) AS "ofDomain"
    FROM access_requests WHERE mail_domain(work_email) = mail_domain(${workEmail}) AND status = 'issued'`);
  return found ?? { address: false, ofDomain: 0 };
}

/**
 * Marks that the address is told that it gets no key, once a day.
 * @param tell false: the same is asked of the database, and nothing is marked
 * @returns the request that the mail is about, or undefined when there is none to send
 */
export async function markTold(tx: Tx, workEmail: string, tell: boolean, at: Date): Promise<string | undefined> {
  const [told] = await tx.query<{ id: string }>(sql`
    UPDATE access_requests SET told_at = ${at} WHERE ${tell}::boolean AND id = (
      SELECT id FROM access_requests WHERE lower(work_email) = lower(${workEmail}) ORDER BY created_at, id LIMIT 1
    ) AND NOT EXISTS (
      SELECT FROM access_requests
      WHERE lower(work_email) = lower(${workEmail}) AND told_at > ${at}::timestamptz - interval '1 day'
    ) RETURNING id`);
  return told?.id;
}

export async function addressHasKey(db: Sql, workEmail: string): Promise<boolean> {
  const found = await db.query(
    sql`SELECT FROM access_requests WHERE lower(work_email) = lower(${workEmail}) AND status = 'issued'`,
  );
  return found.length > 0;
}

/** @param wanted false: the same statement, which writes nothing */
export const insertRequest = (
  db: Sql,
  id: string,
  request: AccessRequest,
  reasons: readonly Reason[],
  at: Date,
  wanted = true,
) =>
  db.query(
    sql`INSERT INTO access_requests
       (id, firm_name, contact_name, work_email, role, expected_volume, use_case, status, reasons, created_at)
     SELECT ${id}::uuid, ${request.firmName}, ${request.contactName}, ${request.workEmail}, ${request.role},
       ${request.expectedVolume}, ${request.useCase}, 'pending', ${reasons}::text[], ${at}::timestamptz
     WHERE ${wanted}::boolean`,
  );

type OpenRequest = { status: RequestStatus; firmName: string; workEmail: string };

export async function selectForDecision(tx: Tx, id: string): Promise<OpenRequest | undefined> {
  const [found] = await tx.query<OpenRequest>(
    sql`SELECT status, firm_name AS "firmName", work_email AS "workEmail" FROM access_requests WHERE id = ${id} FOR UPDATE`,
  );
  return found;
}

/** A person is to look at it. @param wanted false: the same statement, which writes nothing */
export const openReview = (tx: Tx, id: string, at: Date, wanted = true) =>
  tx.query(
    openTask(
      { kind: "access_request", at, environment: "live", subject: id },
      sql`(SELECT 1 WHERE ${wanted}::boolean) AS wanted`,
    ),
  );

export const closeReview = (tx: Tx, id: string, end: Omit<TaskEnd, "state">) =>
  tx.query(closeTasks({ kinds: ["access_request"], subject: id }, { state: "done", ...end }));

export const markIssued = (db: Sql, id: string, issued: { partnerId: string; sealedKey: Buffer; at: Date }) =>
  db.query(
    sql`UPDATE access_requests
     SET status = 'issued', partner_id = ${issued.partnerId}, sealed_key = ${issued.sealedKey}, decided_at = ${issued.at}
     WHERE id = ${id}`,
  );

export const markDeclined = (db: Sql, id: string, at: Date) =>
  db.query(sql`UPDATE access_requests SET status = 'declined', decided_at = ${at} WHERE id = ${id}`);

export async function selectToMail(db: Sql, id: string) {
  const [found] = await db.query<{ workEmail: string; sealedKey: Buffer | null; toldAt: Date | null }>(sql`
    SELECT work_email AS "workEmail", sealed_key AS "sealedKey", told_at AS "toldAt" FROM access_requests WHERE id = ${id}`);
  return found;
}

/** From now on only the key's holder has its text. */
export const markMailed = (db: Sql, id: string, at: Date) =>
  db.query(sql`UPDATE access_requests SET sealed_key = NULL, mailed_at = ${at} WHERE id = ${id}`);
