import type { Sql, Tx } from "../database/database.ts";
import { type Part, type Statement, sql } from "../database/sql.ts";
import { MacOfRow, textOf } from "../database/state-mac.ts";
import type { RowMac } from "../row-mac.ts";

/** A job that this node has claimed. `attempt` counts from 1; a later attempt, by any node, has a higher number. */
export type ClaimedJob = { id: number; payload: unknown; attempt: number };

// The time this many milliseconds from now, by the database's clock, so that the clocks of nodes need not agree.
const fromNow = (ms: number) => sql`now() + ${ms} * interval '1 ms'`;

/** Queues a job that becomes due after `ms` milliseconds. */
export async function enqueueAfter(db: Sql, queue: string, payload: object, ms: number): Promise<void> {
  await db.query(sql`SELECT enqueue_job(${queue}, ${payload}::jsonb, ${fromNow(ms)})`);
}

/** Queues a job in the caller's transaction. The job runs after the commit, and not before `dueAt`. */
export async function enqueue(db: Sql, queue: string, payload: object, dueAt: Date | null = null): Promise<void> {
  await db.query(sql`SELECT enqueue_job(${queue}, ${payload}::jsonb, coalesce(${dueAt}::timestamptz, now()))`);
}

/** A payload that contains the time at which its job was first queued (`queuedAt`), by the database's clock. */
export type Timed = { queuedAt?: string };

/** Queues a job in the caller's transaction, and stores the present time in its payload as `queuedAt`. */
export async function enqueueTimed(tx: Tx, queue: string, payload: object): Promise<void> {
  await tx.query(
    sql`SELECT enqueue_job(${queue}, ${payload}::jsonb || jsonb_build_object('queuedAt', clock_timestamp()), now())`,
  );
}

/** Milliseconds from a time until now, by the database's clock. */
export async function waitedMs(db: Sql, since: string): Promise<number> {
  const [row] = await db.query<{ ms: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp() - ${since}::timestamptz) * 1000)::float8 AS ms`,
  );
  return row?.ms ?? 0;
}

/**
 * Queues a job, unless a job with the same payload is waiting or running. If a job with the same payload has failed for
 * good, retries that job instead.
 */
export async function requeue(tx: Tx, queue: string, payload: object): Promise<void> {
  const same = sql`queue = ${queue} AND payload = ${payload}::jsonb`;
  const revived = await tx.query(sql`
    UPDATE jobs SET failed_at = NULL, attempts = 0, due_at = now() WHERE ${same} AND failed_at IS NOT NULL RETURNING 1`);
  if (revived.length > 0) await tx.query(sql`SELECT pg_notify('jobs', ${queue})`);
  else if ((await tx.query(sql`SELECT FROM jobs WHERE ${same} LIMIT 1`)).length === 0)
    await enqueue(tx, queue, payload);
}

const vouchedTable = (queue: string): string => `jobs of ${queue}`;
const vouchedMembers = (payload: object) => ({ payload: textOf([payload]) });

/**
 * Queues a job whose payload has a MAC in its member `mac`. So database access alone is not enough to queue or alter
 * such a job.
 */
export async function enqueueVouched(db: Sql, queue: string, payload: object): Promise<void> {
  const mac = new MacOfRow(vouchedTable(queue), vouchedMembers(payload));
  await db.query(sql`
    SELECT enqueue_job(${queue}, ${payload}::jsonb || jsonb_build_object('mac', encode(${mac}::bytea, 'hex')))`);
}

/**
 * The payload of a job, without its MAC.
 * @throws Error when the MAC is invalid or missing
 */
export function vouchedPayload<P extends object>(rowMac: RowMac, queue: string, payload: P & { mac?: unknown }): P {
  const { mac, ...rest } = payload;
  const bytes = Buffer.from(typeof mac === "string" ? mac : "", "hex");
  if (!rowMac.holds(vouchedTable(queue), vouchedMembers(rest), bytes, { queue }))
    throw new Error("the job is not what the service queued");
  return rest as unknown as P;
}

/**
 * Adds a MAC to each job of this queue that an earlier release queued without one.
 * @returns the number of these jobs
 */
export async function vouchForQueued(tx: Sql, queue: string): Promise<number> {
  const jobs = await tx.query<{ id: number; payload: object }>(
    sql`SELECT id, payload FROM jobs WHERE queue = ${queue} AND NOT payload ? 'mac'`,
  );
  for (const { id, payload } of jobs) {
    const mac = new MacOfRow(vouchedTable(queue), vouchedMembers(payload));
    await tx.query(sql`
      UPDATE jobs SET payload = payload || jsonb_build_object('mac', encode(${mac}::bytea, 'hex')) WHERE id = ${id}`);
  }
  return jobs.length;
}

/**
 * Claims due jobs for one lease each, the longest due first. The subquery returns an array, because PostgreSQL may
 * evaluate `IN (SELECT ...)` once for each row. Each evaluation would skip the rows just claimed, so the statement
 * would claim more than the limit.
 */
export const claimDueJobs = (db: Sql, queue: string, limit: number, leaseMs: number) =>
  db.query<ClaimedJob>(sql`
