/** What waits, by who sent it: holders take turns, so who sends much keeps nobody else waiting for all of it. */
export type FairQueue<Item> = {
  add: (holder: string, item: Item) => void;
  /** Takes the item whose turn it is, of the holders that may have one now. */
  next: (mayRun?: (holder: string, item: Item) => boolean) => { holder: string; item: Item } | undefined;
  /** Takes all that waits. */
  clear: () => Item[];
};

export function createFairQueue<Item>(): FairQueue<Item> {
  // In the order of their turns; nobody is in it without an item.
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
