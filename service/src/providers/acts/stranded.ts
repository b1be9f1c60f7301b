import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { openTask } from "../../tasks/tasks.ts";
import { type ProviderName, providerNames } from "../names.ts";
import { mostLooks } from "./look.ts";
import { actQueueOf, enqueueIntent, type IntentState } from "./store.ts";

/** An act that began should have been looked up so long ago. */
const strandedMs = 60 * 60_000;
const batchSize = 500;

/** Whether nobody is going to learn what came of an act by itself: a person may say. */
export const isStranded = (
  { state, begunAt, lookAt }: { state: IntentState; begunAt: Date | null; lookAt: Date | null },
  now: Date,
): boolean => state === "begun" && begunAt !== null && (lookAt ?? begunAt).getTime() + strandedMs <= now.getTime();

/**
 * Takes up acts without a job, as one that failed for good has left them: their orders could not be moved by hand. Of one that
 * began long ago a person is asked.
 */
export async function takeUpStranded({ db, clock }: { db: Sql; clock: Clock }): Promise<void> {
  const lost = await db.query<{ id: number; provider: ProviderName }>(sql`
    SELECT id, provider FROM provider_calls c
    WHERE ended_at IS NULL AND (state <> 'unknown' OR looks <= ${mostLooks}) AND NOT EXISTS (
      SELECT FROM jobs j WHERE j.queue = ${actQueueOf(sql`c.provider`)} AND j.failed_at IS NULL
        AND (j.payload ->> 'intentId')::bigint = c.id)
    ORDER BY id LIMIT ${batchSize}`);
  for (const intent of lost) await enqueueIntent(db, intent, 0);
  const at = clock();
  const before = new Date(at.getTime() - strandedMs);
  const stranded = await db.query<{ id: number; act: string; provider: ProviderName; orderId: number }>(sql`
    SELECT id, act, provider, order_id AS "orderId" FROM provider_calls
    WHERE ended_at IS NULL AND state = 'begun' AND coalesce(look_at, begun_at) <= ${before} ORDER BY id LIMIT ${batchSize}`);
  for (const { id, act, provider, orderId } of stranded) {
    const reason = `${act} at ${providerNames[provider]} began and has no end: its job fails, as the log says.`;
    const subject = String(id);
    await db.query(openTask({ kind: "provider_unclear", at, environment: "live", orderId, subject, reason }));
  }
}
