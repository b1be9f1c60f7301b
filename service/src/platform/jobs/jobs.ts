/**
 * Jobs: work that leaves the house (mails, deliveries, refunds), done after the transaction that caused it.
 *
 * - `enqueue(tx, "queue", payload, dueAt?)` writes a job in the caller's transaction; triggers and big statements may
 *   `SELECT enqueue_job('queue', payload, due_at)` instead. Payloads are JSON objects.
 * - `const jobs = createJobs({ db, log })`, then `jobs.work("queue", handler, options)` for each queue, then
 *   `await jobs.start()`, and `await jobs.stop()` at the end. Any number of nodes may work on the same queues.
 * - A job is done at least once. A handler that throws is run again after `retryMs(attempt)`; after `maxAttempts` the row stays
 *   with its `failed_at` and the failure is logged. With `maxAttempts: 1` a job that began is not begun again by an error, but
 *   still is after a crash.
 * - While a handler runs its lease is kept. A killed node's jobs are retaken when their leases end, `leaseMs` later at most.
 */
import type { Database } from "../database.ts";
import type { Log } from "../logs.ts";
import { type Claimed, claimDue, finish, giveUp, keepLease, nextDueInMs, postpone } from "./store.ts";

export { enqueue, sweepFailedJobs } from "./store.ts";

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

export type Jobs = {
  work: <P extends object>(queue: string, handler: Handler<P>, options?: WorkOptions) => void;
  start: () => Promise<void>;
  /** Takes no more jobs, waits `graceMs` for those that run, then aborts their signal and lets them go. */
  stop: (graceMs?: number) => Promise<void>;
};

export type JobsDeps = {
  db: Database;
  log: Log;
  /** Told of each job's end, for counting. */
  onOutcome?: (queue: string, outcome: JobOutcome) => void;
};

const channel = "jobs";
const hourMs = 3_600_000;
// A notification may be lost with its connection; then a job waits this long at most.
const pollMs = 5_000;
const doubling = (attempt: number): number => Math.min(1000 * 2 ** (attempt - 1), hourMs);

type Queue = { wake: () => void; ended: Promise<void> };

export function createJobs({ db, log, onOutcome = () => undefined }: JobsDeps): Jobs {
  const begins = new Map<string, () => Queue>();
  const queues = new Map<string, Queue>();
  const abort = new AbortController();
  let stopping = false;
  let stopListening: (() => Promise<void>) | undefined;

  function begin<P extends object>(name: string, handler: Handler<P>, options: WorkOptions): Queue {
    const { concurrency = 10, maxAttempts = 10, retryMs = doubling, leaseMs = 30_000 } = options;
    const running = new Set<Promise<void>>();
    let wake = () => {};
    let woken = false;

    async function run(job: Claimed): Promise<void> {
      const lease = setInterval(() => {
        keepLease(db, job, leaseMs).catch((error) =>
          log.warn({ err: error, queue: name }, "a job's lease was not kept"),
        );
      }, leaseMs / 3);
      try {
        await handler(job.payload as P, { attempt: job.attempt, signal: abort.signal });
        clearInterval(lease);
        await finish(db, job);
        onOutcome(name, "done");
      } catch (error) {
        clearInterval(lease);
        const message = error instanceof Error ? error.message : String(error);
        if (job.attempt < maxAttempts) {
          log.warn(
            { err: error, queue: name, job: job.id, attempt: job.attempt },
            "a job failed and will be tried again",
          );
          await postpone(db, job, retryMs(job.attempt), message);
          onOutcome(name, "retry");
        } else {
          log.error({ err: error, queue: name, job: job.id, attempt: job.attempt }, "a job failed for good");
          await giveUp(db, job, message);
          onOutcome(name, "dead");
        }
      }
    }

    /** Until somebody wakes this queue or the time is over. */
    function sleep(ms: number): Promise<void> {
      if (woken) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }

    async function takeDue(): Promise<number> {
      const free = concurrency - running.size;
      if (free <= 0) return pollMs;
      const jobs = await claimDue(db, name, free, leaseMs);
      for (const job of jobs) {
        const work = run(job)
          .catch((error) => log.error({ err: error, queue: name, job: job.id }, "a job's end was not recorded"))
          .finally(() => {
            running.delete(work);
            wakeUp();
          });
        running.add(work);
      }
      if (jobs.length === free) return pollMs;
      return Math.min((await nextDueInMs(db, name)) ?? pollMs, pollMs);
    }

    function wakeUp(): void {
      woken = true;
      wake();
    }

    async function loop(): Promise<void> {
      while (!stopping) {
        woken = false;
        const waitMs = await takeDue().catch((error) => {
          log.warn({ err: error, queue: name }, "jobs cannot be read");
          return 1000;
        });
        if (!stopping) await sleep(waitMs);
      }
      await Promise.allSettled(running);
    }

    return { wake: wakeUp, ended: loop() };
  }

  return {
    work(queue, handler, options = {}) {
      begins.set(queue, () => begin(queue, handler, options));
    },
    async start() {
      stopListening = await db.listen(channel, (queue) => {
        // An empty name: the connection was lost for a while, anything may have come.
        if (queue === "") for (const each of queues.values()) each.wake();
        else queues.get(queue)?.wake();
      });
      for (const [name, start] of begins) queues.set(name, start());
    },
    async stop(graceMs = 2_000) {
      stopping = true;
      await stopListening?.();
      for (const queue of queues.values()) queue.wake();
      const ended = Promise.all([...queues.values()].map((queue) => queue.ended));
      const cut = setTimeout(() => abort.abort(), graceMs);
      const lost = new Promise((resolve) =>
        abort.signal.addEventListener("abort", () => setTimeout(resolve, 500).unref()),
      );
      await Promise.race([ended, lost]);
      clearTimeout(cut);
    },
  };
}
