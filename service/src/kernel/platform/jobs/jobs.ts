/**
 * Jobs are work that follows a transaction, such as mails, refunds and the closing of checkouts. They run after its
 * commit.
 * - `enqueue(tx, "queue", payload, dueAt?)` writes a job in the caller's transaction. Triggers and large statements may
 *   use `SELECT enqueue_job('queue', payload, due_at)`. Payloads are JSON objects.
 * - Call `createJobs({ db, log })`, then `jobs.work("queue", handler, options)` for each queue, then `await
 *   jobs.start()`, and `await jobs.stop()` at the end. Any number of nodes may work on the same queues.
 * - A job runs at least once, unless an operator discards it after a restore. If the handler throws, the job runs again
 *   after `retryMs(attempt)`. After `maxAttempts`, the job's row stays with `failed_at` set, and the failure is logged.
 *   With `maxAttempts: 1` a job runs again after an error only if an operator retries it, but always after a crash.
 * - The lease of a job is extended while its handler runs. After a node is killed, other nodes claim its jobs when
 *   their leases end, after `leaseMs` at most.
 */
import { createKeyedSemaphore } from "../bounds/keyed-semaphore.ts";
import { endsWithin } from "../work/ends-within.ts";
import { createLoop, type Loop } from "../work/loop.ts";
import { createQueue, type Handler, type JobsDeps, type WorkOptions } from "./queue.ts";
import { selectDueQueues } from "./store.ts";

export type { Handler, JobsDeps, WorkOptions } from "./queue.ts";
export {
  countHeldJobs,
  discardHeldJobs,
  enqueue,
  enqueueAfter,
  enqueueTimed,
  enqueueUnlessDue,
  enqueueVouched,
  failedQueues,
  hasJob,
  hasJobSoon,
  holdJobs,
  jobGauges,
  jobValues,
  type QueueState,
  releaseHeldJobs,
  requeue,
  retryFailedJobs,
  selectQueues,
  sweepFailedJobs,
  type Timed,
  vouchedPayload,
  vouchForQueued,
  waitedMs,
} from "./store.ts";

export type Jobs = {
  work: <P extends object>(queue: string, handler: Handler<P>, options?: WorkOptions) => void;
  start: () => Promise<void>;
  /**
   * Claims no more jobs, and waits `graceMs` for the running ones. If that is not enough, aborts their signals and
   * waits at most another 0.5 s.
   */
  stop: (graceMs?: number) => Promise<void>;
};

const channel = "jobs";
// The interval at which all queues are checked. Notifications alone are not enough: a notification is lost when its
// connection breaks, and the expiry of a dead node's lease sends none.
const lookMs = 5_000;
// The number of queues that may query for jobs at once. All of them together would use every connection of the pool.
const queuesAtOnce = 3;
// The time that a job may take to stop after its signal is aborted.
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
        // An empty name means that the connection was interrupted. Notifications may have been missed, so all queues
        // are checked.
        (name === "" ? lookout : queues.get(name))?.wake();
      });
      await listening;
      for (const queue of all()) queue.start();
      lookout.start();
    },
    async stop(graceMs = 2_000) {
      // Waits for a `start` that is still in progress. Otherwise the connection that it opens would stay open forever.
      const stopListening = await listening?.catch(() => null);
      await stopListening?.();
      const stopped = Promise.all([lookout, ...all()].map((loop) => loop.stop()));
      if (await endsWithin(stopped, graceMs)) return;
      abort.abort();
      await endsWithin(stopped, abortMs);
    },
  };
}
