import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { MacOfRow } from "../../kernel/platform/database/state-mac.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { closeTasks, openTask, type TaskEnd } from "../../kernel/tasks/tasks.ts";
import type { AccessRequest } from "./fields.ts";
import type { Reason } from "./screening/screening.ts";

type RequestStatus = "issued" | "pending" | "declined";

/** A request as the operator's pages show it. */
export type ListedRequest = AccessRequest & {
  requestId: string;
  status: RequestStatus;
  reasons: Reason[];
  partnerId: string | null;
  /** True if another request with this email address was granted. */
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

type Facts = Pick<AccessRequest, "firmName" | "contactName" | "workEmail"> & { id: string; createdAt: Date };
type Vouched = Facts & { mac: Buffer | null };

const table = "access_requests";

/**
 * The fields that the MAC covers. So database access alone is not enough to mail the key to another address, or to
 * issue it for another firm.
 */
const requestMembers = ({ id, firmName, contactName, workEmail, createdAt }: Facts): Members => ({
  id,
  firmName,
  contactName,
  workEmail,
  createdAt,
});

const factColumns = sql`id, firm_name AS "firmName", contact_name AS "contactName", work_email AS "workEmail",
  created_at AS "createdAt", row_mac AS mac`;

export const macOfRequests: MacTable<Facts> = {
  table: sql`access_requests`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${factColumns} FROM access_requests`,
  members: requestMembers,
  backfill: { set: "requests and mails" },
};

/** Verifies the MAC of a request. @throws ServiceError `unavailable` for a request that was altered or forged */
function requireSent(rowMac: RowMac, { mac, ...facts }: Vouched): void {
  rowMac.verify(table, requestMembers(facts), mac, { row: { id: facts.id } });
}

/** Selects pending access requests, the longest waiting first. */
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

/** Lists access requests: pending ones first, the longest waiting first; then decided ones, the newest first. */
export async function selectRequests(db: Sql, limit: number): Promise<ListedRequest[]> {
  const waiting = await selectPending(db, limit);
  return [...waiting, ...(await selectDecided(db, limit - waiting.length))];
}

/** Selects decided access requests, the newest first. */
export const selectDecided = (db: Sql, limit: number) =>
  db.query<ListedRequest>(
    sql`SELECT ${columns} FROM access_requests r WHERE r.status <> 'pending'
     ORDER BY r.decided_at DESC, r.id DESC LIMIT ${limit}`,
  );

/** Serializes decisions about this email address, and about all addresses of its domain, until the transaction ends. */
export const lockAddress = (tx: Tx, workEmail: string) =>
  tx.query(sql`
    SELECT pg_advisory_xact_lock(hashtextextended('access-request:' || coalesce(mail_domain(e), lower(e)), 0))
    FROM (VALUES (${workEmail}::text)) AS asked (e)`);

/**
 * Counts granted requests. `address`: true if a request of this email address was granted. `ofDomain`: the number of
 * granted requests of all addresses of the same domain.
 */
export async function issuedTo(tx: Tx, workEmail: string): Promise<{ address: boolean; ofDomain: number }> {
  const [found] = await tx.query<{ address: boolean; ofDomain: number }>(sql`
    SELECT coalesce(bool_or(lower(work_email) = lower(${workEmail})), false) AS address, count(*) AS "ofDomain"
    FROM access_requests WHERE mail_domain(work_email) = mail_domain(${workEmail}) AND status = 'issued'`);
  return found ?? { address: false, ofDomain: 0 };
}

/**
 * Records that a refusal is mailed to the email address, which happens at most once a day.
 * @param tell false to record nothing, but run the same statement, so that it takes the same time
 * @returns the request that the mail is about; undefined when no mail is due
 */
export async function markNotified(tx: Tx, workEmail: string, tell: boolean, at: Date): Promise<string | undefined> {
  const [notified] = await tx.query<{ id: string }>(sql`
    UPDATE access_requests SET told_at = ${at} WHERE ${tell}::boolean AND id = (
      SELECT id FROM access_requests WHERE lower(work_email) = lower(${workEmail}) ORDER BY created_at, id LIMIT 1
    ) AND NOT EXISTS (
      SELECT FROM access_requests
      WHERE lower(work_email) = lower(${workEmail}) AND told_at > ${at}::timestamptz - interval '1 day'
    ) RETURNING id`);
  return notified?.id;
}

export async function addressHasKey(db: Sql, workEmail: string): Promise<boolean> {
  const found = await db.query(
    sql`SELECT FROM access_requests WHERE lower(work_email) = lower(${workEmail}) AND status = 'issued'`,
  );
  return found.length > 0;
}

/**
 * Inserts a pending request.
 * @param wanted false to write nothing, but run the same statement, so that it takes the same time
 */
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
       (id, firm_name, contact_name, work_email, role, expected_volume, use_case, status, reasons, created_at, row_mac)
     SELECT ${id}::uuid, ${request.firmName}, ${request.contactName}, ${request.workEmail}, ${request.role},
       ${request.expectedVolume}, ${request.useCase}, 'pending', ${reasons}::text[], ${at}::timestamptz,
       ${new MacOfRow(table, requestMembers({ ...request, id, createdAt: at }))}::bytea
     WHERE ${wanted}::boolean`,
  );

type OpenRequest = Vouched & { status: RequestStatus };

/**
 * Locks a request and reads the facts for its decision.
 * @throws ServiceError `unavailable` for a request that was altered
 */
export async function selectForDecision(tx: Tx, rowMac: RowMac, id: string): Promise<OpenRequest | undefined> {
  const [found] = await tx.query<OpenRequest>(
    sql`SELECT status, ${factColumns} FROM access_requests WHERE id = ${id} FOR NO KEY UPDATE`,
  );
  if (found) requireSent(rowMac, found);
  return found;
}

/**
 * Opens a task for an operator to review the request.
 * @param wanted false to do the same work but roll it back, so that it takes the same time
 */
export async function openReview(
  tx: Tx,
  { id, firmName, at }: { id: string; firmName: string; at: Date },
  wanted = true,
): Promise<void> {
  await tx.script("SAVEPOINT review");
  const reason = `${firmName} asks for access`;
  await openTask(tx, { kind: "access_request", at, environment: "live", subject: id, reason });
  await tx.script(wanted ? "RELEASE SAVEPOINT review" : "ROLLBACK TO SAVEPOINT review");
}

export const closeReview = (tx: Tx, id: string, end: Omit<TaskEnd, "state">) =>
  closeTasks(tx, { kinds: ["access_request"], subject: id }, { state: "done", ...end });

export const markIssued = (db: Sql, id: string, issued: { partnerId: string; sealedKey: Buffer | null; at: Date }) =>
  db.query(
    sql`UPDATE access_requests
     SET status = 'issued', partner_id = ${issued.partnerId}, sealed_key = ${issued.sealedKey}, decided_at = ${issued.at}
     WHERE id = ${id}`,
  );

export const markDeclined = (db: Sql, id: string, at: Date) =>
  db.query(sql`UPDATE access_requests SET status = 'declined', decided_at = ${at} WHERE id = ${id}`);

/** Reads the facts for a request's mail. @throws ServiceError `unavailable` for a request that was altered */
export async function selectToMail(db: Sql, rowMac: RowMac, id: string) {
  const [found] = await db.query<Vouched & { sealedKey: Buffer | null; notifiedAt: Date | null }>(sql`
    SELECT ${factColumns}, sealed_key AS "sealedKey", told_at AS "notifiedAt" FROM access_requests WHERE id = ${id}`);
  if (found) requireSent(rowMac, found);
  return found;
}

/** Records that the key was mailed, and deletes the stored key, so that only the recipient of the mail has it. */
export const markMailed = (db: Sql, id: string, at: Date) =>
  db.query(sql`UPDATE access_requests SET sealed_key = NULL, mailed_at = ${at} WHERE id = ${id}`);
