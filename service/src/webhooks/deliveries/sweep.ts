import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";

const pageSize = 5_000;

/**
 * Deletes the records of deliveries that ended before the instant, page by page from the oldest until a page holds one that was
 * made since. Stops between pages once `stopping` is aborted.
 * @returns how many
 */
export async function sweepDeliveries(db: Sql, before: Date, stopping?: AbortSignal): Promise<number> {
  let deleted = 0;
  let after = 0;
  while (!stopping?.aborted) {
    const [page] = await db.query<{ last: number | null; reached: boolean | null; deleted: number }>(sql`
WITH page AS (
  SELECT seq, created_at, completed_at FROM webhook_deliveries WHERE seq > ${after} ORDER BY seq LIMIT ${pageSize}
), gone AS (
  DELETE FROM webhook_deliveries d USING page WHERE d.seq = page.seq AND page.completed_at < ${before} RETURNING 1
)
SELECT max(seq) AS last, bool_or(created_at >= ${before}) AS reached, (SELECT count(*) FROM gone) AS deleted FROM page`);
    deleted += page?.deleted ?? 0;
    if (!page?.last || page.reached) return deleted;
    after = page.last;
  }
  return deleted;
}
