import type { Owner } from "../../identity/identity.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Sql } from "../../platform/database/database.ts";
import { type Statement, sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import { isUuid } from "../../platform/text.ts";
import { ownsSubscription } from "../subscriptions/store.ts";
import { webhookNotFound } from "../subscriptions/subscriptions.ts";
import { testTopic } from "../topics.ts";
import { type Period, periodIn } from "./period.ts";

/** So many at once: an endpoint that was away is not flooded, and a host's limit for a minute is not used up. */
const atOnce = 200;
/** Calls that come at once, or in a row, send an event once in this time. */
const againAfterMs = 60_000;
/** While more wait for the webhook, none are added. */
const mostPending = 200;

/**
 * The latest delivery of each event that was first sent in the period and has failed each time since, the last time before the
 * period's end: a replay that fails in its turn is later than that, so calls for one period come to an end. One that is on its way is
 * not sent a second time, one that was replayed within a minute waits, and what is about a record that is gone cannot arrive.
 */
const failedIn = (webhookId: string, { since, until }: Period, now: Date): Statement => sql`
SELECT max(seq) AS seq FROM webhook_deliveries
WHERE webhook_id = ${webhookId} AND created_at >= ${since} AND topic <> ${testTopic}
GROUP BY event
HAVING bool_or(replayed_from IS NULL AND created_at <= ${until})
  AND bool_and(state = 'failed' AND completed_at < ${until} AND reason <> 'subject_missing'
    AND (replayed_from IS NULL OR created_at <= ${new Date(now.getTime() - againAfterMs)}))`;

const insertReplays = (db: Sql, failed: Statement, at: Date) =>
  db.query(sql`
INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_code, replayed_from, created_at)
SELECT event, webhook_id, partner_id, environment, topic, order_code, id, ${at}
FROM webhook_deliveries WHERE seq IN (SELECT seq FROM (${failed}) AS failed ORDER BY seq LIMIT ${atOnce})
ORDER BY seq
RETURNING 1`);

async function countOf(db: Sql, rows: Statement): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`SELECT count(*) FROM (${rows}) AS counted`);
  return row?.count ?? 0;
}

async function requireFewPending(db: Sql, webhookId: string): Promise<void> {
  const pending = await countOf(
    db,
    sql`SELECT 1 FROM webhook_deliveries WHERE state = 'pending' AND webhook_id = ${webhookId} LIMIT ${mostPending + 1}`,
  );
  if (pending > mostPending)
    throw new ServiceError(
      "conflict",
      `More than ${mostPending} deliveries of this webhook are on their way. Replay what failed when they have ended.`,
    );
}

/** How many are on their way, how many are left for another call, and the end of the period for that. */
export type FailedReplayed = { replayed: number; left: number; until: string };

/**
 * Sends again what a webhook of the owner's has failed to take in a period, oldest first, each event once and as a single replay
 * does; at most 200 by one call. Each event is sent once for a period, whatever becomes of it.
 * @param period `since` and, from the second call on, the `until` of the first one's answer
 * @throws ServiceError for an unknown webhook, a bad period, and while many deliveries of the webhook are on their way
 */
export async function replayFailed(
  { db, clock, wake }: { db: Database; clock: Clock; wake: () => void },
  owner: Owner,
  webhookId: string,
  period: unknown,
): Promise<FailedReplayed> {
  const now = clock();
  const { since, until } = periodIn(period, now);
  if (!isUuid(webhookId) || !(await ownsSubscription(db, webhookId, owner))) throw webhookNotFound();
  const failed = failedIn(webhookId, { since, until }, now);
  const counts = await db.transaction(async (tx) => {
    // Two at once would send the same events twice.
    await tx.query(sql`SELECT 1 FROM webhooks WHERE id = ${webhookId} FOR NO KEY UPDATE`);
    await requireFewPending(tx, webhookId);
    const replayed = (await insertReplays(tx, failed, now)).length;
    return { replayed, left: await countOf(tx, failed) };
  });
  wake();
  return { ...counts, until: until.toISOString() };
}
