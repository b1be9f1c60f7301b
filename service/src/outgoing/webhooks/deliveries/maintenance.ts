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

/** What was sent and answered is kept of so many of a webhook's latest deliveries. */
const exchangesKept = 1_000;

type Dropping = { webhookId: string; from: number; upTo: number };

// The webhook keeps how far this has come: nothing is looked at twice, and no index serves this alone.
const selectDropping = (db: Sql) =>
  db.query<Dropping>(sql`
SELECT webhooks.id AS "webhookId", exchanges_dropped_to AS from, latest.seq AS "upTo"
FROM webhooks, LATERAL (
  SELECT seq FROM webhook_deliveries WHERE webhook_id = webhooks.id ORDER BY seq DESC OFFSET ${exchangesKept} LIMIT 1
) AS latest
WHERE latest.seq > exchanges_dropped_to`);

/** Drops what was sent and answered in deliveries before each webhook's latest 1,000. Stops between pages once `stopping` is aborted. */
export async function dropOldExchanges(db: Sql, stopping?: AbortSignal): Promise<void> {
  for (const { webhookId, from, upTo } of await selectDropping(db))
    for (let after = from; after < upTo && !stopping?.aborted; ) {
      const [page] = await db.query<{ last: number }>(sql`
WITH page AS (
  SELECT seq, exchange IS NOT NULL AS holds FROM webhook_deliveries
  WHERE webhook_id = ${webhookId} AND seq > ${after} AND seq <= ${upTo} ORDER BY seq LIMIT ${pageSize}
), dropped AS (
  UPDATE webhook_deliveries AS delivery SET exchange = NULL FROM page WHERE delivery.seq = page.seq AND holds
)
UPDATE webhooks SET exchanges_dropped_to = coalesce((SELECT max(seq) FROM page), ${upTo}) WHERE id = ${webhookId}
RETURNING exchanges_dropped_to AS last`);
      if (!page) break;
      after = page.last;
    }
}
