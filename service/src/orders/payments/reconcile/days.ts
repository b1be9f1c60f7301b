/** The daily comparisons on record. */
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { fromTasks, taskState } from "../../../kernel/tasks/tasks.ts";
import { copiedBefore, copiedUntil, copies } from "../processor/account.ts";
import type { Window } from "../processor/balance.ts";

/** The queue of daily comparisons; payload `{day}`. */
export const reconcileQueue = "reconcile";

/** Queues the comparison of a day, once for all nodes. @param at a time within the day, in UTC */
export async function askForDay(db: Database, at: Date): Promise<void> {
  const day = at.toISOString().slice(0, 10);
  await db.transaction(async (tx) => {
    const asked = await tx.query(sql`
      INSERT INTO reconciliations (day, asked_at) VALUES (${day}, ${at}) ON CONFLICT (day) DO NOTHING RETURNING 1`);
    if (asked.length === 1) await enqueue(tx, reconcileQueue, { day });
  });
}

/**
 * The processor can list a movement late, when we have already read that part of its list. So each period begins this
 * long before the end of the previous period.
 */
const overlapMs = 3 * dayMs;
/**
 * The first period begins this long before the first comparison, because the event of a payment can arrive days after
 * its movement.
 */
const firstMs = 10 * dayMs;

/**
 * The period of a day's comparison; null when the comparison has ended or was never queued. It begins where the last
 * comparison with the present account's books ended. Without one, it begins where the last comparison before the first
 * use of this account ended, because other accounts may have been in use since.
 */
export async function windowOf(db: Sql, day: string, until: Date): Promise<Window | null> {
  const present = sql`'infinity'::timestamptz`;
  const [row] = await db.query<{ first: Date; last: Date | null }>(sql`
    WITH ${copies}
    SELECT (SELECT min(asked_at) FROM reconciliations) AS first,
      coalesce(${copiedUntil(present)}, ${copiedBefore(present)}) AS last
    FROM reconciliations WHERE day = ${day} AND ended_at IS NULL`);
  if (!row) return null;
  const from = row.last ? row.last.getTime() - overlapMs : row.first.getTime() - firstMs;
  return { from: new Date(from), until };
}

/** Locks a day's comparison, so that nodes take turns. @returns false when another run has already ended it */
export async function lockDay(tx: Tx, day: string): Promise<boolean> {
  const [found] = await tx.query<{ hasEnded: boolean }>(sql`
    SELECT ended_at IS NOT NULL AS "hasEnded" FROM reconciliations WHERE day = ${day} FOR NO KEY UPDATE`);
  return found?.hasEnded === false;
}

/** Ends the comparison of a day that the same transaction locked. */
export async function endDay(tx: Tx, day: string, { from, until }: Window, found: number, at: Date): Promise<void> {
  await tx.query(sql`
    UPDATE reconciliations SET starts_at = ${from}, ends_at = ${until}, ended_at = ${at}, differences = ${found},
      compared = (SELECT count(*) FROM balance_transactions b WHERE b.created_at >= ${from} AND b.created_at < ${until}
        AND (b.is_ours OR EXISTS (SELECT FROM payments p WHERE p.payment_intent = b.payment_intent)))
    WHERE day = ${day}`);
}

export type Reconciliation = {
  startsAt: Date;
  endsAt: Date;
  endedAt: Date;
  compared: number;
  differences: number;
};

/** The latest finished comparison; undefined before the first one. */
export const lastReconciliation = async (db: Sql): Promise<Reconciliation | undefined> =>
  (
    await db.query<Reconciliation>(sql`
      SELECT starts_at AS "startsAt", ends_at AS "endsAt", ended_at AS "endedAt", compared, differences
      FROM reconciliations WHERE ended_at IS NOT NULL ORDER BY day DESC LIMIT 1`)
  )[0];

/** The tasks about differences that nobody has settled: how many there are, and the reasons of the oldest ones. */
export type OpenDifferences = { count: number; reasons: readonly string[] };

const listed = 50;

export async function openDifferences(db: Sql): Promise<OpenDifferences> {
  const tasks = await db.query<{ count: number; reason: string } & Marked>(sql`
    SELECT count(*) OVER ()::int AS count, t.reason, ${marked(taskState, sql`t`)} ${fromTasks}
    WHERE t.kind = 'money_difference' AND t.state IN ('open', 'claimed') ORDER BY t.id LIMIT ${listed}`);
  const reasons = tasks.map(({ reason, isAuthentic }) =>
    isAuthentic ? reason : "This task was altered outside the service.",
  );
  return { count: tasks[0]?.count ?? 0, reasons };
}
