import type { Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";

const pageSize = 5_000;

/**
 * Deletes the records of deliveries that ended before the given time, page by page, the oldest delivery first. Stops
 * after a page with a delivery that was created at or after that time, or when `stopping` is aborted.
 * @returns the number of deleted records
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

/** Each webhook keeps the requests and responses of this many deliveries, the latest ones. */
const maxExchanges = 1_000;

type Dropping = { webhookId: string; from: number; upTo: number };

// For each webhook, the next range of deliveries whose requests and responses are to be deleted. The webhook's row
// stores the end of the last range, so no delivery is visited twice, and no extra index is needed.
const selectDropping = (db: Sql) =>
  db.query<Dropping>(sql`
SELECT webhooks.id AS "webhookId", exchanges_dropped_to AS from, latest.seq AS "upTo"
FROM webhooks, LATERAL (
  SELECT seq FROM webhook_deliveries WHERE webhook_id = webhooks.id ORDER BY seq DESC OFFSET ${maxExchanges} LIMIT 1
) AS latest
WHERE latest.seq > exchanges_dropped_to`);

/**
 * Deletes requests and responses, except those of each webhook's latest 1,000 deliveries. Stops between pages once
 * `stopping` is aborted.
 */
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

// A delivery that is pending in a backup may have been sent after the backup was made. So a restored database holds all
// pending deliveries until a person releases or discards them.

/** The lease of a held delivery ends at this time, so that no node ever claims the delivery. */
const never: Statement = sql`'9999-01-01T00:00:00Z'::timestamptz`;
const isHeld: Statement = sql`state = 'pending' AND leased_until = ${never}`;

/** Holds the pending deliveries until a person releases or discards them. */
export const holdDeliveries = (db: Sql) =>
  db.query(sql`UPDATE webhook_deliveries SET leased_until = ${never} WHERE state = 'pending'`);

export async function countHeldDeliveries(db: Sql): Promise<number> {
  const [row] = await db.query<{ held: number }>(sql`
    SELECT count(*)::int AS held FROM webhook_deliveries WHERE ${isHeld}`);
  return row?.held ?? 0;
}

export const releaseHeldDeliveries = (db: Sql) =>
  db.query(sql`UPDATE webhook_deliveries SET leased_until = NULL WHERE ${isHeld}`);

/** Marks the held deliveries as failed, so that the firms can replay them. */
export const discardHeldDeliveries = (db: Sql, at: Date) =>
  db.query(sql`
    UPDATE webhook_deliveries SET state = 'failed', reason = 'discarded after a restore', completed_at = ${at},
      leased_until = NULL WHERE ${isHeld}`);