UPDATE jobs SET attempts = attempts + 1, due_at = ${fromNow(leaseMs)}
WHERE id = ANY (ARRAY(
  SELECT id FROM jobs WHERE queue = ${queue} AND failed_at IS NULL AND due_at <= now()
  ORDER BY due_at, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING id, payload, attempts AS attempt`);

/** The queues with a job that is due within this many milliseconds. */
export async function selectDueQueues(db: Sql, queues: readonly string[], withinMs: number): Promise<string[]> {
  const rows = await db.query<{ queue: string }>(sql`
SELECT worked.queue FROM unnest(${queues}::text[]) AS worked (queue) WHERE EXISTS (
  SELECT FROM jobs WHERE jobs.queue = worked.queue AND failed_at IS NULL AND due_at <= ${fromNow(withinMs)}
)`);
  return rows.map(({ queue }) => queue);
}

/**
 * Milliseconds until the queue's next job is due or a running job's lease ends, at least 0. Null without such a job.
 */
export async function nextDueInMs(db: Sql, queue: string): Promise<number | null> {
  const [next] = await db.query<{ ms: number }>(sql`
SELECT greatest(0, ceil(extract(epoch FROM due_at - now()) * 1000))::float8 AS ms
FROM jobs WHERE queue = ${queue} AND failed_at IS NULL ORDER BY due_at, id LIMIT 1`);
  return next?.ms ?? null;
}

/** SQL condition: this node still has the job's lease. It is false once another node has claimed the job. */
const stillOurs = ({ id, attempt }: ClaimedJob): Statement =>
  sql`id = ${id} AND attempts = ${attempt} AND failed_at IS NULL`;

export const finishJob = (db: Sql, job: ClaimedJob) => db.query(sql`DELETE FROM jobs WHERE ${stillOurs(job)}`);

export const extendLease = (db: Sql, job: ClaimedJob, leaseMs: number) =>
  db.query(sql`UPDATE jobs SET due_at = ${fromNow(leaseMs)} WHERE ${stillOurs(job)}`);

export const postponeJob = (db: Sql, job: ClaimedJob, inMs: number, error: string) =>
  db.query(sql`UPDATE jobs SET due_at = ${fromNow(inMs)}, last_error = ${error} WHERE ${stillOurs(job)}`);

export const failJob = (db: Sql, job: ClaimedJob, error: string) =>
  db.query(sql`UPDATE jobs SET failed_at = now(), last_error = ${error} WHERE ${stillOurs(job)}`);

/**
 * A queue's jobs, counted by state. `waiting`: all that have not failed for good, including running jobs. `lastError`
 * is the error of the latest job that failed for good.
 */
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

/**
 * The numbers of jobs in each queue, for the gauges of the metrics, in one scan of the table. Finished jobs are
 * deleted, so the table is small.
 */
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

/**
 * Retries the jobs of a queue that failed for good, starting again at the first attempt.
 * @returns the number of these jobs
 */
export async function retryFailedJobs(db: Sql, queue: string): Promise<number> {
  const retried = await db.query(sql`
    WITH retried AS (
      UPDATE jobs SET failed_at = NULL, attempts = 0, due_at = now() WHERE queue = ${queue} AND failed_at IS NOT NULL RETURNING 1
    ), woken AS (SELECT pg_notify('jobs', ${queue}) WHERE EXISTS (SELECT FROM retried))
    SELECT 1 FROM retried, (SELECT count(*) FROM woken) AS w`);
  return retried.length;
}

/** Deletes jobs that failed for good before the given time, except those of some queues. */
export const sweepFailedJobs = (db: Sql, before: Date, exemptQueues: readonly string[] = []) =>
  db.query(sql`DELETE FROM jobs WHERE failed_at < ${before} AND NOT queue = ANY (${exemptQueues}::text[])`);

/** The due time of a held job, so far away that no node claims it. */
const never: Statement = sql`'9999-01-01T00:00:00Z'::timestamptz`;
const isHeld: Statement = sql`failed_at IS NULL AND due_at = ${never}`;

/** No queue has a longer lease. A job that was running at a given time is due again within this interval. */
const maxLease: Statement = sql`interval '15 minutes'`;

/**
 * Holds all jobs that the service may have run after the backup: they wait until somebody releases or discards them.
 * Used after a restore, so that no mail is sent twice and no refund paid twice unnoticed.
 * @param ranAt the time at which the backup ended: the service still ran then
 */
export const holdJobs = (db: Sql, ranAt: Date) =>
  db.query(sql`
    UPDATE jobs SET due_at = ${never} WHERE failed_at IS NULL AND due_at <= greatest(now(), ${ranAt}) + ${maxLease}`);

/** The number of held jobs by queue. */
export async function countHeldJobs(db: Sql): Promise<{ [queue: string]: number }> {
  const queues = await db.query<{ queue: string; jobs: number }>(sql`
    SELECT queue, count(*)::int AS jobs FROM jobs WHERE ${isHeld} GROUP BY queue ORDER BY queue`);
  return Object.fromEntries(queues.map(({ queue, jobs }) => [queue, jobs]));
}

/** Releases the held jobs of all queues, and wakes the workers of `queues`. */
export async function releaseHeldJobs(tx: Tx, queues: readonly string[]): Promise<void> {
  await tx.query(sql`UPDATE jobs SET due_at = now() WHERE ${isHeld}`);
  for (const queue of queues) await tx.query(sql`SELECT pg_notify('jobs', ${queue})`);
}

export const discardHeldJobs = (db: Sql) => db.query(sql`DELETE FROM jobs WHERE ${isHeld}`);

/** The queues with jobs that failed for good, with the number of these jobs and the time of the newest failure. */
export const failedQueues = (db: Sql) =>
  db.query<{ queue: string; count: number; newest: Date }>(sql`
    SELECT queue, count(*)::int AS count, max(failed_at) AS newest FROM jobs WHERE failed_at IS NOT NULL GROUP BY queue`);

const unfinished = (queue: Part<string>, which: Statement): Statement =>
  sql`FROM jobs WHERE jobs.queue = ${queue} AND jobs.failed_at IS NULL AND ${which}`;

/** SQL condition: the queue has an unfinished job whose payload meets the condition on `payload`. */
export const hasJob = (queue: Part<string>, which: Statement): Statement =>
  sql`EXISTS (SELECT ${unfinished(queue, which)})`;

/** Like `hasJob`, but ignores a job whose first attempt is more than a minute away. */
export const hasJobSoon = (queue: Part<string>, which: Statement): Statement =>
  hasJob(queue, sql`${which} AND (jobs.attempts > 0 OR jobs.due_at <= now() + interval '1 minute')`);

/**
 * A subquery for `IN`. For each unfinished job of the queue that meets the condition `which`, it selects `value`, an
 * expression on the job's `payload`.
 */
export const jobValues = (queue: Part<string>, value: Statement, which: Statement): Statement =>
  sql`SELECT ${value} ${unfinished(queue, which)}`;

/**
 * Queues a job that becomes due after `inMs`. Does nothing if a job with the same payload is due by then and has had no
 * attempt yet.
 */
export const enqueueUnlessDue = (tx: Tx, queue: string, payload: object, inMs: number) =>
  tx.query(sql`
    SELECT enqueue_job(${queue}, ${payload}::jsonb, ${fromNow(inMs)}) WHERE NOT ${hasJob(
      queue,
      sql`payload = ${payload}::jsonb AND attempts = 0 AND due_at <= ${fromNow(inMs)}`,
    )}`);
