import { setTimeout as sleep } from "node:timers/promises";

/** Polls `look` for up to 20 s until it finds something. @returns the result @throws Error after the time-out */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = performance.now() + 20_000;
  while (performance.now() < end) {
    const found = await look();
    if (found) return found as NonNullable<T>;
    await sleep(20);
  }
  throw new Error(`never came to be: ${look}`);
}
