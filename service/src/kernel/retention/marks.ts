import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { MacTable } from "../platform/protected-data.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";

/** A deletion mark: the record that a blob was deleted, with the time and the retention rule that applied. */
export type Mark = { blobKey: string; rule: string; deletedAt: Date };

export const markTable = "deleted_blobs";

/** SQL subquery: the ids of the marks that were refused as forged. */
export const refusedMarkIds = sql`SELECT mark_id FROM refused_marks`;

export const markMembers = ({ blobKey, rule, deletedAt }: Mark): Members => ({ blobKey, rule, deletedAt });

export const markMac = (rowMac: RowMac, mark: Mark): Buffer => rowMac.of(markTable, markMembers(mark));

export const markRows: MacTable<Mark> = {
  table: sql`deleted_blobs`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, blob_key AS "blobKey", rule, deleted_at AS "deletedAt", row_mac AS mac FROM deleted_blobs`,
  members: markMembers,
};

export const protectedTables = [markRows];

/** Selects, among these blobs, those with an authentic deletion mark. A forged mark must not cause a deletion. */
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

/** A deletion mark as JSON; `mac` is in hex. */
export type StoredMark = { blobKey: string; rule: string; deletedAt: string; mac: string };

/** The latest time among the authentic ones of these deletion marks; null if none is authentic. */
export function markedAt(rowMac: RowMac, marks: readonly StoredMark[] | null): Date | null {
  const times = (marks ?? []).flatMap(({ mac, deletedAt: time, ...mark }) => {
    const deletedAt = new Date(time);
    return rowMac.holds(markTable, markMembers({ ...mark, deletedAt }), Buffer.from(mac, "hex"))
      ? [deletedAt.getTime()]
      : [];
  });
  return times.length === 0 ? null : new Date(Math.max(...times));
}

type NumberedMark = Mark & { id: string; writtenIn: string; mac: Buffer };

const batchSize = 1000;
const noId = "00000000-0000-0000-0000-000000000000";

/**
 * Verifies the deletion marks written since its last run, and refuses forged ones.
 * @returns the number of refused marks
 */
export type CheckMarks = (stopping?: AbortSignal) => Promise<number>;

/**
 * Creates the check of deletion marks. Its first run verifies every mark, because nothing records which marks an
 * earlier process verified.
 */
export function createMarkCheck({ db, rowMac, clock }: { db: Sql; rowMac: RowMac; clock: Clock }): CheckMarks {
  let since = "0";
  return async (stopping) => {
    // A transaction that is still open may yet commit marks. So the next run starts with the marks of the oldest
    // transaction that is open now.
    const [snapshot] = await db.query<{ oldest: string }>(sql`
      SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest`);
    let refused = 0;
    let last = { writtenIn: since, id: noId };
    for (;;) {
      const marks: NumberedMark[] = await db.query<NumberedMark>(sql`
        SELECT id, written_in::text AS "writtenIn", blob_key AS "blobKey", rule, deleted_at AS "deletedAt", row_mac AS mac
        FROM deleted_blobs WHERE (written_in, id) > (${last.writtenIn}::xid8, ${last.id}::uuid)
        ORDER BY written_in, id LIMIT ${batchSize}`);
      const forged = marks.filter(({ mac, ...mark }) => !rowMac.holds(markTable, markMembers(mark), mac));
      if (forged.length > 0)
        refused += (
          await db.query(sql`
            INSERT INTO refused_marks (mark_id, refused_at)
            SELECT id, ${clock()} FROM unnest(${forged.map(({ id }) => id)}::uuid[]) AS id
            ON CONFLICT DO NOTHING RETURNING 1`)
        ).length;
      last = marks.at(-1) ?? last;
      if (marks.length < batchSize) break;
      if (stopping?.aborted) return refused;
    }
    since = snapshot?.oldest ?? since;
    return refused;
  };
}
