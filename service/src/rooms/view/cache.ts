import { LRUCache } from "lru-cache";

/** Ready answers by the room's code, each for one version of its view; the least recently used leave when the bytes run out. */
export type ViewCache = {
  /** Whether an answer is kept, of whatever version. */
  has: (code: string) => boolean;
  /** The answer kept for exactly this version. */
  get: (code: string, version: string) => Buffer | undefined;
  put: (code: string, version: string, answer: Buffer) => void;
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
    has: (code) => entries.has(code),
    get(code, version) {
      const entry = entries.get(code);
      return entry?.version === version ? entry.answer : undefined;
    },
    put: (code, version, answer) => void entries.set(code, { version, answer }),
    heldBytes: () => entries.calculatedSize,
  };
}
