import { joinMembers } from "../../../firms/members/members.ts";
import { dayMs, hourMs } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { type FailingMail, failingQueue } from "../failing-mail.ts";
import { isUnsent } from "../outbound/failure-text.ts";

/**
 * Owners get a mail after `inARow` consecutive failures, or after `few` consecutive failures that are spread over at
 * least `overMs`.
 */
const alarm = { inARow: 20, few: 5, overMs: hourMs };
/** The minimum time between two mails about one webhook. */
const mailEveryMs = dayMs;

/** The result of one delivery. `reason` is null for a successful delivery. */
export type Ended = { webhookId: string; reason: string | null; statusCode: number | null; completedAt: Date };

/**
 * The failures of one webhook since its last success in a batch of outcomes. `arrived`: true if the batch has a
 * success.
 */
export type Run = {
  failures: number;
  since: Date | null;
  last: Date;
  reason: string | null;
  statusCode: number | null;
  arrived: boolean;
};

const counts = (reason: string | null): boolean => reason === null || !isUnsent(reason);

/**
 * Computes the consecutive failures of each webhook from a batch of outcomes. Failures that are not the endpoint's
 * fault are ignored.
 */
export function runsOf(outcomes: readonly Ended[]): Map<string, Run> {
  const runs = new Map<string, Run>();
  const inTime = outcomes
    .filter(({ reason }) => counts(reason))
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

/** `isFailing`: true if the webhook's count of failures was above zero when the delivery was claimed. */
type Noted = Ended & { isFailing: boolean };

export type FailureRuns = {
  /**
   * Adds outcomes. Each call's outcomes must be later than those of the calls before. Never throws; writes in the
   * background.
   */
  note: (outcomes: readonly Noted[]) => void;
  finish: () => Promise<void>;
};

/**
 * Counts the consecutive failures of each webhook. Deliveries that the service refused to send don't count. Mails
 * the firm's owners once for each run of failures: after 20 failures, or after 5 that are spread over at least an hour.
 * For a live webhook, only owners with live access get the mail. A webhook causes at most one such mail a day.
 *
 * A successful delivery ends the run. A success without earlier failures needs no SQL statement. If a write fails, its
 * failures are not counted, which only delays the mail.
 */
export function createFailureRuns({ db, log }: { db: Database; log: Log }): FailureRuns {
  // The webhooks for which this node has recorded failures, and no success since then.
  const failing = new Set<string>();
  let waiting: Ended[] = [];
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const runs = runsOf(waiting);
      waiting = [];
      for (const [id, run] of runs)
        await db
          .transaction((tx) => writeRun(tx, id, run))
          .catch((error: unknown) => log.error({ err: error, webhook: id }, "failures in a row were not counted"));
    }
    writing = null;
  }

  return {
    note(outcomes) {
      for (const outcome of outcomes) {
        const { webhookId, reason, isFailing } = outcome;
        if (!counts(reason)) continue;
        if (reason !== null) failing.add(webhookId);
        else if (!failing.delete(webhookId) && !isFailing) continue;
        waiting.push(outcome);
      }
      if (waiting.length > 0) writing ??= write();
    },
    async finish() {
      await writing;
    },
  };
}

async function writeRun(tx: Tx, id: string, run: Run): Promise<void> {
  // The runs are written one after another. A short lock time-out ensures that one locked row doesn't delay the other
  // webhooks.
  await tx.script("SET LOCAL lock_timeout = '500ms'");
  if (run.arrived)
    await tx.query(sql`
UPDATE webhooks SET failures = 0, failing_since = NULL, alerted_at = NULL WHERE id = ${id} AND failures > 0`);
  if (run.failures > 0) await writeFailures(tx, id, run);
}

async function writeFailures(tx: Tx, id: string, { failures, since, last, reason, statusCode }: Run): Promise<void> {
  await tx.query(sql`
UPDATE webhooks SET failures = failures + ${failures}, failing_since = coalesce(failing_since, ${since}) WHERE id = ${id}`);
  // SQL condition: true if a mail about this run of failures is due. Each run gets one mail. If a run begins within a
  // day of an earlier mail, its mail waits for the first failure after that day.
  const isDue = sql`(
    mailed_at IS NULL OR (mailed_at < failing_since AND mailed_at <= ${new Date(last.getTime() - mailEveryMs)})
  )`;
  const owners = await tx.query<{ userId: string; since: Date; failures: number }>(sql`
WITH alerted AS (
  UPDATE webhooks SET alerted_at = coalesce(alerted_at, ${last}), mailed_at = CASE WHEN ${isDue} THEN ${last} ELSE mailed_at END
  WHERE id = ${id} AND (alerted_at IS NULL OR ${isDue}) AND deleted_at IS NULL AND (failures >= ${alarm.inARow} OR (
    failures >= ${alarm.few} AND failing_since <= ${new Date(last.getTime() - alarm.overMs)}
  ))
  RETURNING partner_id, environment, failing_since, failures, mailed_at
)
SELECT m.user_id AS "userId", failing_since AS since, failures
FROM alerted ${joinMembers(sql`alerted.partner_id`)}
WHERE mailed_at = ${last} AND m.role = 'owner' AND (environment = 'test' OR m.live_access) ORDER BY m.linked_at LIMIT 100`);
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
