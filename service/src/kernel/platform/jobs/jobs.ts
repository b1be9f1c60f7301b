/**
 * Jobs: work that leaves the service (mails, refunds, the closing of checkouts), done after the transaction that caused it.
 *
 * - `enqueue(tx, "queue", payload, dueAt?)` writes a job in the caller's transaction; triggers and big statements may
 *   `SELECT enqueue_job('queue', payload, due_at)` instead. Payloads are JSON objects.
 * - `const jobs = createJobs({ db, log })`, then `jobs.work("queue", handler, options)` for each queue, then
 *   `await jobs.start()`, and `await jobs.stop()` at the end. Any number of nodes may work on the same queues.
 * - A job is done at least once. A handler that throws is run again after `retryMs(attempt)`; after `maxAttempts` the row stays
 *   with its `failed_at` and the failure is logged. With `maxAttempts: 1` a job that began is not begun again by an error, but
 *   still is after a crash.
 * - While a handler runs its lease is extended. A killed node's jobs are retaken when their leases end, `leaseMs` later at most.
 */
import { createKeyedSemaphore } from "../bounds/keyed-semaphore.ts";
import { endsWithin } from "../work/ends-within.ts";
import { createLoop, type Loop } from "../work/loop.ts";
import { createQueue, type Handler, type JobsDeps, type WorkOptions } from "./queue.ts";
import { selectDueQueues } from "./store.ts";

export type { Handler, JobOutcome, JobsDeps, WorkOptions } from "./queue.ts";
export {
  countHeldJobs,
  discardHeldJobs,
  enqueue,
  enqueueAfter,
  enqueueVouched,
  holdJobs,
  jobGauges,
  type QueueState,
  releaseHeldJobs,
  retryFailedJobs,
  selectQueues,
  sweepFailedJobs,
  vouchedPayload,
  vouchForQueued,
} from "./store.ts";

export type Jobs = {
  work: <P extends object>(queue: string, handler: Handler<P>, options?: WorkOptions) => void;
  start: () => Promise<void>;
  /** Takes no more jobs, waits `graceMs` for those that run, then aborts their signal and lets them go. */
  stop: (graceMs?: number) => Promise<void>;
};

const channel = "jobs";
// A notification may be lost with its connection, and a node with its lease: one look at all queues finds what is due by the next.
const lookMs = 5_000;
// Queues that look together would take every connection of the pool.
const queuesAtOnce = 3;
// A job that was asked to stop gets so long to do it.
const abortMs = 500;

export function createJobs(deps: JobsDeps): Jobs {
  const queues = new Map<string, Loop>();
  const abort = new AbortController();
  const look = createKeyedSemaphore(queuesAtOnce);
  let listening: Promise<() => Promise<void>> | undefined;
  const all = () => [...queues.values()];
  const lookout = createLoop({ name: "jobs", log: deps.log, turn: wakeDue });

  async function wakeDue(): Promise<number> {
    for (const name of await selectDueQueues(deps.db, [...queues.keys()], lookMs)) queues.get(name)?.wake();
    return lookMs;
  }

  return {
    work(name, handler, options = {}) {
      queues.set(name, createQueue({ ...deps, look, abort: abort.signal }, name, handler, options));
    },
    async start() {
      listening = deps.db.listen(channel, (name) => {
        // An empty name: the connection was lost for a while, anything may have come.
        (name === "" ? lookout : queues.get(name))?.wake();
      });
      await listening;
      for (const queue of all()) queue.start();
      lookout.start();
    },
    async stop(graceMs = 2_000) {
      // A start in progress is waited for: its connection would be open for ever.
      const stopListening = await listening?.catch(() => null);
      await stopListening?.();
      const stopped = Promise.all([lookout, ...all()].map((loop) => loop.stop()));
      if (await endsWithin(stopped, graceMs)) return;
      abort.abort();
      await endsWithin(stopped, abortMs);
    },
  };
}
