import { createFairQueue } from "../bounds/fair-queue.ts";
import { type KillReason, type Task, type TaskCall, TaskKilled, type Workers } from "./task.ts";
import { lengthOf, startThread, type Thread, type ThreadLimits } from "./thread.ts";

export type WorkerPool = Workers & {
  /** Ends running tasks and refuses queued ones, with `TaskKilled`. */
  readonly close: () => Promise<void>;
};

type PoolSettings = ThreadLimits & {
  /**
   * The largest number of threads. With several threads, the tasks of one holder (`TaskCall`) may use all but one of
   * them.
   */
  readonly size: number;
  /** Called for each task that is killed, but not when the pool closes. */
  readonly onKilled?: (task: string, why: KillReason) => void;
};

type Waiting = {
  readonly task: Task<unknown, unknown>;
  readonly call: TaskCall<unknown>;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** Tasks with more bytes of input than this run one at a time, because each may use several times that much memory. */
export const largeTaskBytes = 16 * 1024 * 1024;

const isLarge = ({ bytes = [] }: TaskCall<unknown>): boolean => lengthOf(bytes) > largeTaskBytes;

/** A pool of worker threads, which are started on demand and reused. A killed thread is replaced. */
export function createWorkerPool({ size, onKilled, ...limits }: PoolSettings): WorkerPool {
  const perHolder = Math.max(1, size - 1);
  const queue = createFairQueue<Waiting>();
  const threads = new Set<Thread>();
  // The idle threads. The one that finished last is used first, because it has probably loaded the needed modules.
  const idle: Thread[] = [];
  const busy = new Map<string, number>();
  let closed = false;

  let largeRunning = false;
  const mayRun = (holder: string, { call }: Waiting) =>
    (busy.get(holder) ?? 0) < perHolder && !(largeRunning && isLarge(call));
  const count = (holder: string, by: 1 | -1) => {
    const now = (busy.get(holder) ?? 0) + by;
    if (now > 0) busy.set(holder, now);
    else busy.delete(holder);
  };
  const freeThread = () => {
    for (let thread = idle.pop(); thread; thread = idle.pop()) {
      if (thread.isAlive()) return thread;
      threads.delete(thread);
    }
    const thread = startThread(limits);
    threads.add(thread);
    return thread;
  };

  function startWaiting(): void {
    while (idle.length > 0 || threads.size < size) {
      const next = queue.next(mayRun);
      if (!next) return;
      void perform(freeThread(), next.holder, next.item);
    }
  }

  async function perform(thread: Thread, holder: string, { task, call, resolve, reject }: Waiting): Promise<void> {
    count(holder, 1);
    const large = isLarge(call);
    if (large) largeRunning = true;
    let killed: KillReason | null = null;
    try {
      resolve(await thread.perform(task, call));
    } catch (error) {
      if (error instanceof TaskKilled) killed = error.why;
      reject(error);
    }
    count(holder, -1);
    if (large) largeRunning = false;
    if (killed === null) idle.push(thread);
    else {
      threads.delete(thread);
      if (killed !== "closed") onKilled?.(task.name, killed);
      await thread.end(killed);
    }
    if (!closed) startWaiting();
  }

  return {
    run: <Input, Output>(task: Task<Input, Output>, call: TaskCall<Input>) =>
      new Promise<Output>((resolve, reject) => {
        if (closed) return reject(new TaskKilled("closed"));
        // The cast is safe: the queue has tasks of all kinds, and each gets an output of the type that it declares.
        const waiting = { task, call, resolve, reject } as Waiting;
        queue.add(call.holder, waiting);
        startWaiting();
      }),
    async close() {
      closed = true;
      for (const { reject } of queue.clear()) reject(new TaskKilled("closed"));
      await Promise.all([...threads].map((thread) => thread.end("closed")));
    },
  };
}
