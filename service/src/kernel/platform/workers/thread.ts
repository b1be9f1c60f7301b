import { Worker } from "node:worker_threads";
import type { Answered, Asked } from "./messages.ts";
import { type KillReason, type Task, type TaskCall, TaskKilled } from "./task.ts";

/** A worker thread that runs one task at a time. */
export type Thread = {
  /**
   * Runs a task.
   * @throws TaskKilled when the task was stopped, and the thread with it; otherwise the task's own error, as a plain
   * Error
   */
  readonly perform: (task: Task<unknown, unknown>, call: TaskCall<unknown>) => Promise<unknown>;
  /** Ends the thread and its running task. */
  readonly end: (why: KillReason) => Promise<void>;
  readonly isAlive: () => boolean;
};

/** The memory limits of a task. `heapMb` is for its heap and its buffers outside the heap together. */
export type ThreadLimits = {
  readonly heapMb: number;
  /**
   * The memory limit of the whole process. When the process exceeds it, tasks that use much memory are killed, even if
   * they are within their own limits.
   */
  readonly processMb: number;
};

/** When the process exceeds its limit, a task with less memory than this is not killed. */
const muchMb = 128;

/**
 * Reaching V8's own memory limit can end the whole process. So V8's limit is this multiple of the service's limit, and
 * a task is killed long before it reaches V8's limit.
 */
const hardLimit = 4;
const watchMs = 50;
/**
 * A task may last this many times as long as its limit of processor time, because other threads also need the
 * processor.
 */
const slowdown = 4;
const megabyte = 1024 * 1024;

/**
 * Memory is allocated in these steps, so that a document and its slightly larger sealed version usually fit into memory
 * of the same size.
 */
const memoryStep = 4 * 1024 * 1024;

/** Starts a thread. An idle thread doesn't keep the process alive. */
export function startThread({ heapMb, processMb }: ThreadLimits): Thread {
  const worker = new Worker(new URL("./entry.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: hardLimit * heapMb },
  });
  worker.unref();
  let memory = new ArrayBuffer(0);
  let settle: ((error: unknown, answered?: Answered) => void) | undefined;
  worker.on("message", (answered: Answered) => settle?.(null, answered));
  worker.on("error", (error: NodeJS.ErrnoException) => {
    const why = error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash";
    settle?.(new TaskKilled(why, { cause: error }));
  });
  let alive = true;
  worker.on("exit", (code) => {
    alive = false;
    settle?.(new TaskKilled("crash", { cause: new Error(`the thread ended with ${code}`) }));
  });

  const end = async (why: KillReason) => {
    settle?.(new TaskKilled(why));
    await worker.terminate();
  };
  const watchTime = async (limitMs: number, before: NodeJS.CpuUsage) => {
    const { user, system } = await worker.cpuUsage(before);
    if ((user + system) / 1000 > limitMs) await end("time");
  };
  const watchHeap = async () => {
    const { used_heap_size: used, external_memory: outside } = await worker.getHeapStatistics();
    const own = (used + outside) / megabyte;
    const max = process.memoryUsage.rss() > processMb * megabyte ? muchMb : heapMb;
    if (own > max) await end("memory");
  };
  const ask = (task: Task<unknown, unknown>, { bytes = [], input }: TaskCall<unknown>) =>
    new Promise<Answered>((resolve, reject) => {
      const timer = setTimeout(() => void end("time"), slowdown * task.limitMs);
      // A thread that has not started has used no processor time.
      const before = worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
      // The thread may end during the measurement, which then fails. That error is ignored, because an event reports
      // the end of the thread.
      const watch = setInterval(() => {
        void watchHeap().catch(() => {});
        void before.then((used) => watchTime(task.limitMs, used)).catch(() => {});
      }, watchMs);
      settle = (error, answered) => {
        settle = undefined;
        clearTimeout(timer);
        clearInterval(watch);
        worker.unref();
        if (answered) resolve(answered);
        else reject(error);
      };
      worker.ref();
      try {
        const parts = bytes instanceof Uint8Array ? [bytes] : bytes;
        const length = lengthOf(bytes);
        if (memory.byteLength < length) memory = new ArrayBuffer(Math.ceil(length / memoryStep) * memoryStep);
        fill(new Uint8Array(memory), parts);
        const asked: Asked = { module: task.module, memory, length, input };
        worker.postMessage(asked, [memory]);
      } catch (error) {
        settle(error);
      }
    });

  return {
    end,
    isAlive: () => alive,
    async perform(task, call) {
      const answered = await ask(task, call);
      memory = answered.memory;
      if ("error" in answered) throw answered.error;
      return answered.output;
    },
  };
}

/** The length of one part, or the sum of the lengths of several parts. */
export const lengthOf = (bytes: Uint8Array | readonly Uint8Array[]): number =>
  bytes instanceof Uint8Array ? bytes.length : bytes.reduce((sum, part) => sum + part.length, 0);

function fill(memory: Uint8Array, parts: readonly Uint8Array[]): void {
  let at = 0;
  for (const part of parts) {
    memory.set(part, at);
    at += part.length;
  }
}
