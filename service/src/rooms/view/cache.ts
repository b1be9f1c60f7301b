/** Ready answers by room, each for one version of its view; the least recently used leave when the bytes run out. */
export type ViewCache = {
  /** The answer kept for exactly this version. */
  get: (roomId: string, version: string) => Buffer | undefined;
  put: (roomId: string, version: string, answer: Buffer) => void;
  /** Bytes held, with what each entry itself costs. */
  heldBytes: () => number;
};

type Entry = { version: string; answer: Buffer };

// Key, map entry and buffer object, roughly.
const entryBytes = 500;
const costOf = ({ answer }: Entry): number => answer.length + entryBytes;

/** @param maxBytes the bound on all entries together; an answer larger than that is not kept. */
export function createViewCache(maxBytes: number): ViewCache {
  const entries = new Map<string, Entry>();
  let held = 0;
  const drop = (roomId: string, entry: Entry) => {
    entries.delete(roomId);
    held -= costOf(entry);
  };
  return {
    get(roomId, version) {
      const entry = entries.get(roomId);
      if (entry?.version !== version) return undefined;
      entries.delete(roomId);
      entries.set(roomId, entry);
      return entry.answer;
    },
    put(roomId, version, answer) {
      const before = entries.get(roomId);
      if (before) drop(roomId, before);
      const entry = { version, answer };
      entries.set(roomId, entry);
      held += costOf(entry);
      for (const [oldest, old] of entries) {
        if (held <= maxBytes) break;
        drop(oldest, old);
      }
    },
    heldBytes: () => held,
  };
}
