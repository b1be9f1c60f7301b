import type { KeyedSemaphore } from "../bounds/keyed-semaphore.ts";
import type { Database } from "../database/database.ts";
import { type Log, maskSecrets } from "../logs.ts";
import { backoffMs } from "../work/backoff.ts";
import { createLoop, type Loop } from "../work/loop.ts";
import { type ClaimedJob, claimDueJobs, extendLease, failJob, finishJob, nextDueInMs, postponeJob } from "./store.ts";

/** Does one job. `signal` is aborted when the node stops and waits no longer. */
export type Handler<P> = (payload: P, about: { attempt: number; signal: AbortSignal }) => Promise<void>;

export type WorkOptions = {
  /** Jobs of this queue at once on this node; default 10. */
  concurrency?: number;
  /** Default 10. */
  maxAttempts?: number;
  /** How long to wait after the given attempt (from 1) has failed; default doubles from 1 s to an hour. */
  retryMs?: (attempt: number) => number;
  /** Default 30 s. */
  leaseMs?: number;
};

export type JobOutcome = "done" | "retry" | "dead";

export type JobsDeps = {
  db: Database;
  log: Log;
  /** Counts each job's end. */
  onOutcome?: (queue: string, outcome: JobOutcome) => void;
};

// Until then it is woken: by a notification, the end of a job, or the look at what all queues have due (jobs.ts).
const longestWaitMs = 3_600_000;

export type QueueDeps = JobsDeps & {
  /** Looks for jobs, a few queues at a time. */
  look: KeyedSemaphore;
  /** Aborted when the node stops and waits no longer. */
  abort: AbortSignal;
};

/** Works on one queue. `stop` waits for the jobs that run. */
export function createQueue<P extends object>(
  deps: QueueDeps,
  name: string,
  handler: Handler<P>,
  options: WorkOptions,
): Loop {
  const { db, log, look, abort } = deps;
  const { concurrency = 10, leaseMs = 30_000 } = options;
  const running = new Set<Promise<void>>();
  const loop = createLoop({ name: `jobs ${name}`, log, turn: takeDue, firstAfterMs: longestWaitMs });

  async function takeDue(): Promise<number> {
    const free = concurrency - running.size;
    if (free === 0) return longestWaitMs;
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
    if (jobs.length === free) return longestWaitMs;
    return Math.min((await look(name, () => nextDueInMs(db, name))) ?? longestWaitMs, longestWaitMs);
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
 * Does `work`, and extends its lease three times in the lease's length.
 * @param extend gives the lease its full length again; must not reject
 */
async function withLease<T>(leaseMs: number, extend: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(extend, leaseMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
