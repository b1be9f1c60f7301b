import { LRUCache } from "lru-cache";
import { createKeyedSemaphore } from "../bounds/keyed-semaphore.ts";
import type { Holder, MemoryBudget } from "../bounds/memory-budget.ts";
import { ServiceError } from "../errors.ts";
import type { SecretBytes } from "../secrets.ts";
import type { BlobAt, BlobBackend, BlobPart, JoinedFile } from "./backend.ts";
import {
  type BlobLayout,
  type BlobUse,
  blobBeginning,
  blobChunk,
  blobLayout,
  decryptStretch,
  stretchAt,
} from "./cipher.ts";
import { type ByteRange, joinedFile, type StoredFile, sha256OfFile, storedFile } from "./stored-file.ts";

/** Reads blobs in parts, so that a response with a part doesn't need the whole blob in memory. */
export type BlobReader = {
  /**
   * Opens blobs as one document, in the given order; null when one of them is missing.
   * @param whole the hash of the document; null for a caller that verifies it itself
   * @param check `again` compares the document with its hash even if this process did so before
   * @throws ServiceError `unavailable` when the store doesn't respond
   * @throws Error when the stored bytes were altered
   */
  open: (
    parts: readonly BlobAt[],
    whole: string | null,
    holder: Holder,
    check: "once" | "again",
  ) => Promise<JoinedFile | null>;
  /**
   * Calls `work` with the plain bytes of a blob, or with null for a missing blob.
   * @param at `times`: how many copies of the bytes the work holds in memory
   * @throws the errors of `open`, of the memory budget and of the work
   */
  withBytes: <T>(
    at: BlobAt & { holder: Holder; times: number },
    work: (bytes: Buffer | null) => Promise<T>,
  ) => Promise<T>;
};

type ReaderDeps = {
  backend: BlobBackend;
  master: SecretBytes;
  memory: MemoryBudget;
  /** Calls the store, within its time limit. @throws ServiceError `unavailable` */
  ask: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
};

/** The number of 64 KiB chunks in one read: 256 KiB to send a document, 2 MiB to read all of it. */
const [sentChunks, wholeChunks] = [4, 32];
/** The number of documents that the reader remembers as matching their hash. Each takes about 200 bytes. */
const maxCompared = 20_000;
/**
 * The number of documents that may be compared with their hash at once. Each comparison holds two large parts in
 * memory. This memory is not taken from the memory budget. The caller may already have reserved a part of the budget,
 * so waiting for more could deadlock.
 */
const comparedAtOnce = 8;

/** Compares each document with its hash once, and remembers the documents that matched. */
function createComparisons() {
  // The length of each document that was already compared with its hash.
  const compared = new LRUCache<string, number>({ max: maxCompared });
  const comparing = new Map<string, Promise<void>>();
  const semaphore = createKeyedSemaphore(comparedAtOnce);
  return {
    wasCompared: (name: string, file: StoredFile): boolean => compared.get(name) === file.length,
    /** Concurrent callers for one document share one comparison. */
    compare(name: string, sha256: string, file: StoredFile, holder: Holder): Promise<void> {
      const inProgress = comparing.get(name);
      if (inProgress) return inProgress;
      const work = semaphore(name, () => requireHash(file, sha256), holder)
        .then(() => void compared.set(name, file.length))
        .finally(() => comparing.delete(name));
      comparing.set(name, work);
      return work;
    },
  };
}

