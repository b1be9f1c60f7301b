/** Runs works one after the other where they have the same key, and so many at once in all. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Who waits here holds nothing but its place: no connection, no lock. Turns of one key come in the order of the calls.
 * @param atOnce how many works of different keys may run together
 */
export function createTurns(atOnce: number): Turns {
  const tails = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let free = atOnce;

  async function withPlace<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  }

  return async (key, work) => {
    const before = tails.get(key);
    const turn = (before ?? Promise.resolve()).then(() => withPlace(work));
    const tail = turn.then(
      () => {},
      () => {},
    );
    tails.set(key, tail);
    try {
      return await turn;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
