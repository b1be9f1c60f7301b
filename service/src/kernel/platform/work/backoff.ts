import { hourMs } from "../clock.ts";

/** The delay after this many consecutive failures. It begins with one second and doubles each time, up to `maxMs`. */
export const backoffMs = (failures: number, maxMs: number = hourMs): number =>
  Math.min(1_000 * 2 ** (failures - 1), maxMs);
