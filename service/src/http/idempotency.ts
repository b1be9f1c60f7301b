import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";

/** An answer that was kept for a key, with the fingerprint of the request that earned it. */
export type KeptAnswer = { fingerprint: Buffer; status: number; body: string };

const keptForMs = 24 * 3600 * 1000;

/** Claims made before this instant have lapsed. */
export const claimsExpiredBefore = (now: Date): Date => new Date(now.getTime() - keptForMs);

/** The `Idempotency-Key` header (contract, Order create request), null when not sent. @throws ServiceError out of 8-255. */
export function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || key.length < 8 || key.length > 255)
    throw invalid("Idempotency-Key must have 8 to 255 characters.");
  return key;
}

/** What makes two requests the same: every field, whatever their order, and the document. */
export function fingerprintOf(fields: ReadonlyMap<string, string>, documentSha256: string | null): Buffer {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([sorted, documentSha256]))
    .digest();
}

/** Whose key of which route, with what its request said; the caller is a partner key, or a member by a form. */
export type KeyClaim = { callerId: string; route: string; key: string; fingerprint: Buffer; expiredBefore: Date };

// A request that takes longer has died on the way.
const pendingForMs = 60_000;
const waitForTwinMs = 5_000;
const lookEveryMs = 50;

/** Until when an answer that is being made from `now` on keeps its twins waiting. */
export const pendingUntil = (now: Date): Date => new Date(now.getTime() + pendingForMs);

export const inFlight = (): ServiceError =>
  new ServiceError("idempotency_in_flight", "A request with this Idempotency-Key is still in progress.");

/** `pending`: the answer so far of a request that is in progress; `lapsed` when it has died. */
type Kept = KeptAnswer & { pending: boolean; lapsed: boolean };

async function findKept(sql: Sql, claim: KeyClaim, now: Date): Promise<Kept | null> {
  const [kept] = await sql.rows<Kept>(
    `SELECT fingerprint, status, body, pending_until IS NOT NULL AS pending, coalesce(pending_until < $5, false) AS lapsed
     FROM idempotency_keys WHERE caller_id = $1 AND route = $2 AND idempotency_key = $3 AND created_at >= $4`,
    [claim.callerId, claim.route, claim.key, claim.expiredBefore, now],
  );
  if (kept && !kept.fingerprint.equals(claim.fingerprint))
    throw new ServiceError("idempotency_key_reused", "This Idempotency-Key was used before with another body.");
  return kept ?? null;
}

/**
 * The answer kept for this key, if it has not lapsed; waits up to 5 s for one that is being made.
 * @returns null when there is none; `unfinished` when the request that made it died on the way and this one took it over
 * @throws ServiceError when the key was used with another body, or its twin is still in progress.
 */
export async function keptAnswer(
  sql: Sql,
  claim: KeyClaim,
  clock: Clock,
): Promise<(KeptAnswer & { unfinished: boolean }) | null> {
  for (let waitedMs = 0; waitedMs <= waitForTwinMs; waitedMs += lookEveryMs) {
    const kept = await findKept(sql, claim, clock());
    if (!kept?.pending) return kept && { ...kept, unfinished: false };
    if (kept.lapsed && (await takeOver(sql, claim, clock()))) return { ...kept, unfinished: true };
    await sleep(lookEveryMs);
  }
  throw inFlight();
}

const ofKey = "caller_id = $1 AND route = $2 AND idempotency_key = $3";
const keyOf = ({ callerId, route, key }: KeyClaim): unknown[] => [callerId, route, key];

async function takeOver(sql: Sql, claim: KeyClaim, now: Date): Promise<boolean> {
  const taken = await sql.rows(
    `UPDATE idempotency_keys SET pending_until = $4 WHERE ${ofKey} AND pending_until < $5 RETURNING 1`,
    [...keyOf(claim), pendingUntil(now), now],
  );
  return taken.length === 1;
}

/** Claims a key for an answer that is still to be made. @returns false when there is a claim already */
export async function claimKey(sql: Sql, claim: KeyClaim, now: Date): Promise<boolean> {
  const claimed = await sql.rows(
    `INSERT INTO idempotency_keys (caller_id, route, idempotency_key, fingerprint, status, body, created_at, pending_until)
     VALUES ($1, $2, $3, $4, 0, '', $5, $6)
     ON CONFLICT (caller_id, route, idempotency_key) DO UPDATE
       SET fingerprint = excluded.fingerprint, status = 0, body = '', created_at = excluded.created_at,
         pending_until = excluded.pending_until
       WHERE idempotency_keys.created_at < $7
     RETURNING 1`,
    [...keyOf(claim), claim.fingerprint, now, pendingUntil(now), claim.expiredBefore],
  );
  return claimed.length === 1;
}

/** Keeps the final answer of a claimed key. */
export const finishAnswer = (sql: Sql, claim: KeyClaim, status: number, body: string) =>
  sql.rows(`UPDATE idempotency_keys SET status = $4, body = $5, pending_until = NULL WHERE ${ofKey}`, [
    ...keyOf(claim),
    status,
    body,
  ]);

/** Forgets a claim whose request was refused, so that it may be sent again. */
export const dropClaim = (sql: Sql, claim: KeyClaim) =>
  sql.rows(`DELETE FROM idempotency_keys WHERE ${ofKey} AND pending_until IS NOT NULL`, keyOf(claim));

/** The first answer, byte for byte. */
export function replay(reply: FastifyReply, kept: KeptAnswer): FastifyReply {
  reply.code(kept.status).header("Idempotent-Replayed", "true");
  return reply.type("application/json; charset=utf-8").send(kept.body);
}

/** Forgets lapsed answers. */
export const sweepIdempotencyKeys = (sql: Sql, now: Date) =>
  sql.rows("DELETE FROM idempotency_keys WHERE created_at < $1", [claimsExpiredBefore(now)]);
