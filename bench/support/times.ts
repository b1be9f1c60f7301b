/**
 * The 95th percentile by nearest rank: the smallest value that at least 95 of 100 values don't exceed. NaN without
 * values.
 */
export const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

/** The milliseconds that the work takes, and the work's result. */
export async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const from = performance.now();
  const result = await work();
  return [performance.now() - from, result];
}

/** Milliseconds of each round. */
export async function timesOf(rounds: number, work: (round: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push((await timed(() => work(round)))[0]);
  return times;
}
