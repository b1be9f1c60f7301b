import { hourMs } from "../clock.ts";
import type { Sql } from "../database/database.ts";
import { type Statement, sql } from "../database/sql.ts";
import type { Blobs } from "./blobs.ts";

// The age below which a blob is not an orphan. A blob is written before the row that refers to it, so a young blob may
// still get its row.
const graceMs = hourMs;

/** Selects, among these keys, those of blobs that are marked as deleted. Rows may still refer to such blobs. */
type MarkedAmong = (keys: readonly string[]) => Promise<ReadonlySet<string>>;

export type OrphanDeps = {
  db: Sql;
  blobs: Blobs;
  /** All tables whose rows refer to blobs. */
  blobTables: readonly { table: Statement }[];
  markedAmong: MarkedAmong;
};

/**
 * Removes blobs without a row, which refused or interrupted uploads leave behind. Also removes blobs that were marked
 * as deleted but not removed, because of a crash. Once `stopping` is aborted, stops after the current page.
 * @returns the number of removed blobs
 */
export async function sweepOrphans(
  { db, blobs, blobTables, markedAmong }: OrphanDeps,
  now: Date,
  stopping?: AbortSignal,
): Promise<number> {
  const unnamed = blobTables
    .map(({ table }) => sql`NOT EXISTS (SELECT FROM ${table} WHERE blob_key = key)`)
    .reduce((all, one) => sql`${all} AND ${one}`);
  let removed = 0;
  for await (const keys of blobs.listOlderThan(new Date(now.getTime() - graceMs))) {
    const orphans = await db.query<{ key: string }>(sql`
SELECT key FROM unnest(${keys}::text[]) AS key WHERE ${unnamed}`);
    const gone = new Set([...orphans.map(({ key }) => key), ...(await markedAmong(keys))]);
    for (const key of gone) await blobs.remove(key);
    removed += gone.size;
    if (stopping?.aborted) break;
  }
  return removed;
}