export function blobReader({ backend, master, memory, ask }: ReaderDeps): BlobReader {
  const comparisons = createComparisons();
  const reading = new Map<string, Promise<Buffer>>();

  async function layoutOf(key: string, use: BlobUse): Promise<BlobLayout | null> {
    const part = await ask((signal) => backend.readPart(key, 0, blobBeginning, signal));
    return part && blobLayout(master, part.bytes, part.total, use);
  }

  async function readStretch(key: string, layout: BlobLayout, first: number, chunks: number): Promise<Buffer> {
    const { start, length } = stretchAt(layout, first, chunks);
    const part = await ask((signal) => backend.readPart(key, start, length, signal));
    if (part === null)
      throw new ServiceError("unavailable", "The document can't be read now. Try again later.", {
        cause: new Error(`the store no longer has blob ${key}`),
      });
    return decryptStretch(layout, first, stretchIn(part, start, length, layout.end));
  }

  /** Reads chunks of a blob. Concurrent readers get the same bytes, so they must not write to them. */
  function readShared(key: string, layout: BlobLayout, first: number): Promise<Buffer> {
    const name = `${key} ${first} ${layout.end}`;
    const inProgress = reading.get(name);
    if (inProgress) return inProgress;
    const read = readStretch(key, layout, first, sentChunks).finally(() => reading.delete(name));
    reading.set(name, read);
    return read;
  }

  async function* piecesOf(key: string, layout: BlobLayout, { first, last }: ByteRange) {
    const stretch = sentChunks * blobChunk;
    for (let at = first; at <= last; ) {
      const start = at - (at % stretch);
      const bytes = await readShared(key, layout, start / blobChunk);
      const end = Math.min(last + 1, start + bytes.length);
      // Yields one chunk at a time. A slow reader might not accept a larger piece within its time limit.
      for (; at < end; at += blobChunk) yield bytes.subarray(at - start, Math.min(end, at + blobChunk) - start);
      at = end;
    }
  }

  async function* stretchesOf(key: string, layout: BlobLayout) {
    for (let first = 0; first < layout.chunks; first += wholeChunks)
      yield await readStretch(key, layout, first, wholeChunks);
  }

  return {
    async open(parts, whole, holder, check) {
      const opened = await Promise.all(parts.map(async ({ key, use }) => ({ key, layout: await layoutOf(key, use) })));
      const files: StoredFile[] = [];
      for (const { key, layout } of opened) {
        if (layout === null) return null;
        const pieces = (range: ByteRange) => piecesOf(key, layout, range);
        files.push(
          storedFile({ memory, holder }, layout.length, { pieces, stretches: () => stretchesOf(key, layout) }),
        );
      }
      const [only, ...more] = files;
      const file = only && more.length === 0 ? only : joinedFile({ memory, holder }, files);
      const name = `${parts.map(({ key }) => key).join(" ")} ${whole}`;
      if (whole !== null && (check === "again" || !comparisons.wasCompared(name, file)))
        await comparisons.compare(name, whole, file, holder);
      return { file, lengths: files.map(({ length }) => length) };
    },
    async withBytes({ key, use, holder, times }, work) {
      const layout = await layoutOf(key, use);
      if (layout === null) return work(null);
      return memory.within(holder, times * layout.length, async () => {
        const bytes = Buffer.allocUnsafeSlow(layout.length);
        let at = 0;
        for await (const stretch of stretchesOf(key, layout)) at += stretch.copy(bytes, at);
        return work(bytes);
      });
    },
  };
}

async function requireHash(file: StoredFile, sha256: string): Promise<void> {
  if ((await sha256OfFile(file)) !== sha256)
    throw new Error("a stored document is not what was written: its hash is another");
}

/**
 * The requested part of a blob, taken from the store's response. The response may contain the whole blob.
 * @throws ServiceError `unavailable` when the blob's length has changed. The new length doesn't prove an alteration: a
 * rotation of SECRETS_KEY lengthens a blob of an earlier release. If the blob was altered, opening it again detects
 * that
 */
function stretchIn({ bytes, total }: BlobPart, start: number, length: number, end: number): Buffer {
  if (total !== end)
    throw new ServiceError("unavailable", "The document can't be read now. Try again later.", {
      cause: new Error("a blob has another length than when it was opened"),
    });
  const stretch = bytes.length > length ? bytes.subarray(start, start + length) : bytes;
  if (stretch.length === length) return stretch;
  throw new Error("the store returned another part of a blob than the requested one");
}
