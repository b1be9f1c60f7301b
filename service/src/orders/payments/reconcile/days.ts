/** The stored daily comparisons with the processor's books. */
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { fromTasks, taskState } from "../../../kernel/tasks/tasks.ts";
import { copiedBefore, copiedUntil, copies } from "../processor/account.ts";
import type { Window } from "../processor/balance.ts";

/** The queue of daily comparisons; payload `{day}`. */
export const reconcileQueue = "reconcile";

/**
 * Each payment is compared again after this many days, even if it did not change. A row of `payments_to_compare` has no
 * MAC. So an attacker who deletes it in the database hides a difference only until the next comparison.
 */
const comparedAgainDays = 28;

/**
 * Queues the comparison of a day, once for all nodes. Also queues the days whose payments this comparison compares
 * again.
 * @param at a time within the day, in UTC
 */
export async function askForDay(db: Database, at: Date): Promise<void> {
  const day = at.toISOString().slice(0, 10);
  await db.transaction(async (tx) => {
    const asked = await tx.query(sql`
      INSERT INTO reconciliations (day, asked_at) VALUES (${day}, ${at}) ON CONFLICT (day) DO NOTHING RETURNING 1`);
    if (asked.length === 0) return;
    await tx.query(sql`
      INSERT INTO days_to_compare (day)
      SELECT past::date FROM generate_series((SELECT least(
          (SELECT min(received_at) FROM payments), (SELECT min(created_at) FROM balance_transactions)
        ) AT TIME ZONE 'UTC')::date, ${day}::date, '1 day') AS past
      WHERE (${day}::date - past::date) % ${comparedAgainDays}::int < coalesce(
        ${day}::date - (SELECT max(r.day) FROM reconciliations r WHERE r.day < ${day}::date), ${comparedAgainDays})
      ON CONFLICT DO NOTHING`);
    await enqueue(tx, reconcileQueue, { day });
  });
}

/**
 * Takes the oldest day from `days_to_compare`, and marks the payments of that day for the comparison. They were
 * received on that day, or their money moved on it.
 * @returns false when no day is left
 */
export async function markDay(tx: Tx): Promise<boolean> {
  const [claimed] = await tx.query<{ day: string }>(sql`
    DELETE FROM days_to_compare WHERE day = (SELECT min(day) FROM days_to_compare) RETURNING day::text AS day`);
  if (!claimed) return false;
  const isOnDay = (at: Statement) =>
    sql`${at} >= ${claimed.day}::timestamp AT TIME ZONE 'UTC' AND ${at} < (${claimed.day}::timestamp + interval '1 day') AT TIME ZONE 'UTC'`;
  await tx.query(sql`
    INSERT INTO payments_to_compare (payment_intent)
    SELECT payment_intent FROM payments WHERE NOT simulated AND payment_intent IS NOT NULL AND ${isOnDay(sql`received_at`)}
    UNION SELECT payment_intent FROM balance_transactions WHERE ${isOnDay(sql`created_at`)}`);
  return true;
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
 * The period of a day's comparison; null when the comparison has ended or was never queued. The period begins where the
 * last comparison with the present account's books ended. If there was none, it begins at the end of the last
 * comparison before this account was first used. Later comparisons were with the books of other accounts.
 */
export async function windowOf(db: Sql, day: string, until: Date): Promise<Window | null> {
  const present = sql`'infinity'::timestamptz`;
  const [row] = await db.query<{ first: Date; last: Date | null }>(sql`
    WITH ${copies}
    SELECT (SELECT min(asked_at) FROM reconciliations) AS first,
      coalesce(${copiedUntil(present)}, ${copiedBefore(present)}) AS last
    FROM reconciliations WHERE day = ${day} AND ended_at IS NULL`);
  if (!row) return null;
  // The row has no MAC. A forged end in the future would make this period and all later ones empty.
  const last = row.last && Math.min(row.last.getTime(), until.getTime());
  const from = last ? last - overlapMs : row.first.getTime() - firstMs;
  return { from: new Date(from), until };
}

/**
 * Serializes all comparisons, even of different days. Otherwise an earlier one could end tasks about differences that a
 * later one found.
 */
export async function lockComparison(tx: Tx): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('comparison with the payment processor', 0))`);
}

/** Locks a day's comparison. @returns false when another run has already ended it */
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
