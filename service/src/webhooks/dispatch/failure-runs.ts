import type { Database, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { type FailingMail, failingQueue } from "../failing-mail.ts";
import { oursAlone } from "../outbound/failure-text.ts";

/** A run of failures that is worth a mail: so many in a row, or a few over so long. */
const alarm = { inARow: 20, few: 5, overMs: 3_600_000 };

/** How one delivery ended; `reason` is null when it arrived. */
type Ended = { webhookId: string; reason: string | null; statusCode: number | null; completedAt: Date };

/** The failures at the end of what a webhook's deliveries came to, and whether one arrived before them. */
export type Run = {
  failures: number;
  since: Date | null;
  last: Date;
  reason: string | null;
  statusCode: number | null;
  arrived: boolean;
};

/** The run of each webhook among outcomes; failures that say nothing of the endpoint do not count. */
export function runsOf(outcomes: readonly Ended[]): Map<string, Run> {
  const runs = new Map<string, Run>();
  const inTime = outcomes
    .filter(({ reason }) => reason === null || !oursAlone.has(reason))
    .sort((one, other) => one.completedAt.getTime() - other.completedAt.getTime());
  for (const { webhookId, reason, statusCode, completedAt: last } of inTime) {
    const before = runs.get(webhookId);
    if (reason === null) runs.set(webhookId, { failures: 0, since: null, last, reason, statusCode, arrived: true });
    else
      runs.set(webhookId, {
        failures: (before?.failures ?? 0) + 1,
        since: before?.since ?? last,
        last,
        reason,
        statusCode,
        arrived: before?.arrived ?? false,
      });
  }
  return runs;
}

/**
 * Counts failures in a row, and has the firm's owners mailed once for each run that goes on: after 20 in a row, or 5 over an hour.
 * The first delivery that arrives ends the run.
 */
export async function noteRuns(db: Database, outcomes: readonly Ended[]): Promise<void> {
  const runs = [...runsOf(outcomes)];
  const arrived = runs.filter(([, run]) => run.arrived).map(([id]) => id);
  if (arrived.length > 0)
    await db.query(sql`
UPDATE webhooks SET failures = 0, failing_since = NULL, alerted_at = NULL
WHERE id = ANY (${arrived}::uuid[]) AND failures > 0`);
  for (const [id, run] of runs) if (run.failures > 0) await db.transaction((tx) => noteFailures(tx, id, run));
}

async function noteFailures(tx: Tx, id: string, { failures, since, last, reason, statusCode }: Run): Promise<void> {
  await tx.query(sql`
UPDATE webhooks SET failures = failures + ${failures}, failing_since = coalesce(failing_since, ${since}) WHERE id = ${id}`);
  const owners = await tx.query<{ userId: string; since: Date; failures: number }>(sql`
WITH alerted AS (
  UPDATE webhooks SET alerted_at = ${last}
  WHERE id = ${id} AND alerted_at IS NULL AND deleted_at IS NULL AND (failures >= ${alarm.inARow} OR (
    failures >= ${alarm.few} AND failing_since <= ${new Date(last.getTime() - alarm.overMs)}
  ))
  RETURNING partner_id, environment, failing_since, failures
)
SELECT user_id AS "userId", failing_since AS since, failures
FROM alerted JOIN members USING (partner_id)
WHERE role = 'owner' AND (environment = 'test' OR live_access) ORDER BY linked_at LIMIT 100`);
  for (const owner of owners) {
    const mail: FailingMail = {
      ...owner,
      since: owner.since.toISOString(),
      webhookId: id,
      reason: reason ?? "",
      statusCode,
    };
    await enqueue(tx, failingQueue, mail);
  }
}
