import { LRUCache } from "lru-cache";

/** Ready answers by room, each for one version of its view; the least recently used leave when the bytes run out. */
export type ViewCache = {
  /** The answer kept for exactly this version. */
  get: (roomId: string, version: string) => Buffer | undefined;
  put: (roomId: string, version: string, answer: Buffer) => void;
  /** Bytes held, with what each entry itself costs. */
  heldBytes: () => number;
};

// Key, map entry and buffer object, roughly.
const entryBytes = 500;

/** @param maxBytes the bound on all entries together; an answer larger than that is not kept. */
export function createViewCache(maxBytes: number): ViewCache {
  const entries = new LRUCache<string, { version: string; answer: Buffer }>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }) => answer.length + entryBytes,
  });
  return {
    get(roomId, version) {
      const entry = entries.get(roomId);
      return entry?.version === version ? entry.answer : undefined;
    },
    put: (roomId, version, answer) => void entries.set(roomId, { version, answer }),
    heldBytes: () => entries.calculatedSize,
  };
}
