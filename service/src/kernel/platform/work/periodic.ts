import type { Log } from "../logs.ts";
import { createLoop, type Loop } from "./loop.ts";

const seconds = 1000;

/** Work that every node repeats; it is safe to run on several nodes. */
export type PeriodicTask = {
  name: string;
  everyMs: number;
  /** Whether the work also runs at the start of the node. */
  atStart?: boolean;
  work: (stopping: AbortSignal) => Promise<unknown>;
};

/** The loop that repeats a task until it is stopped. @param delayMs delays all turns */
export function loopOf({ name, everyMs, atStart, work }: PeriodicTask, { log }: { log: Log }, delayMs: number): Loop {
  async function turn(stopping: AbortSignal): Promise<number> {
    await work(stopping);
    return everyMs;
  }
  // Without this pause, a failing task that runs every second would fill the log.
  const longestPauseMs = Math.max(everyMs, 5 * seconds);
  return createLoop({ name, log, turn, firstAfterMs: delayMs + (atStart ? 0 : everyMs), longestPauseMs });
}
