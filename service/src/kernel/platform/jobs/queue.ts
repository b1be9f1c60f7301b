import type { KeyedSemaphore } from "../bounds/keyed-semaphore.ts";
import { hourMs } from "../clock.ts";
import type { Database } from "../database/database.ts";
import { type Log, maskSecrets } from "../logs.ts";
import { backoffMs } from "../work/backoff.ts";
import { createLoop, type Loop } from "../work/loop.ts";
import { type ClaimedJob, claimDueJobs, extendLease, failJob, finishJob, nextDueInMs, postponeJob } from "./store.ts";

/** Runs one job. `signal` is aborted when the node stops and the grace period is over. */
export type Handler<P> = (payload: P, about: { attempt: number; signal: AbortSignal }) => Promise<void>;

export type WorkOptions = {
  /** The number of jobs of this queue that run at once on this node; default 10. */
  concurrency?: number;
  /** The attempt at which an error is final; default 10. After a crash, a job runs again even beyond this number. */
  maxAttempts?: number;
  /** The delay after a failed attempt (counted from 1); by default it doubles from 1 s up to an hour. */
  retryMs?: (attempt: number) => number;
  /** The duration of a job's lease; default 30 s. */
  leaseMs?: number;
};

type JobOutcome = "done" | "retry" | "dead";

export type JobsDeps = {
  db: Database;
  log: Log;
  /** Called with the outcome of an attempt, after the outcome was stored. */
  onOutcome?: (queue: string, outcome: JobOutcome) => void;
};

// The longest sleep of a queue. The queue wakes earlier when a notification arrives, when a job ends, or at the regular
// check of all queues (jobs.ts).
const maxWaitMs = hourMs;

export type QueueDeps = JobsDeps & {
  /** Limits how many queues query for jobs at once. */
  look: KeyedSemaphore;
  /** Aborted when the node stops and the grace period is over. */
  abort: AbortSignal;
};

/** Runs the jobs of one queue. `stop` waits for running jobs. */
export function createQueue<P extends object>(
  deps: QueueDeps,
  name: string,
  handler: Handler<P>,
  options: WorkOptions,
): Loop {
  const { db, log, look, abort } = deps;
  const { concurrency = 10, leaseMs = 30_000 } = options;
  const running = new Set<Promise<void>>();
  const loop = createLoop({ name: `jobs ${name}`, log, turn: claimDue, firstAfterMs: maxWaitMs });

  async function claimDue(): Promise<number> {
    const free = concurrency - running.size;
    if (free === 0) return maxWaitMs;
    const jobs = await look(name, () => claimDueJobs(db, name, free, leaseMs));
    for (const job of jobs) {
      const work = doJob(job)
        .catch((error) => log.error({ err: error, queue: name, job: job.id }, "a job's end was not recorded"))
        .finally(() => {
          running.delete(work);
          loop.wake();
        });
      running.add(work);
    }
    if (jobs.length === free) return maxWaitMs;
    return Math.min((await look(name, () => nextDueInMs(db, name))) ?? maxWaitMs, maxWaitMs);
  }

  async function doJob(job: ClaimedJob): Promise<void> {
    const extend = () =>
      extendLease(db, job, leaseMs).then(
        () => {},
        (error) => log.warn({ err: error, queue: name }, "a job's lease was not extended"),
      );
    try {
      await withLease(leaseMs, extend, () => handler(job.payload as P, { attempt: job.attempt, signal: abort }));
    } catch (error) {
      return recordFailure(deps, name, options, job, error);
    }
    await finishJob(db, job);
    deps.onOutcome?.(name, "done");
  }

  return {
    ...loop,
    async stop() {
      await loop.stop();
      await Promise.all(running);
    },
  };
}

async function recordFailure(
  { db, log, onOutcome }: JobsDeps,
  queue: string,
  { maxAttempts = 10, retryMs = backoffMs }: WorkOptions,
  job: ClaimedJob,
  error: unknown,
): Promise<void> {
  const { id, attempt } = job;
  const message = maskSecrets(error instanceof Error ? error.message : String(error));
  const line = { err: error, queue, job: id, attempt };
  if (attempt < maxAttempts) {
    log.warn(line, "a job failed and will be tried again");
    await postponeJob(db, job, retryMs(attempt), message);
    onOutcome?.(queue, "retry");
  } else {
    log.error(line, "a job failed for good");
    await failJob(db, job, message);
    onOutcome?.(queue, "dead");
  }
}

/**
 * Runs `work` and extends its lease three times in each lease period.
 * @param extend renews the full lease; must not reject
 */
async function withLease<T>(leaseMs: number, extend: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(extend, leaseMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
