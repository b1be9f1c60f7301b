/**
 * Requests that may be sent again: done once for each key, and answered alike each time (contract, Idempotency-Key).
 *
 * A key is claimed by a row that also keeps the response. While that is not final, duplicates wait for it; when the process that
 * claimed it died, one of them takes over and continues from the stored response.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Owner } from "../identity/identity.ts";
import { type Clock, dayMs } from "./clock.ts";
import type { Sql } from "./database/database.ts";
import { type Statement, sealed, sql, type ToSeal } from "./database/sql.ts";
import { waitedForRowOf } from "./database/sql-errors.ts";
import { ServiceError } from "./errors.ts";

const retentionMs = dayMs;
// A request that takes longer counts as abandoned.
const pendingTimeoutMs = 60_000;
const duplicateTimeoutMs = 5_000;
const pollMs = 50;

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

/** A key of a firm in one environment, the route it was sent to, and a fingerprint of the request's content. */
export type RequestKey = { owner: Owner; route: string; key: string; fingerprint: Buffer };

/**
 * The key of a principal's request, or null when none was sent. It belongs to the firm rather than to the API key or the member,
 * so that a retry after a rotation is still a retry.
 */
export function requestKey(
  { partnerId, environment }: Owner,
  route: string,
  key: string | null,
  fingerprint: Buffer,
): RequestKey | null {
  return key === null ? null : { owner: { partnerId, environment }, route, key, fingerprint };
}

/** What makes two requests the same: every field, whatever their order, and the document. */
export function fingerprintOf(fields: ReadonlyMap<string, string>, documentSha256: string | null): Buffer {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([sorted, documentSha256]))
    .digest();
}

/** What a key replays, byte for byte. */
export type StoredResponse = { status: number; body: string };

/** The response body so far; one that is not final is handed to `finish`. */
export type Progress = { body: string; final: boolean };

/** The insert that claims a key. It returns a row when the key is ours, and none when a duplicate was first. */
export type Claim = (progress: Progress) => Statement;

const nothingDone: Progress = { body: "", final: false };

export type Work = {
  status: number;
  /**
   * Claims the key in the very statement that does the work. Without it the key is claimed on its own, before `finish`.
   * @param claim null for a request without a key
   * @returns null when the key was already claimed; then nothing was written
   */
  begin?: (claim: Claim | null) => Promise<Progress | null>;
  /**
   * Makes the final body; repeated by another request when the process dies meanwhile.
   * @param soFar the body of `begin`
   */
  finish: (soFar: string) => Promise<string>;
};

export type OnceDeps = { db: Sql; clock: Clock };

/**
 * Does a request's work once for its key. What `begin` and `finish` throw is not kept: the key is free again, unless `begin`
 * has written something.
 * @returns the response, and whether it is that of an earlier request
 * @throws ServiceError when the key was used with another body, or a duplicate is still in progress after 5 s
 */
export async function once(
  deps: OnceDeps,
  key: RequestKey | null,
  { status, begin = claimAlone(deps.db), finish }: Work,
): Promise<StoredResponse & { replayed: boolean }> {
  const begun = key ? await beginOrReplay(deps, key, status, begin) : await begin(null);
  if (begun === null) throw new Error("work without a key did not begin");
  if ("status" in begun) return { ...begun, replayed: true };
  if (begun.final) return { status, body: begun.body, replayed: false };
  const body = await finish(begun.body).catch(async (error) => {
    if (key && begun.body === nothingDone.body) await releaseKey(deps.db, key);
    throw error;
  });
  if (key) await completeKey(deps.db, key, { status, body });
  return { status, body, replayed: false };
}

/** Keeps a request's answer in the transaction that does its work, so that both are there or neither is. */
export type RecordAnswer = (tx: Sql, answer: object) => Promise<void>;

export const recordNothing: RecordAnswer = async () => {};

/**
 * Like `once`, for work that ends in a transaction: that transaction calls `record` with the final answer.
 * @param work its answer; what it throws is not kept
 */
export const onceRecorded = (
  deps: OnceDeps,
  key: RequestKey | null,
  { status, work }: { status: number; work: (record: RecordAnswer) => Promise<object> },
): Promise<StoredResponse & { replayed: boolean }> =>
  once(deps, key, {
    status,
    begin: async (claim) => {
      try {
        return { body: JSON.stringify(await work(claim ? recordWith(claim) : recordNothing)), final: true };
      } catch (error) {
        if (error instanceof AlreadyClaimed) return null;
        throw error;
      }
    },
    finish: async (body) => body,
  });

/** Rolls the work's transaction back: a duplicate was first. */
class AlreadyClaimed extends Error {}

const recordWith =
  (claim: Claim): RecordAnswer =>
  async (tx, answer) => {
    const claimed = await tx.query(claim({ body: JSON.stringify(answer), final: true }));
    if (claimed.length === 0) throw new AlreadyClaimed("the key was claimed by an earlier request");
  };

const claimAlone =
  (db: Sql): NonNullable<Work["begin"]> =>
  async (claim) => {
    const claimed = claim ? await db.query(claim(nothingDone)) : [true];
    return claimed.length === 1 ? nothingDone : null;
  };

