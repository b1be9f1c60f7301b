import { ServiceError } from "../errors.ts";
import { createFairQueue } from "./fair-queue.ts";

/**
 * Runs work that holds so many bytes of memory; what does not fit beside what runs waits, holders in turns.
 * @throws ServiceError `unavailable` when too much waits already, and what the work throws
 */
export type MemoryBudget = <T>(holder: string, bytes: number, work: () => Promise<T>) => Promise<T>;

type Waiting = { readonly holder: string; readonly bytes: number; readonly start: () => void };

/**
 * What waits holds nothing but its place. Large work is never overtaken: it would wait forever.
 * @param limits `bytes` how much may be held at once; `waiting` how many may wait, and `waitingEach` how many of one holder
 */
export function createMemoryBudget(limits: {
  readonly bytes: number;
  readonly waiting: number;
  readonly waitingEach: number;
}): MemoryBudget {
  const queue = createFairQueue<Waiting>();
  let free = limits.bytes;
  let waiting = 0;
  const waitingOf = new Map<string, number>();
  /** Whose turn it is, once there is room. */
  let next: Waiting | undefined;

  function count(holder: string, by: 1 | -1): void {
    waiting += by;
    const own = (waitingOf.get(holder) ?? 0) + by;
    if (own === 0) waitingOf.delete(holder);
    else waitingOf.set(holder, own);
  }

  function startWaiting(): void {
    for (;;) {
      next ??= queue.next()?.item;
      if (!next || next.bytes > free) return;
      free -= next.bytes;
      count(next.holder, -1);
      next.start();
      next = undefined;
    }
  }

  return async (holder, bytes, work) => {
    // What is larger than all of it runs alone.
    const needed = Math.min(bytes, limits.bytes);
    if (waiting === 0 && needed <= free) free -= needed;
    else {
      if (waiting >= limits.waiting || (waitingOf.get(holder) ?? 0) >= limits.waitingEach)
        throw new ServiceError("unavailable", "Too many documents are being signed right now. Try again in a moment.");
      count(holder, 1);
      await new Promise<void>((start) => queue.add(holder, { holder, bytes: needed, start }));
    }
    try {
      return await work();
    } finally {
      free += needed;
      startWaiting();
    }
  };
}
