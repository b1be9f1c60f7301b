import type { Log } from "../logs.ts";
import { backoffMs } from "./backoff.ts";
import { createSignal } from "./signal.ts";

/** Work that is taken up again and again, one turn after the other, until it is stopped. */
export type Loop = {
  start: () => void;
  /** Asks for a turn now, or at the end of the one in progress. */
  wake: () => void;
  /** Begins no other turn; resolves when the one in progress has ended. */
  stop: () => Promise<void>;
};

export type LoopSettings = {
  /** For the log. */
  name: string;
  log: Log;
  /**
   * One turn. What it throws is logged, and the next turn waits the longer the more failed in a row.
   * @param stopping aborted when the loop is to stop
   * @returns milliseconds until the next turn, unless it is asked for earlier
   */
  turn: (stopping: AbortSignal) => Promise<number>;
  /** Until the first turn; default 0. */
  firstAfterMs?: number;
  /** The longest pause after failures; default 5 s. */
  longestPauseMs?: number;
};

export function createLoop(settings: LoopSettings): Loop {
  const { name, log, turn, firstAfterMs = 0, longestPauseMs = 5_000 } = settings;
  const signal = createSignal();
  const stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  let failures = 0;

  async function takeTurn(): Promise<number> {
    try {
      const waitMs = await turn(stopping.signal);
      failures = 0;
      return waitMs;
    } catch (error) {
      failures += 1;
      if (!stopping.signal.aborted) log.error({ err: error, task: name }, "work failed and will be tried again");
      return backoffMs(failures, longestPauseMs);
    }
  }

  async function run(): Promise<void> {
    let waitMs = firstAfterMs;
    for (;;) {
      if (waitMs > 0) await signal.wait(waitMs);
      if (stopping.signal.aborted) return;
      waitMs = await takeTurn();
    }
  }

  return {
    start() {
      ended = run();
    },
    wake: signal.give,
    async stop() {
      stopping.abort();
      signal.give();
      await ended;
    },
  };
}
