import { setTimeout as sleep } from "node:timers/promises";

const maxMs = 60_000;

/**
 * Polls `look` for up to a minute until it finds something. Polls less often the longer it waits, because many test
 * files wait at once. @returns the result @throws Error after the time-out
 */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = performance.now() + maxMs;
  for (let pauseMs = 10; performance.now() < end; pauseMs = Math.min(pauseMs * 1.3, 80)) {
    const found = await look();
    if (found) return found as NonNullable<T>;
    await sleep(pauseMs);
  }
  throw new Error(`never came to be: ${look}`);
}
