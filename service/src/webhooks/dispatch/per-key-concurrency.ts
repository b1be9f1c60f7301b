/** Runs work of one key in a few lanes side by side, the rest of it in the order in which it came. */
export function createLanes<T>(lanes: number, work: (item: T) => Promise<void>) {
  const keys = new Map<string, { waiting: T[]; busy: number }>();

  async function lane(key: string, state: { waiting: T[]; busy: number }): Promise<void> {
    for (let item = state.waiting.shift(); item !== undefined; item = state.waiting.shift()) await work(item);
    if (--state.busy === 0) keys.delete(key);
  }

  return {
    /** @returns the end of a lane, when the item opened one. */
    add(key: string, item: T): Promise<void> | null {
      const state = keys.get(key) ?? { waiting: [], busy: 0 };
      keys.set(key, state);
      state.waiting.push(item);
      if (state.busy >= lanes) return null;
      state.busy++;
      return lane(key, state);
    },
  };
}
