import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";

/** What says that a blob was deleted, by which rule and when. */
export type Mark = { blobKey: string; rule: string; deletedAt: Date };

export const markTable = "deleted_blobs";

export const markMembers = ({ blobKey, rule, deletedAt }: Mark): Members => ({ blobKey, rule, deletedAt });

export const markMac = (rowMac: RowMac, mark: Mark): Buffer => rowMac.of(markTable, markMembers(mark));

/** Of these keys those whose mark was written by the plan: a forged one has nothing removed. */
export async function markedAmong(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const marks = await db.query<Mark & { mac: Buffer }>(sql`
    SELECT blob_key AS "blobKey", rule, deleted_at AS "deletedAt", row_mac AS mac FROM deleted_blobs
    WHERE blob_key = ANY (${keys}::text[])`);
  return new Set(
    marks
      .filter(({ mac, blobKey, rule, deletedAt }) => rowMac.holds(markTable, { blobKey, rule, deletedAt }, mac))
      .map(({ blobKey }) => blobKey),
  );
}
