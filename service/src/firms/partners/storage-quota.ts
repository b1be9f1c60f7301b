import type { Principal } from "../../kernel/identity/identity.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql, unionAll } from "../../kernel/platform/database/sql.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { notDeleted } from "../../kernel/retention/retention.ts";

/** Checks that a firm may store this many more bytes. @throws ServiceError when they would exceed its tier's limit */
export type RequireStorage = (firm: Pick<Principal, "partnerId" | "tier">, bytes: number) => Promise<void>;

// The interval between reads of a firm's stored bytes. Between two reads, this node adds the bytes that it accepts,
// even for orders that are then refused.
const rereadMs = minuteMs;
const maxCached = 10_000;

type CachedUse = { bytes: Promise<number>; added: number; until: number };

/** A firm's stored bytes and its tier's limit; null for a tier without a limit, whose documents are not counted. */
export type StorageUse = (firm: { partnerId: string; tier: string }) => Promise<{ stored: number; max: number } | null>;

export const storageUse =
  (db: Sql, maxBytesOf: (tier: string) => number, blobs: readonly StoredBlobs[]): StorageUse =>
  async ({ partnerId, tier }) => {
    const max = maxBytesOf(tier);
    return max === Number.POSITIVE_INFINITY ? null : { stored: await readStoredBytes(db, partnerId, blobs), max };
  };

/**
 * Selects the columns `blob_key` and `bytes` of the blobs that one feature stores for a firm. Each feature declares its
 * own selection.
 */
export type StoredBlobs = (partnerId: string) => Statement;

async function readStoredBytes(db: Sql, partnerId: string, blobs: readonly StoredBlobs[]): Promise<number> {
  const [row] = await db.query<{ bytes: number }>(sql`
    SELECT coalesce(sum(stored.bytes), 0)::bigint AS bytes FROM (
      ${unionAll(blobs.map((of) => of(partnerId)))}
    ) AS stored
    WHERE blob_key IS NOT NULL AND ${notDeleted(sql`stored.blob_key`)}`);
  return row?.bytes ?? 0;
}

/**
 * Creates the check of how many bytes a firm may store.
 * @param maxBytesOf the tier's limit; Infinity for a tier without a limit, whose documents are not counted
 */
export function createStorageQuota(
  { db, clock }: { db: Sql; clock: Clock },
  maxBytesOf: (tier: string) => number,
  blobs: readonly StoredBlobs[],
): RequireStorage {
  const cache = new Map<string, CachedUse>();

  function useOf(partnerId: string): CachedUse {
    const now = clock().getTime();
    const present = cache.get(partnerId);
    if (present && now < present.until) return present;
    if (cache.size >= maxCached) cache.clear();
    const bytes = readStoredBytes(db, partnerId, blobs);
    // Forgets a read that failed, so that the next call reads again.
    bytes.catch(() => cache.delete(partnerId));
    const next = { bytes, added: 0, until: now + rereadMs };
    cache.set(partnerId, next);
    return next;
  }

  return async ({ partnerId, tier }, bytes) => {
    const max = maxBytesOf(tier);
    if (max === Number.POSITIVE_INFINITY) return;
    const firm = useOf(partnerId);
    const stored = (await firm.bytes) + firm.added;
    if (stored + bytes > max)
      throw invalid(`Your ${tier} tier allows ${Math.floor(max / 1_000_000)} MB of stored documents.`);
    firm.added += bytes;
  };
}
