import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
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

/** The answer kept for this key, if it has not lapsed. @throws ServiceError when the key was used with another body. */
export async function keptAnswer(
  sql: Sql,
  claim: { keyId: string; route: string; key: string; fingerprint: Buffer; expiredBefore: Date },
): Promise<KeptAnswer | null> {
  const [kept] = await sql.rows<KeptAnswer>(
    `SELECT fingerprint, status, body FROM idempotency_keys
     WHERE partner_key_id = $1 AND route = $2 AND idempotency_key = $3 AND created_at >= $4`,
    [claim.keyId, claim.route, claim.key, claim.expiredBefore],
  );
  if (kept && !kept.fingerprint.equals(claim.fingerprint))
    throw new ServiceError("idempotency_key_reused", "This Idempotency-Key was used before with another body.");
  return kept ?? null;
}

/** The first answer, byte for byte. */
export function replay(reply: FastifyReply, kept: KeptAnswer): FastifyReply {
  reply.code(kept.status).header("Idempotent-Replayed", "true");
  return reply.type("application/json; charset=utf-8").send(kept.body);
}

/** Forgets lapsed answers. */
export const sweepIdempotencyKeys = (sql: Sql, now: Date) =>
  sql.rows("DELETE FROM idempotency_keys WHERE created_at < $1", [claimsExpiredBefore(now)]);
