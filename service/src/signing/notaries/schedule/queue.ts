/** The rows of the queue for meetings “now”: the notaries on duty, and the orders that request a meeting. */

import type { Environment } from "../../../kernel/identity/identity.ts";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { fromTasks } from "../../../kernel/tasks/tasks.ts";
import { joinOrder } from "../../../orders/order/order.ts";

export type RequestOutcome = "met" | "left" | "booked" | "expired" | "elsewhere";

/** A request of an order's people to meet a notary at once. */
export type NotaryRequest = {
  id: string;
  orderId: number;
  askedAt: Date;
  expiresAt: Date;
  state: "waiting" | "taken" | "ended";
  outcome: RequestOutcome | null;
  /** The notary who accepted the request; null while nobody has. */
  notaryId: string | null;
  takenAt: Date | null;
  /**
   * True if the notary had claimed the order before accepting the request. No decision depends on it any more. It stays
   * because the MACs of stored rows cover it, and because nodes of earlier releases let such a notary keep the order.
   */
  keepsClaim: boolean;
};

const dutyState: StateMac = {
  table: sql`notary_duty`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (d) =>
    sql`${d}.id, ${d}.notary_id, ${d}.environment, extract(epoch FROM ${d}.since), extract(epoch FROM ${d}.until)`,
};

/**
 * The MAC covers `taken_at` with a minus sign if `keeps_claim` is set, and without a sign otherwise. So MACs that were
 * computed before the column `keeps_claim` existed stay valid.
 */
const requestState: StateMac = {
  table: sql`notary_requests`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (r) => sql`${r}.id, ${r}.order_id, extract(epoch FROM ${r}.asked_at), extract(epoch FROM ${r}.expires_at),
    ${r}.state, ${r}.outcome, ${r}.notary_id,
    extract(epoch FROM ${r}.taken_at) * CASE WHEN ${r}.keeps_claim THEN -1 ELSE 1 END, extract(epoch FROM ${r}.ended_at)`,
};

export const queueTables = [stateRows(dutyState), stateRows(requestState)];

/** The notaries on duty, each with the time when the duty ends. Skips rows whose MAC is invalid. */
export async function onDuty(db: Sql, environment: Environment, now: Date): Promise<ReadonlyMap<string, Date>> {
  const rows = await db.query<{ notaryId: string; until: Date } & Marked>(sql`
    SELECT d.notary_id AS "notaryId", d.until, ${marked(dutyState, sql`d`)} FROM notary_duty d
    WHERE d.environment = ${environment} AND d.until > ${now}`);
  return new Map(rows.filter(({ isAuthentic }) => isAuthentic).map(({ notaryId, until }) => [notaryId, until]));
}

/**
 * True if any notary is on duty, in either environment. Pages use this only to decide if they show the link to the
 * queue. The queue's page checks which notaries may act.
 */
export async function isAnyOnDuty(db: Sql): Promise<boolean> {
  return (await db.query(sql`SELECT FROM notary_duty WHERE until > now() LIMIT 1`)).length > 0;
}

/** Stores when a notary's duty began and when it ends. The transaction must have locked the notary. */
export async function writeDuty(
  tx: Tx,
  { notaryId, environment }: { notaryId: string; environment: Environment },
  { since, until }: { since: Date; until: Date },
): Promise<void> {
  await tx.query(sql`
    INSERT INTO notary_duty (notary_id, environment, since, until) VALUES (${notaryId}, ${environment}, ${since}, ${until})
    ON CONFLICT (notary_id, environment) DO UPDATE SET since = excluded.since, until = excluded.until`);
  await writeStateMacs(tx, dutyState, sql`notary_id = ${notaryId} AND environment = ${environment}`);
}

const select = (seen: Statement): Statement => sql`
  SELECT r.id, r.order_id AS "orderId", r.asked_at AS "askedAt", r.expires_at AS "expiresAt", r.state, r.outcome,
    r.notary_id AS "notaryId", r.taken_at AS "takenAt", r.keeps_claim AS "keepsClaim", ${seen}
  FROM notary_requests r`;

/**
 * Finds the open request of an order.
 * @param lock an SQL clause that locks the request until the transaction ends. The order must be locked before. Without
 * a clause, nothing is locked
 */
export async function openRequestOf(
  db: Sql,
  orderId: number,
  lock: Statement = nothing,
): Promise<NotaryRequest | undefined> {
  const [found] = await db.query<NotaryRequest>(sql`
    ${select(verified(requestState, sql`r`))} WHERE r.order_id = ${orderId} AND r.state <> 'ended' ${lock}`);
  return found;
}

export const lockRequest = (tx: Tx, orderId: number) => openRequestOf(tx, orderId, sql`FOR NO KEY UPDATE`);

/**
 * The latest request of an order, even if it has ended. Requests are sorted by `ended_at`, because advancing the test
 * clock changes `asked_at` of open requests.
 */
export async function latestRequestOf(db: Sql, orderId: number): Promise<NotaryRequest | undefined> {
  const [found] = await db.query<NotaryRequest>(sql`
    ${select(verified(requestState, sql`r`))} WHERE r.order_id = ${orderId}
    ORDER BY r.state <> 'ended' DESC, r.ended_at DESC, r.id LIMIT 1`);
  return found;
}

