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
import { emailOf } from "../members/members.ts";
import { joinFirm, type MarkedFirm, markedFirm, verifiedFirm, withFirmNames } from "../partners/partners.ts";

export type LiveRequest = {
  id: string;
  partnerId: string;
  firmName: string;
  contactEmail: string | null;
  /** The email address of the person who made the request; null once that person has left the service. */
  askedBy: string | null;
  askedAt: Date;
  state: "asked" | "granted" | "refused";
  decidedAt: Date | null;
  note: string | null;
};

/** The MAC covers all columns of a request for live access. */
const requestState: StateMac = {
  table: sql`live_requests`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    r,
  ) => sql`${r}.id, ${r}.partner_id, ${r}.asked_by, extract(epoch FROM ${r}.asked_at), ${r}.state, ${r}.decided_by,
    extract(epoch FROM ${r}.decided_at), ${r}.note`,
};

export const protectedTables = [stateRows(requestState)];

const verifiedRequest = sql`${verified(requestState, sql`r`)}, ${verifiedFirm}`;
const markedRequest = sql`${marked(requestState, sql`r`)}, ${markedFirm}`;

const requests = (where: Statement, macs = verifiedRequest): Statement => sql`
  SELECT r.id, r.partner_id AS "partnerId", p.name AS "firmName", p.contact_email AS "contactEmail", ${emailOf(sql`r.asked_by`)} AS "askedBy",
    r.asked_at AS "askedAt", r.state, r.decided_at AS "decidedAt", r.note, ${macs}
  FROM live_requests r ${joinFirm(sql`r.partner_id`)}
  WHERE ${where}`;

const maxListed = 100;

/** The open requests, the oldest first. */
export const selectOpen = (db: Sql) =>
  db.query<LiveRequest & Marked & MarkedFirm>(sql`
    ${requests(sql`r.state = 'asked'`, markedRequest)} ORDER BY r.asked_at, r.id LIMIT ${maxListed}`);

export type DecidedLiveRequest = Pick<LiveRequest, "firmName" | "state" | "decidedAt">;

/** The decided requests, the latest first. Requests that were altered in the database are left out. */
export async function selectDecided(db: Sql, limit: number): Promise<DecidedLiveRequest[]> {
  const rows = await db.query<DecidedLiveRequest & Marked & MarkedFirm>(sql`
    SELECT p.name AS "firmName", r.state, r.decided_at AS "decidedAt", ${markedRequest}
    FROM live_requests r ${joinFirm(sql`r.partner_id`)}
    WHERE r.state <> 'asked' ORDER BY r.decided_at DESC, r.id LIMIT ${limit}`);
  return withFirmNames(rows.filter(({ isAuthentic }) => isAuthentic));
}

export async function selectRequest(db: Sql, id: string): Promise<LiveRequest | undefined> {
  const [found] = await db.query<LiveRequest>(requests(sql`r.id = ${id}`));
  return found;
}

export async function selectLatest(db: Sql, partnerId: string): Promise<LiveRequest | undefined> {
  const [found] = await db.query<LiveRequest>(
    sql`${requests(sql`r.partner_id = ${partnerId}`)} ORDER BY r.asked_at DESC, r.id LIMIT 1`,
  );
  return found;
}

type NewRequest = { id: string; partnerId: string; askedBy: string; at: Date };

/** Records a firm's request for live access. @returns false when the firm already has an open request */
export async function insertRequest(tx: Tx, { id, partnerId, askedBy, at }: NewRequest): Promise<boolean> {
  const inserted = await tx.query(sql`
    INSERT INTO live_requests (id, partner_id, asked_by, asked_at) VALUES (${id}, ${partnerId}, ${askedBy}, ${at})
    ON CONFLICT (partner_id) WHERE state = 'asked' DO NOTHING RETURNING id`);
  if (inserted.length > 0) await writeStateMacs(tx, requestState, sql`id = ${id}`);
  return inserted.length > 0;
}

type Decision = { state: "granted" | "refused"; by: string; at: Date; note: string | null };

export const decideRequest = (tx: Tx, id: string, { state, by, at, note }: Decision): Promise<void> =>
  changeRow(tx, requestState, id, sql`state = ${state}, decided_by = ${by}, decided_at = ${at}, note = ${note}`);

/**
 * The numbers of a firm's completed test orders and of all its test orders. They show an operator whether the firm has
 * tried the service.
 */
export async function selectTestOrders(db: Sql, partnerId: string): Promise<{ completed: number; all: number }> {
  const [row] = await db.query<{ completed: number; all: number }>(sql`
    SELECT (count(*) FILTER (WHERE status = 'Completed'))::int AS completed, count(*)::int AS "all"
    FROM orders WHERE partner_id = ${partnerId} AND environment = 'test'`);
  return row ?? { completed: 0, all: 0 };
}
