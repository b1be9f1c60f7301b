import { secondMs } from "../clock.ts";
import type { Log } from "../logs.ts";
import { createLoop, type Loop } from "./loop.ts";

/** Work that every node repeats. Several nodes may do it at the same time. */
export type PeriodicTask = {
  name: string;
  everyMs: number;
  /** True if the work also runs when the node starts. */
  atStart?: boolean;
  work: (stopping: AbortSignal) => Promise<unknown>;
};

/**
 * The loop that repeats a task until it is stopped.
 * @param delayMs delays the first turn, and with it all later ones
 */
export function loopOf({ name, everyMs, atStart, work }: PeriodicTask, { log }: { log: Log }, delayMs: number): Loop {
  async function turn(stopping: AbortSignal): Promise<number> {
    await work(stopping);
    return everyMs;
  }
  // The longest pause after failures. A task that runs every second and always fails would otherwise fill the log.
  const maxPauseMs = Math.max(everyMs, 5 * secondMs);
  return createLoop({ name, log, turn, firstAfterMs: delayMs + (atStart ? 0 : everyMs), maxPauseMs });
}
