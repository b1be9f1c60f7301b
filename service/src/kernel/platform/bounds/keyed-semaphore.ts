import { createFairQueue } from "./fair-queue.ts";

/**
 * Runs pieces of work: one at a time for each key, and a limited number in all. Queued pieces of several holders take
 * turns.
 */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>, holder?: string) => Promise<T>;

/**
 * Creates a semaphore in this process. Queued work holds neither a database connection nor a lock. Work with the same
 * key runs in the order of the calls.
 * @param atOnce how many keys may run concurrently
 */
export function createKeyedSemaphore(atOnce: number): KeyedSemaphore {
  const tails = new Map<string, Promise<void>>();
  const waiting = createFairQueue<() => void>();
  let free = atOnce;

  async function withPermit<T>(holder: string, work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.add(holder, resolve));
    try {
      return await work();
    } finally {
      const next = waiting.next();
      if (next) next.item();
      else free += 1;
    }
  }

  return async (key, work, holder = key) => {
    const running = (tails.get(key) ?? Promise.resolve()).then(() => withPermit(holder, work));
    const tail = running.then(
      () => {},
      () => {},
    );
    tails.set(key, tail);
    try {
      return await running;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
