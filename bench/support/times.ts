export const p95 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * 0.95))] ?? 0;

/** Milliseconds of the work, and its result. */
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
