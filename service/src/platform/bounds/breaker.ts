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
    failed: () => {
      failuresInARow += 1;
      probing = false;
      if (failuresInARow >= settings.failures) openUntil = clock().getTime() + settings.coolDownMs;
    },
    isOpen: () => openUntil !== null && clock().getTime() < openUntil,
  };
}
