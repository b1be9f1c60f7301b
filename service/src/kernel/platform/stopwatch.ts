/**
 * Milliseconds of a clock that never jumps, from an arbitrary start. Only for durations in this process. Use `Clock`
 * for a time that is stored or compared with a stored time.
 */
export const monotonicMs = (): number => performance.now();

/**
 * Starts a stopwatch.
 * @returns a function that returns the milliseconds since the start
 */
export function stopwatch(): () => number {
  const startedAt = monotonicMs();
  return () => monotonicMs() - startedAt;
}

/**
 * Starts a time limit.
 * @returns a function that returns true once the time is over
 */
export function timeLimit(ms: number): () => boolean {
  const elapsed = stopwatch();
  return () => elapsed() >= ms;
}
