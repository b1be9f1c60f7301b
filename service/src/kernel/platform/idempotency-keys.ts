/** The rows of `Idempotency-Key` headers. Each row claims its key and stores the result to replay, for one day. */
import { createHash } from "node:crypto";
import type { Owner } from "../identity/identity.ts";
import { dayMs } from "./clock.ts";
import type { Sql } from "./database/database.ts";
import { type Statement, sealed, sql, type ToSeal } from "./database/sql.ts";
import { ServiceError } from "./errors.ts";
import type { ProtectedTable } from "./protected-data.ts";

const retentionMs = dayMs;

const retentionStart = (now: Date): Date => new Date(now.getTime() - retentionMs);

/** A key of a firm in one environment, its route, and a fingerprint of the request's content. */
export type RequestKey = { owner: Owner; route: string; key: string; fingerprint: Buffer };

/**
 * The idempotency key of a firm's request; null when none was sent. It belongs to the firm, not to an API key or a
 * member. So a retry with a new API key is still recognized.
 */
export function requestKey(
  { partnerId, environment }: Owner,
  route: string,
  key: string | null,
  fingerprint: Buffer,
): RequestKey | null {
  return key === null ? null : { owner: { partnerId, environment }, route, key, fingerprint };
}

/**
 * A fingerprint of a request's content. It is equal for requests with the same document and the same fields, in any
 * order.
 */
export function fingerprintOf(fields: ReadonlyMap<string, string>, documentSha256: string | null): Buffer {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([sorted, documentSha256]))
    .digest();
}

/** The status and result that are stored for a request. `result` is null while the work has no result yet. */
export type Stored = { status: number; result: object | null };

/** Parses a result that an earlier release stored as a text. Only the routes of web pages stored such results. */
type ReadText = ((text: string) => object) | undefined;

const nothingDone = "";

const textOf = (result: object | null): string => (result === null ? nothingDone : JSON.stringify(result));

function resultOf(text: string, readText: ReadText): object | null {
  if (text === nothingDone) return null;
  return readText && !text.startsWith("{") ? readText(text) : JSON.parse(text);
}

// A stored result is encrypted, because it contains codes of rooms and passports. This text precedes the result in the
// encrypted text, and binds it to the firm and the key. So a result that somebody moves to another firm's row can't be
// replayed.
const boundTo = ({ owner, route, key }: RequestKey): string =>
  `${owner.partnerId} ${owner.environment} ${route} ${key}\n`;

// The text that `boundTo` returns, computed in SQL, without the line feed at its end.
const boundKey = sql`partner_id || ' ' || environment || ' ' || route || ' ' || idempotency_key`;

export const resultRows: ProtectedTable = {
  table: sql`idempotency_keys`,
  key: boundKey,
  texts: [
    {
      kind: "answer",
      column: sql`body`,
      by: boundKey,
      constraint: "idempotency_keys_body_sealed",
      text: sql`${boundKey} || E'\\n' || body`,
    },
  ],
};

const sealedResult = (key: RequestKey, result: object | null): ToSeal =>
  sealed("answer", boundTo(key) + textOf(result));

function openedText(key: RequestKey, opened: string): string {
  if (!opened.startsWith(boundTo(key)))
    throw new ServiceError("unavailable", "The response of this Idempotency-Key can't be read.");
  return opened.slice(boundTo(key).length);
}

// The time at which a request in progress counts as abandoned. It is computed by the database's clock, because the
// clocks of nodes differ.
const pendingUntil = sql`now() + interval '60 seconds'`;

/** A request's claim of its key. The claim's id tells it apart from the claim of a later request that takes over. */
export type KeyClaim = { key: RequestKey; id: string };

/**
 * The INSERT that claims a key. If an open transaction has claimed the same key, the INSERT waits for that transaction.
 * If a committed row with the key has not expired, the INSERT returns no row.
 */
