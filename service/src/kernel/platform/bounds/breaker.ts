import type { Clock } from "../clock.ts";

/**
 * A circuit breaker: a server that does not respond is not asked again for a while, so that it doesn't delay every
 * caller.
 */
export type Breaker = {
  /**
   * Whether the caller may send a request now. After several failures in a row, every caller is refused until the
   * cool-down ends. Then a single caller is admitted, and the outcome of its request decides about the others. An
   * admitted caller must report `succeeded` or `failed`.
   */
  readonly admits: () => boolean;
  readonly succeeded: () => void;
  readonly failed: () => void;
  /** Opens the breaker at once, after a failure so clear that one is enough. */
  readonly open: () => void;
  /**
   * Whether the cool-down still lasts, during which nobody may ask. This check doesn't change the state of the breaker.
   */
  readonly isOpen: () => boolean;
};

export type BreakerSettings = {
  /** The number of consecutive failures that opens the breaker. */
  readonly failures: number;
  readonly coolDownMs: number;
};

export const defaultBreaker: BreakerSettings = { failures: 3, coolDownMs: 60_000 };

export function createBreaker(settings: BreakerSettings, clock: Clock): Breaker {
  let failuresInARow = 0;
  /** The end of the cool-down in epoch milliseconds; null when the breaker is closed. */
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
