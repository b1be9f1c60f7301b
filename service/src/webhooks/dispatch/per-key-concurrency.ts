/** Items of a key, so many at once, the others in the order in which they came. */
export type PerKeyConcurrency<T> = {
  add: (key: string, item: T) => void;
  /** Resolves when nothing runs or waits. */
  idle: () => Promise<void>;
};

type State<T> = { waiting: T[]; running: number };

/** @param work must not reject */
export function perKeyConcurrency<T>(most: number, work: (item: T) => Promise<void>): PerKeyConcurrency<T> {
  const keys = new Map<string, State<T>>();
  const workers = new Set<Promise<void>>();

  async function workOn(key: string, state: State<T>): Promise<void> {
    for (let item = state.waiting.shift(); item !== undefined; item = state.waiting.shift()) await work(item);
    if (--state.running === 0) keys.delete(key);
  }

  return {
    add(key, item) {
      const state = keys.get(key) ?? { waiting: [], running: 0 };
      keys.set(key, state);
      state.waiting.push(item);
      if (state.running >= most) return;
      state.running++;
      const worker = workOn(key, state).finally(() => workers.delete(worker));
      workers.add(worker);
    },
    async idle() {
      await Promise.all(workers);
    },
  };
}