async function beginOrReplay(
  { db, clock }: OnceDeps,
  key: RequestKey,
  status: number,
  begin: NonNullable<Work["begin"]>,
): Promise<Progress | StoredResponse> {
  for (let waitedMs = 0; waitedMs <= duplicateTimeoutMs; waitedMs += pollMs) {
    const now = clock();
    const stored = await findResponse(db, key, now);
    if (stored && !stored.pending) return { status: stored.status, body: stored.body };
    if (stored?.abandoned && (await takeOver(db, key, now))) return { body: stored.body, final: false };
    if (stored) await sleep(pollMs);
    else {
      const begun = await begin((progress) => claimStatement(key, status, progress, now)).catch((error) => {
        // The statement waited for a duplicate's transaction until the lock timeout. Other locks, as a migration's, make it 503.
        throw waitedForRowOf("idempotency_keys", error) ? inFlight() : error;
      });
      if (begun) return begun;
    }
  }
  throw inFlight();
}

const inFlight = (): ServiceError =>
  new ServiceError("idempotency_in_flight", "A request with this Idempotency-Key is still in progress.");

// A response names codes of rooms and passports. It is bound to its key: moved to another firm's row it is none.
const boundTo = ({ owner, route, key }: RequestKey): string =>
  `${owner.partnerId} ${owner.environment} ${route} ${key}\n`;

const sealedBody = (key: RequestKey, body: string): ToSeal => sealed("answer", boundTo(key) + body);

function bodyOf(key: RequestKey, opened: string): string {
  if (!opened.startsWith(boundTo(key)))
    throw new ServiceError("unavailable", "The response of this Idempotency-Key can't be read.");
  return opened.slice(boundTo(key).length);
}

/** A claim of the same key that is in flight makes this statement wait for its end; one that is kept makes it return no row. */
function claimStatement(key: RequestKey, status: number, { body, final }: Progress, now: Date): Statement {
  return sql`
    INSERT INTO idempotency_keys (partner_id, environment, route, idempotency_key, fingerprint, status, body, created_at,
      pending_until)
    VALUES (${key.owner.partnerId}, ${key.owner.environment}, ${key.route}, ${key.key}, ${key.fingerprint}, ${status},
      ${sealedBody(key, body)}, ${now}, ${final ? null : after(now, pendingTimeoutMs)})
    ON CONFLICT (partner_id, environment, route, idempotency_key) DO UPDATE
      SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
        created_at = excluded.created_at, pending_until = excluded.pending_until
      WHERE idempotency_keys.created_at < ${after(now, -retentionMs)}
    RETURNING 1`;
}

const ofKey = ({ owner, route, key }: RequestKey): Statement =>
  sql`partner_id = ${owner.partnerId} AND environment = ${owner.environment} AND route = ${route}
    AND idempotency_key = ${key}`;

/** `pending`: the response so far of a request that is in progress; `abandoned` when it took too long. */
type Found = StoredResponse & { pending: boolean; abandoned: boolean };

async function findResponse(db: Sql, key: RequestKey, now: Date): Promise<Found | undefined> {
  const [found] = await db.query<Found & { fingerprint: Buffer }>(sql`
    SELECT fingerprint, status, body AS "body@answer", pending_until IS NOT NULL AS pending,
      coalesce(pending_until < ${now}, false) AS abandoned
    FROM idempotency_keys WHERE ${ofKey(key)} AND created_at >= ${after(now, -retentionMs)}`);
  if (found && !found.fingerprint.equals(key.fingerprint))
    throw new ServiceError("idempotency_key_reused", "This Idempotency-Key was used before with another body.");
  return found && { ...found, body: bodyOf(key, found.body) };
}

async function takeOver(db: Sql, key: RequestKey, now: Date): Promise<boolean> {
  const taken = await db.query(sql`
    UPDATE idempotency_keys SET pending_until = ${after(now, pendingTimeoutMs)}
    WHERE ${ofKey(key)} AND pending_until < ${now} RETURNING 1`);
  return taken.length === 1;
}

/** Keeps the final response of a claimed key. */
const completeKey = (db: Sql, key: RequestKey, { status, body }: StoredResponse) =>
  db.query(sql`
    UPDATE idempotency_keys SET status = ${status}, body = ${sealedBody(key, body)}, pending_until = NULL WHERE ${ofKey(key)}`);

/** Forgets a claim whose request was refused, so that it may be sent again. */
const releaseKey = (db: Sql, key: RequestKey) =>
  db.query(sql`DELETE FROM idempotency_keys WHERE ${ofKey(key)} AND pending_until IS NOT NULL`);

/** Forgets expired keys. */
export const sweepIdempotencyKeys = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM idempotency_keys WHERE created_at < ${after(now, -retentionMs)}`);

/** Ends the 24 hours of a firm's finished test requests so many seconds earlier. */
export const ageTestIdempotencyKeys = (db: Sql, partnerId: string, seconds: number) =>
  db.query(sql`
    UPDATE idempotency_keys SET created_at = created_at - make_interval(secs => ${seconds})
    WHERE partner_id = ${partnerId} AND environment = 'test' AND pending_until IS NULL AND created_at > now() - ${retentionMs} * interval '1 ms'`);
