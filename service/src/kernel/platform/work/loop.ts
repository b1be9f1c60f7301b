import type { Log } from "../logs.ts";
import { backoffMs } from "./backoff.ts";

/** Work that runs again and again, one turn after the other, until it is stopped. */
export type Loop = {
  start: () => void;
  /** Makes the next turn start now. If a turn is in progress, the next one starts right after it. */
  wake: () => void;
  /** Ends the loop; resolves when the turn in progress has ended. */
  stop: () => Promise<void>;
};

export type LoopSettings = {
  /** The name of the loop in the log. */
  name: string;
  log: Log;
  /**
   * One turn. Its errors are logged, except while the loop is stopping. Each further failure lengthens the pause before
   * the next turn.
   * @param stopping aborted when the loop must stop
   * @returns milliseconds until the next turn, unless `wake` is called earlier
   */
  turn: (stopping: AbortSignal) => Promise<number>;
  /** The delay before the first turn; default 0. */
  firstAfterMs?: number;
  /** The longest pause between turns after failures; default 5 s. */
  maxPauseMs?: number;
};

export function createLoop(settings: LoopSettings): Loop {
  const { name, log, turn, firstAfterMs = 0, maxPauseMs = 5_000 } = settings;
  const signal = createSignal();
  const stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  let failures = 0;

  async function runTurn(): Promise<number> {
    try {
      const waitMs = await turn(stopping.signal);
      failures = 0;
      return waitMs;
    } catch (error) {
      failures += 1;
      if (!stopping.signal.aborted) log.error({ err: error, task: name }, "work failed and will be tried again");
      return backoffMs(failures, maxPauseMs);
    }
  }

  async function run(): Promise<void> {
    let waitMs = firstAfterMs;
    for (;;) {
      if (waitMs > 0) await signal.wait(waitMs);
      if (stopping.signal.aborted) return;
      waitMs = await runTurn();
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

/**
 * A signal to wake up, which is remembered until somebody waits: if `give()` was called before, the next wait returns
 * at once.
 */
type Signal = {
  give: () => void;
  /**
   * Resolves at once if `give()` was called since the last wait. Otherwise resolves at the next `give()`, or after
   * `withinMs`.
   */
  wait: (withinMs: number) => Promise<void>;
};

/** Only one caller may wait for the signal at a time. */
export function createSignal(): Signal {
  let isSignaled = false;
  let wake = () => {};
  return {
    give() {
      isSignaled = true;
      wake();
    },
    async wait(withinMs) {
      if (!isSignaled) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, withinMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isSignaled = false;
    },
  };
}
