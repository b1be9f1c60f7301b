import { type Clock, minuteMs } from "../clock.ts";

/**
 * A circuit breaker for requests to a server. After failures it refuses requests for a while (the cool-down), so that
 * an unresponsive server doesn't delay every caller.
 */
export type Breaker = {
  /**
   * True if the caller may send a request now. After several consecutive failures, false for every caller until the
   * cool-down ends. Then one caller is admitted. The result of that caller's request ends the refusals or starts the
   * cool-down again. An admitted caller must report `succeeded` or `failed`.
   */
  readonly admits: () => boolean;
  readonly succeeded: () => void;
  readonly failed: () => void;
  /** Starts the cool-down at once, after a failure that is certain to repeat. */
  readonly open: () => void;
  /** True during the cool-down. This only reads the state, while `admits` may also admit the caller. */
  readonly isOpen: () => boolean;
};

export type BreakerSettings = {
  /** The number of consecutive failures that starts the cool-down. */
  readonly failures: number;
  readonly coolDownMs: number;
};

export const defaultBreaker: BreakerSettings = { failures: 3, coolDownMs: minuteMs };

export function createBreaker(settings: BreakerSettings, clock: Clock): Breaker {
  let failuresInARow = 0;
  /** The end of the cool-down in epoch milliseconds; null without a cool-down. */
  let openUntil: number | null = null;
  let probing = false;
  function fail(failures: number): void {
    failuresInARow = failures;
    probing = false;
    if (failuresInARow >= settings.failures) openUntil = clock().getTime() + settings.coolDownMs;
  }
  return {
    admits: () => {
      if (openUntil === null) return true;
      if (probing || clock().getTime() < openUntil) return false;
      probing = true;
      return true;
    },
    succeeded: () => {
      failuresInARow = 0;
      openUntil = null;
      probing = false;
    },
    failed: () => fail(failuresInARow + 1),
    open: () => fail(Math.max(failuresInARow + 1, settings.failures)),
    isOpen: () => openUntil !== null && clock().getTime() < openUntil,
  };
}
