import type { Sql } from "../database.ts";

/** A job that this node works on; `attempt` counts from 1 and tells its lease from that of a later attempt. */
export type Claimed = { id: number; payload: unknown; attempt: number };

/** Writes a job in the caller's transaction; it may run once that has committed and `dueAt` has come. */
export async function enqueue(sql: Sql, queue: string, payload: object, dueAt: Date | null = null): Promise<void> {
  await sql.rows("SELECT enqueue_job($1, $2::jsonb, coalesce($3::timestamptz, now()))", [
    queue,
    JSON.stringify(payload),
    dueAt,
  ]);
}

// The clock is the database's own: nodes need not agree on the time.
/** Takes due jobs, the longest due first, each for the length of a lease. */
export const claimDue = (sql: Sql, queue: string, limit: number, leaseMs: number) =>
  sql.rows<Claimed>(
    `UPDATE jobs SET attempts = attempts + 1, due_at = now() + $3 * interval '1 ms'
     WHERE id IN (
       SELECT id FROM jobs WHERE queue = $1 AND failed_at IS NULL AND due_at <= now()
       ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING id, payload, attempts AS attempt`,
    [queue, limit, leaseMs],
  );

/** Milliseconds until the next job of the queue is due, 0 at least; null when there is none. */
export async function nextDueInMs(sql: Sql, queue: string): Promise<number | null> {
  const [next] = await sql.rows<{ ms: number }>(
    `SELECT greatest(0, ceil(extract(epoch FROM due_at - now()) * 1000))::float8 AS ms
     FROM jobs WHERE queue = $1 AND failed_at IS NULL ORDER BY due_at, id LIMIT 1`,
    [queue],
  );
  return next?.ms ?? null;
}

// Each of these does nothing when the lease has passed to another.
const mine = "id = $1 AND attempts = $2 AND failed_at IS NULL";

export const finish = (sql: Sql, { id, attempt }: Claimed) => sql.rows(`DELETE FROM jobs WHERE ${mine}`, [id, attempt]);

export const keepLease = (sql: Sql, { id, attempt }: Claimed, leaseMs: number) =>
  sql.rows(`UPDATE jobs SET due_at = now() + $3 * interval '1 ms' WHERE ${mine}`, [id, attempt, leaseMs]);

export const postpone = (sql: Sql, { id, attempt }: Claimed, inMs: number, error: string) =>
  sql.rows(`UPDATE jobs SET due_at = now() + $3 * interval '1 ms', last_error = $4 WHERE ${mine}`, [
    id,
    attempt,
    inMs,
    error,
  ]);

export const giveUp = (sql: Sql, { id, attempt }: Claimed, error: string) =>
  sql.rows(`UPDATE jobs SET failed_at = now(), last_error = $3 WHERE ${mine}`, [id, attempt, error]);

/** Forgets jobs that failed for good before the instant. */
export const sweepFailedJobs = (sql: Sql, before: Date) => sql.rows("DELETE FROM jobs WHERE failed_at < $1", [before]);
