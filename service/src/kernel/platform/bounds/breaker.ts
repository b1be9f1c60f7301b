import type { Clock } from "../clock.ts";

/** Keeps a server that does not answer from slowing everyone who would ask it. */
export type Breaker = {
  /**
   * Whether to ask now. After a run of failures: not until the cool-down is over, and then one caller alone, whose
   * outcome decides. A caller that may try must report `succeeded` or `failed`.
   */
  readonly admits: () => boolean;
  readonly succeeded: () => void;
  readonly failed: () => void;
  /** A failure that needs no second one to open it. */
  readonly open: () => void;
  /** Whether nobody may ask now, for the cool-down lasts; asking changes nothing. */
  readonly isOpen: () => boolean;
};

export type BreakerSettings = {
  /** How many failures in a row open it. */
  readonly failures: number;
  readonly coolDownMs: number;
};

export const defaultBreaker: BreakerSettings = { failures: 3, coolDownMs: 60_000 };

export function createBreaker(settings: BreakerSettings, clock: Clock): Breaker {
  let failuresInARow = 0;
  /** Epoch milliseconds; null when closed. */
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
