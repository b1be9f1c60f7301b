/** A queue that serves holders round-robin, so that one heavy sender can't starve the others. */
export type FairQueue<Item> = {
  add: (holder: string, item: Item) => void;
  /** Removes and returns the next item for which `mayRun` is true. Considers only the first item of each holder. */
  next: (mayRun?: (holder: string, item: Item) => boolean) => { holder: string; item: Item } | undefined;
  /** Removes and returns all items, when the queue closes. */
  clear: () => Item[];
};

export function createFairQueue<Item>(): FairQueue<Item> {
  // The queues of the holders in round-robin order. Contains only holders that have an item.
  const lines = new Map<string, Item[]>();
  return {
    add(holder, item) {
      const line = lines.get(holder);
      if (line) line.push(item);
      else lines.set(holder, [item]);
    },
    next(mayRun = () => true) {
      for (const [holder, line] of lines) {
        const [item] = line;
        if (item === undefined || !mayRun(holder, item)) continue;
        line.shift();
        lines.delete(holder);
        if (line.length > 0) lines.set(holder, line);
        return { holder, item };
      }
      return undefined;
    },
    clear() {
      const items = [...lines.values()].flat();
      lines.clear();
      return items;
    },
  };
}