export async function countRequests(db: Sql, orderId: number, since: Date): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM notary_requests WHERE order_id = ${orderId} AND asked_at > ${since}`,
  );
  return row?.n ?? 0;
}

/** The open requests, oldest first. Skips rows whose MAC is invalid; skipped rows don't count toward `limit`. */
export async function openRequests(db: Sql, environment: Environment, limit: number): Promise<NotaryRequest[]> {
  const found: NotaryRequest[] = [];
  for (let offset = 0; ; offset += limit) {
    const page = await db.query<NotaryRequest & Marked>(sql`
      ${select(marked(requestState, sql`r`))} ${joinOrder(sql`r.order_id`)}
      WHERE r.state <> 'ended' AND o.environment = ${environment} ORDER BY r.asked_at, r.id LIMIT ${limit} OFFSET ${offset}`);
    found.push(...page.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...request }) => request));
    if (found.length >= limit || page.length < limit) return found.slice(0, limit);
  }
}

/**
 * Counts the open requests in an environment, and those of one firm among them. Concurrent transactions count one after
 * another, so together they can't exceed the limits.
 */
export async function countOpenLocked(tx: Tx, environment: Environment, partnerId: string) {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`notary_requests ${environment}`}, 0))`);
  const [row] = await tx.query<{ all: number; firm: number }>(sql`
    SELECT count(*)::int AS "all", (count(*) FILTER (WHERE o.partner_id = ${partnerId}))::int AS firm
    FROM notary_requests r ${joinOrder(sql`r.order_id`)}
    WHERE r.state <> 'ended' AND o.environment = ${environment}`);
  return row ?? { all: 0, firm: 0 };
}

type NewRequest = Pick<NotaryRequest, "id" | "orderId" | "askedAt" | "expiresAt">;

/** Stores a new request. The caller must have locked the order, which must have no open request. */
export async function insertRequest(tx: Tx, { id, orderId, askedAt, expiresAt }: NewRequest): Promise<void> {
  await tx.query(sql`
    INSERT INTO notary_requests (id, order_id, asked_at, expires_at) VALUES (${id}, ${orderId}, ${askedAt}, ${expiresAt})`);
  await writeStateMacs(tx, requestState, sql`id = ${id}`);
}

const change = (tx: Tx, id: string, set: Statement): Promise<void> => changeRow(tx, requestState, id, set);

/** Stores that a notary has accepted a request. The caller must have locked the request. */
export const setAccepted = (
  tx: Tx,
  id: string,
  { notaryId, keepsClaim, at }: { notaryId: string; keepsClaim: boolean; at: Date },
): Promise<void> =>
  change(tx, id, sql`state = 'taken', notary_id = ${notaryId}, taken_at = ${at}, keeps_claim = ${keepsClaim}`);

/** Returns an accepted request to its old position in the queue. The caller must have locked the request. */
export const setWaiting = (tx: Tx, id: string, expiresAt: Date): Promise<void> =>
  change(
    tx,
    id,
    sql`state = 'waiting', notary_id = NULL, taken_at = NULL, keeps_claim = false, expires_at = ${expiresAt}`,
  );

/** Ends a request with its outcome. The caller must have locked the request. */
export const setEnded = (tx: Tx, id: string, outcome: RequestOutcome, at: Date): Promise<void> =>
  change(tx, id, sql`state = 'ended', outcome = ${outcome}, ended_at = ${at}`);

/** Ends the order's open request, if there is one. The caller must have locked the order. */
export async function endRequestOf(tx: Tx, orderId: number, outcome: RequestOutcome, at: Date): Promise<void> {
  const request = await lockRequest(tx, orderId);
  if (request) await setEnded(tx, request.id, outcome, at);
}

/**
 * Finds open requests that must be ended or returned to the queue: those that nobody accepted in time, and those whose
 * order no longer waits for a notary. Also finds accepted requests whose notary did not open the session in time, or
 * has released the order.
 */
export const requestsToLookAt = (db: Sql, now: Date, acceptedBefore: Date) =>
  db.query<{ orderId: number }>(sql`
    SELECT r.order_id AS "orderId" FROM notary_requests r ${joinOrder(sql`r.order_id`)}
    WHERE r.state <> 'ended' AND (o.status <> 'NotarizationPending' OR r.state = 'waiting' AND r.expires_at <= ${now}
      OR r.state = 'taken' AND (r.taken_at <= ${acceptedBefore} OR NOT EXISTS (
        SELECT ${fromTasks} JOIN notaries n ON t.claimed_by = 'operator:' || n.operator_id
        WHERE t.order_id = o.id AND t.kind = 'notarize' AND t.state = 'claimed' AND n.id = r.notary_id)))
    ORDER BY r.asked_at LIMIT 200`);

/** Moves the open requests of a firm's test orders earlier by this many seconds. */
export async function bringRequestsNearer(tx: Tx, partnerId: string, seconds: number): Promise<void> {
  const open = await tx.query<{ id: string } & Marked>(sql`
    SELECT r.id, ${marked(requestState, sql`r`)} FROM notary_requests r ${joinOrder(sql`r.order_id`)}
    WHERE o.partner_id = ${partnerId} AND o.environment = 'test' AND r.state <> 'ended' ORDER BY r.id FOR NO KEY UPDATE OF r`);
  const which = sql`id = ANY (${open.filter(({ isAuthentic }) => isAuthentic).map(({ id }) => id)}::uuid[])`;
  const by = sql`make_interval(secs => ${seconds})`;
  await tx.query(sql`
    UPDATE notary_requests SET asked_at = asked_at - ${by}, expires_at = expires_at - ${by}, taken_at = taken_at - ${by}
    WHERE ${which}`);
  await writeStateMacs(tx, requestState, which);
}
