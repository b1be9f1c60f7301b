import type { Owner } from "../../../kernel/identity/identity.ts";
import { type Clock, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { ownsSubscription } from "../subscriptions/store.ts";
import { webhookNotFound } from "../subscriptions/subscriptions.ts";
import { testTopic } from "../topics.ts";
import { type Period, periodIn } from "./period.ts";

/**
 * The most replays in one call. More could flood an endpoint that has just recovered, and would use up the rate limit
 * for the endpoint's host.
 */
const atOnce = 200;
/** `replayFailed` skips an event within this time of its last replay, so repeated calls send it only once. */
const againAfterMs = minuteMs;
/** A call is refused while the webhook has more pending deliveries than this. */
const maxPending = 200;

/**
 * Selects the latest delivery of each event that was first queued in the period and never arrived. Every delivery of
 * the event must have failed before the period's end. A replay starts after that end, so a later call with the same
 * period doesn't select the event again.
 *
 * Skips test events, and events that are being sent, that were replayed in the last minute, or whose subject was
 * deleted.
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
INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_id, replayed_from, created_at)
SELECT event, webhook_id, partner_id, environment, topic, order_id, id, ${at}
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
    sql`SELECT 1 FROM webhook_deliveries WHERE state = 'pending' AND webhook_id = ${webhookId} LIMIT ${maxPending + 1}`,
  );
  if (pending > maxPending)
    throw new ServiceError(
      "conflict",
      `More than ${maxPending} deliveries of this webhook are on their way. Replay what failed when they have ended.`,
    );
}

/** The number of queued replays, the number of events still to replay, and the `until` to pass to the next call. */
export type FailedReplayed = { replayed: number; left: number; until: string };

/**
 * Replays events that a webhook failed to receive in a period, oldest first and at most 200 in a call. Each event is
 * replayed once for a period, whether or not it arrives.
 * @param period `since`; from the second call on, also the `until` that the first call returned
 * @throws ServiceError for an unknown webhook, an invalid period, and while many deliveries of the webhook are pending
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
    // Locks the webhook, because two concurrent calls would otherwise replay the same events twice.
    await tx.query(sql`SELECT 1 FROM webhooks WHERE id = ${webhookId} FOR NO KEY UPDATE`);
    await requireFewPending(tx, webhookId);
    const replayed = (await insertReplays(tx, failed, now)).length;
    return { replayed, left: await countOf(tx, failed) };
  });
  wake();
  return { ...counts, until: until.toISOString() };
}
