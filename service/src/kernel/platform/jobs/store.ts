import type { Sql } from "../database/database.ts";
import { type Statement, sql } from "../database/sql.ts";

/** A job that this node works on; `attempt` counts from 1 and tells its lease from that of a later attempt. */
export type ClaimedJob = { id: number; payload: unknown; attempt: number };

/** Writes a job in the caller's transaction; it may run once that has committed and `dueAt` has come. */
export async function enqueue(db: Sql, queue: string, payload: object, dueAt: Date | null = null): Promise<void> {
  await db.query(sql`SELECT enqueue_job(${queue}, ${payload}::jsonb, coalesce(${dueAt}::timestamptz, now()))`);
}

// The clock is the database's own: nodes need not agree on the time.
const fromNow = (ms: number) => sql`now() + ${ms} * interval '1 ms'`;

/** Takes due jobs, the longest due first, each for the length of a lease. */
export const claimDueJobs = (db: Sql, queue: string, limit: number, leaseMs: number) =>
  db.query<ClaimedJob>(sql`
UPDATE jobs SET attempts = attempts + 1, due_at = ${fromNow(leaseMs)}
WHERE id IN (
  SELECT id FROM jobs WHERE queue = ${queue} AND failed_at IS NULL AND due_at <= now()
  ORDER BY due_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
)
RETURNING id, payload, attempts AS attempt`);

/** Those of the queues that have a job which is due by so many milliseconds from now. */
export async function selectDueQueues(db: Sql, queues: readonly string[], withinMs: number): Promise<string[]> {
  const rows = await db.query<{ queue: string }>(sql`
SELECT worked.queue FROM unnest(${queues}::text[]) AS worked (queue) WHERE EXISTS (
  SELECT FROM jobs WHERE jobs.queue = worked.queue AND failed_at IS NULL AND due_at <= ${fromNow(withinMs)}
)`);
  return rows.map(({ queue }) => queue);
}

/** Milliseconds until the next job of the queue is due, 0 at least; null when there is none. */
export async function nextDueInMs(db: Sql, queue: string): Promise<number | null> {
  const [next] = await db.query<{ ms: number }>(sql`
SELECT greatest(0, ceil(extract(epoch FROM due_at - now()) * 1000))::float8 AS ms
FROM jobs WHERE queue = ${queue} AND failed_at IS NULL ORDER BY due_at, id LIMIT 1`);
  return next?.ms ?? null;
}

/** Holds for no row when the lease has passed to another. */
const stillOurs = ({ id, attempt }: ClaimedJob): Statement =>
  sql`id = ${id} AND attempts = ${attempt} AND failed_at IS NULL`;

export const finishJob = (db: Sql, job: ClaimedJob) => db.query(sql`DELETE FROM jobs WHERE ${stillOurs(job)}`);

export const extendLease = (db: Sql, job: ClaimedJob, leaseMs: number) =>
  db.query(sql`UPDATE jobs SET due_at = ${fromNow(leaseMs)} WHERE ${stillOurs(job)}`);

export const postponeJob = (db: Sql, job: ClaimedJob, inMs: number, error: string) =>
  db.query(sql`UPDATE jobs SET due_at = ${fromNow(inMs)}, last_error = ${error} WHERE ${stillOurs(job)}`);

export const failJob = (db: Sql, job: ClaimedJob, error: string) =>
  db.query(sql`UPDATE jobs SET failed_at = now(), last_error = ${error} WHERE ${stillOurs(job)}`);

/** A queue's jobs by how they stand; `lastError` is that of the job that failed for good last. */
export type QueueState = {
  queue: string;
  waiting: number;
  overdueSeconds: number;
  failed: number;
  lastError: string | null;
};

export const selectQueues = (db: Sql) =>
  db.query<QueueState>(sql`
    SELECT queue, (count(*) FILTER (WHERE failed_at IS NULL))::int AS waiting,
      coalesce(greatest(0, extract(epoch FROM now() - min(due_at) FILTER (WHERE failed_at IS NULL))), 0)::int AS "overdueSeconds",
      (count(*) FILTER (WHERE failed_at IS NOT NULL))::int AS failed,
      (array_agg(last_error ORDER BY failed_at DESC) FILTER (WHERE failed_at IS NOT NULL))[1] AS "lastError"
    FROM jobs GROUP BY queue ORDER BY queue`);

/** The same as gauges, in one scan of a table that is as large as what waits. */
export const jobGauges: Statement = sql`
SELECT gauge, queue AS label, value FROM (
  SELECT queue, count(*) FILTER (WHERE failed_at IS NULL) AS waiting,
    count(*) FILTER (WHERE failed_at IS NULL AND last_error IS NOT NULL) AS retrying,
    count(failed_at) AS failed, min(due_at) FILTER (WHERE failed_at IS NULL) AS due
  FROM jobs GROUP BY queue
) AS queues, LATERAL (VALUES
  ('jobs_waiting', waiting::float8), ('jobs_retrying', retrying), ('jobs_failed', failed),
  ('jobs_overdue_seconds', coalesce(greatest(0, extract(epoch FROM now() - due)), 0))
) AS figures (gauge, value)`;

/** Has the jobs of a queue that failed for good tried again, from their first attempt. @returns how many */
export async function retryFailedJobs(db: Sql, queue: string): Promise<number> {
  const retried = await db.query(sql`
    WITH retried AS (
      UPDATE jobs SET failed_at = NULL, attempts = 0, due_at = now() WHERE queue = ${queue} AND failed_at IS NOT NULL RETURNING 1
    ), woken AS (SELECT pg_notify('jobs', ${queue}) WHERE EXISTS (SELECT FROM retried))
    SELECT 1 FROM retried, (SELECT count(*) FROM woken) AS w`);
  return retried.length;
}

/** Deletes jobs that failed for good before the instant, but for those of some queues. */
export const sweepFailedJobs = (db: Sql, before: Date, kept: readonly string[] = []) =>
  db.query(sql`DELETE FROM jobs WHERE failed_at < ${before} AND NOT queue = ANY (${kept}::text[])`);