export function claimStatement(
  { key, id }: KeyClaim,
  { status, result }: Stored,
  isFinal: boolean,
  now: Date,
): Statement {
  return sql`
    INSERT INTO idempotency_keys (partner_id, environment, route, idempotency_key, fingerprint, status, body, created_at,
      pending_until, claim)
    VALUES (${key.owner.partnerId}, ${key.owner.environment}, ${key.route}, ${key.key}, ${key.fingerprint}, ${status},
      ${sealedResult(key, result)}, ${now}, ${isFinal ? sql`NULL` : pendingUntil}, ${id})
    ON CONFLICT (partner_id, environment, route, idempotency_key) DO UPDATE
      SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
        created_at = excluded.created_at, pending_until = excluded.pending_until, claim = excluded.claim
      WHERE idempotency_keys.created_at < ${retentionStart(now)}
    RETURNING 1`;
}

const ofKey = ({ owner, route, key }: RequestKey): Statement =>
  sql`partner_id = ${owner.partnerId} AND environment = ${owner.environment} AND route = ${route}
    AND idempotency_key = ${key}`;

/**
 * `isPending`: the request is in progress or abandoned. `isAbandoned`: the request has taken too long, or failed with
 * an unknown outcome.
 */
export type Found = Stored & { isPending: boolean; isAbandoned: boolean };

/**
 * The stored result of an earlier request with this key; undefined for a new or expired key.
 * @throws ServiceError when the key was used with another body, or when the stored result can't be read
 */
export async function findKey(db: Sql, key: RequestKey, now: Date, readText: ReadText): Promise<Found | undefined> {
  const [found] = await db.query<Omit<Found, "result"> & { fingerprint: Buffer; text: string }>(sql`
    SELECT fingerprint, status, body AS "text@answer", pending_until IS NOT NULL AS "isPending",
      coalesce(pending_until < now(), false) AS "isAbandoned"
    FROM idempotency_keys WHERE ${ofKey(key)} AND created_at >= ${retentionStart(now)}`);
  if (!found) return undefined;
  const { fingerprint, text, ...row } = found;
  if (!fingerprint.equals(key.fingerprint))
    throw new ServiceError("idempotency_key_reused", "This Idempotency-Key was used before with another body.");
  return { ...row, result: resultOf(openedText(key, text), readText) };
}

const ofClaim = ({ key, id }: KeyClaim): Statement =>
  sql`${ofKey(key)} AND claim = ${id} AND pending_until IS NOT NULL`;

/**
 * Moves the claim of an abandoned request to the caller.
 * @returns false when another request has taken the claim over first
 */
export async function reclaimKey(db: Sql, { key, id }: KeyClaim): Promise<boolean> {
  const reclaimed = await db.query(sql`
    UPDATE idempotency_keys SET pending_until = ${pendingUntil}, claim = ${id}
    WHERE ${ofKey(key)} AND pending_until < now() RETURNING 1`);
  return reclaimed.length === 1;
}

/** Stores the final result of a claimed key. @returns false when another request has taken over the claim */
export async function completeKey(db: Sql, claim: KeyClaim, { status, result }: Stored): Promise<boolean> {
  const completed = await db.query(sql`
    UPDATE idempotency_keys SET status = ${status}, body = ${sealedResult(claim.key, result)}, pending_until = NULL
    WHERE ${ofClaim(claim)} RETURNING 1`);
  return completed.length === 1;
}

/**
 * Marks a request as abandoned at once, because it failed with an unknown outcome. Its claim stays, because the work
 * may have been done.
 */
export const abandonKey = (db: Sql, claim: KeyClaim) =>
  db.query(sql`UPDATE idempotency_keys SET pending_until = now() WHERE ${ofClaim(claim)}`);

/** Deletes the claim of a request that was refused, so that the key may be used again. */
export const releaseKey = (db: Sql, claim: KeyClaim) =>
  db.query(sql`DELETE FROM idempotency_keys WHERE ${ofClaim(claim)}`);

/** Deletes expired keys. */
export const sweepIdempotencyKeys = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM idempotency_keys WHERE created_at < ${retentionStart(now)}`);

/** For an advanced test clock: makes the keys of a firm's finished test requests expire this many seconds earlier. */
export const ageTestIdempotencyKeys = (db: Sql, partnerId: string, seconds: number) =>
  db.query(sql`
    UPDATE idempotency_keys SET created_at = created_at - make_interval(secs => ${seconds})
    WHERE partner_id = ${partnerId} AND environment = 'test' AND pending_until IS NULL AND created_at > now() - ${retentionMs} * interval '1 ms'`);
