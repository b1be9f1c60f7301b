/**
 * The outcome of one budget. `ours` and `other` are in `unit`, and `budget` is the limit of `ratio`. `ratio` is `ours`
 * divided by `other`, unless a benchmark computes it in another way.
 */
export type Result = {
  name: string;
  ours: number;
  other: number;
  unit: string;
  ratio: number;
  budget: number;
  holds: boolean;
};

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

/** A budget on speed: the median of `ours` must be at least `budget` times the median of `other`. */
export function atLeast(name: string, ours: number[], other: number[], unit: string, budget: number): Result {
  const ratio = median(ours) / median(other);
  return { name, ours: median(ours), other: median(other), unit, ratio, budget, holds: ratio >= budget };
}

/** A budget on cost: the median of `ours` must be at most `budget` times the median of `other`. */
export function atMost(name: string, ours: number[], other: number[], unit: string, budget: number): Result {
  const result = atLeast(name, ours, other, unit, budget);
  return { ...result, holds: result.ratio <= budget };
}
