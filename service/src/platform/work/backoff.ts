const hourMs = 3_600_000;

/** The pause after so many failures in a row (from 1): doubles from a second, up to `mostMs`. */
export const doubling = (failures: number, mostMs: number = hourMs): number =>
  Math.min(1_000 * 2 ** (failures - 1), mostMs);
