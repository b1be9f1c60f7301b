import type { Owner } from "../../identity/identity.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { isUuid } from "../../platform/text.ts";
import { ownsSubscription } from "../subscriptions/store.ts";
import { webhookNotFound } from "../subscriptions/subscriptions.ts";
import { testTopic } from "../topics.ts";

/** So many at once: an endpoint that was away is not flooded, and a host's limit for a minute is not used up. */
const atOnce = 200;

// The latest delivery of each event of which none has arrived since: one that is on its way again is not sent a second time.
const insertReplays = (db: Sql, webhookId: string, since: Date, at: Date) =>
  db.query(sql`
INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_code, replayed_from, created_at)
SELECT event, webhook_id, partner_id, environment, topic, order_code, id, ${at}
FROM webhook_deliveries WHERE seq IN (
  SELECT max(seq) FROM webhook_deliveries
  WHERE webhook_id = ${webhookId} AND created_at >= ${since} AND topic <> ${testTopic}
  GROUP BY event HAVING bool_and(state = 'failed') ORDER BY max(seq) LIMIT ${atOnce}
) RETURNING 1`);

const countFailed = async (db: Sql, webhookId: string, since: Date): Promise<number> => {
  const [row] = await db.query<{ left: number }>(sql`
SELECT count(*) AS left FROM (
  SELECT 1 FROM webhook_deliveries WHERE webhook_id = ${webhookId} AND created_at >= ${since} AND topic <> ${testTopic}
  GROUP BY event HAVING bool_and(state = 'failed')
) AS failed`);
  return row?.left ?? 0;
};

/**
 * Sends again what a webhook of the owner's has failed to take since then, oldest first, each event once and as a single replay
 * does; at most 200 by one call.
 * @returns how many are on their way, and how many are left for another call
 * @throws ServiceError for an unknown webhook
 */
export async function replayFailed(
  { db, clock, wake }: { db: Database; clock: Clock; wake: () => void },
  owner: Owner,
  webhookId: string,
  since: Date,
): Promise<{ replayed: number; left: number }> {
  if (!isUuid(webhookId) || !(await ownsSubscription(db, webhookId, owner))) throw webhookNotFound();
  const counts = await db.transaction(async (tx) => {
    // Two at once would send the same events twice.
    await tx.query(sql`SELECT 1 FROM webhooks WHERE id = ${webhookId} FOR NO KEY UPDATE`);
    const replayed = (await insertReplays(tx, webhookId, since, clock())).length;
    return { replayed, left: await countFailed(tx, webhookId, since) };
  });
  wake();
  return counts;
}
