import { hourMs } from "../clock.ts";
import type { Sql } from "../database/database.ts";
import { type Statement, sql } from "../database/sql.ts";
import type { Blobs } from "./blobs.ts";

// A blob is written before the row that refers to it commits. So a blob that is younger than this may still get its
// row.
const graceMs = hourMs;

/** Selects the keys of blobs that are marked as deleted, although rows still refer to them. */
export type MarkedAmong = (keys: readonly string[]) => Promise<ReadonlySet<string>>;

export type OrphanDeps = {
  db: Sql;
  blobs: Blobs;
  /** All tables whose rows refer to blobs. */
  blobTables: readonly { table: Statement }[];
  markedAmong: MarkedAmong;
};

/**
 * Removes blobs without a row, which are left over from refused or interrupted uploads. Removes blobs marked as
 * deleted, if a crash prevented their removal. Stops after the current page once `stopping` is aborted.
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
