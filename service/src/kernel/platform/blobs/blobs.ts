import { createMemoryBudget, type Holder, type MemoryBudget, type MemoryLimits } from "../bounds/memory-budget.ts";
import type { Clock } from "../clock.ts";
import { isOutcomeUnknown } from "../database/sql-errors.ts";
import { ServiceError } from "../errors.ts";
import { newCode } from "../ids.ts";
import { keyIdText, type SecretBytes } from "../secrets.ts";
import type { BlobAt, BlobBackend, JoinedFile } from "./backend.ts";
import { blobReader } from "./blob-reader.ts";
import {
  type BlobUse,
  blobHeaderLength,
  blobKeyId,
  decryptBlob,
  encryptBlob,
  encryptedLength,
  rewrapped,
} from "./cipher.ts";
import type { StoredFile } from "./stored-file.ts";

export type { BlobAt, BlobBackend } from "./backend.ts";

/**
 * A store of documents, encrypted at rest. `withBytes`, and the streams that `StoredFile.body` returns, use the memory
 * budget.
 */
export type Blobs = {
  /**
   * Encrypts and stores bytes. Resolves with the new blob's key once the blob is durable.
   * @throws ServiceError `unavailable`
   */
  put: (plain: Uint8Array, use: BlobUse) => Promise<string>;
  /** The memory budget for stored documents and for work on them: in total, and for each firm in each environment. */
  memory: MemoryBudget;
  /**
   * Opens a stored document, whose bytes are read later, while they are sent; null for a missing blob.
   *
   * The first time, this process compares the whole document with its hash. After that, decrypting a chunk is proof
   * enough: it authenticates the chunk, its position, and the document that contains it.
   * @param holder the document's firm and environment, for fairness in the budget
   * @param check `again` compares the whole document even if it was compared before
   * @throws ServiceError `unavailable` when the store doesn't respond
   * @throws Error when the stored bytes were altered, or belong to a document other than `use`
   */
  open: (key: string, use: BlobUse, holder: Holder, check?: "once" | "again") => Promise<StoredFile | null>;
  /**
   * Opens several blobs as one document, in the given order; null when one of them is missing.
   * @param whole the hash of the joined document; null for a caller that verifies it itself
   * @throws as `open` does
   */
  openJoined: (parts: readonly BlobAt[], whole: string | null, holder: Holder) => Promise<JoinedFile | null>;
  /**
   * Calls `work` with the plain bytes, or with null for a missing blob. The work must not store the bytes, and must not
   * reserve more memory.
   * @param at `times`: how many copies of the bytes the work holds in memory, by default one
   * @throws as `open` does, the errors of the memory budget, and the work's own errors
   */
  withBytes: <T>(
    at: BlobAt & { holder: Holder; times?: number },
    work: (bytes: Buffer | null) => Promise<T>,
  ) => Promise<T>;
  remove: (key: string) => Promise<void>;
  /**
   * Removes a blob to which no row refers. Never rejects: if the blob can't be removed now, `orphans.ts` removes it
   * later.
   */
  discard: (key: string) => Promise<void>;
  listOlderThan: BlobBackend["listOlderThan"];
  /**
   * The id of the key that encrypts a blob, in hex. `none` for a blob stored before keys had ids; null for a missing
   * blob, or for bytes that are not a blob.
   */
  keyIdOf: (key: string) => Promise<string | null>;
  /**
   * Re-encrypts a blob for the current key; ignores a missing blob, and bytes that are not a blob. Usually only the
   * blob's header changes. A blob stored before keys had ids is rewritten as a whole.
   * @param use returns the blob's identity; called only for a blob stored before keys had ids. If it returns null,
   * because no row refers to the blob, the blob stays unchanged
   * @throws Error as `open` does
   */
  toCurrentKey: (key: string, use: () => Promise<BlobUse | null>) => Promise<void>;
  probe: () => Promise<void>;
};

/**
 * Calls `work` like `withBytes`. If the document can't be read, calls `unread` with the error, and returns its result
 * or throws its error. An error of `work` is thrown unchanged.
 */
export async function withBytesOr<T>(
  blobs: Pick<Blobs, "withBytes">,
  at: Parameters<Blobs["withBytes"]>[0],
  work: (bytes: Buffer | null) => Promise<T>,
  unread: (error: unknown) => T | Promise<T>,
): Promise<T> {
  let isRead = false;
  try {
    return await blobs.withBytes(at, (bytes) => {
      isRead = true;
      return work(bytes);
    });
  } catch (error) {
    if (isRead) throw error;
    return unread(error);
  }
}

/**
 * Runs `write`, which writes a row that refers to a new blob. If `write` returns false, it wrote no row, and the blob
 * is discarded. If `write` throws an error, the blob is discarded too, unless the commit's outcome is unknown.
 * @param key null when no blob was stored
 */
export async function orDiscard<T>(
  blobs: Pick<Blobs, "discard">,
  key: string | null,
  write: () => Promise<T>,
): Promise<T> {
  try {
    const result = await write();
    if (key !== null && result === false) await blobs.discard(key);
    return result;
  } catch (error) {
    if (key !== null && !isOutcomeUnknown(error)) await blobs.discard(key);
    throw error;
  }
}

/** Time limits of the store. `putMs` depends on the number of bytes. */
export type BlobTimes = { putMs: (bytes: number) => number; getMs: number; removeMs: number; probeMs: number };

// The usual time limits, for a store in the same data center. A store slower than 2 MB a second counts as unavailable.
export const usualBlobTimes: BlobTimes = {
  putMs: (bytes) => 5_000 + bytes / 2_000,
  getMs: 20_000,
  removeMs: 5_000,
  probeMs: 10_000,
};

/**
 * Enough memory for eight of the largest documents, four of them for one firm in one environment. More would be unused,
 * because there are at most eight worker threads.
 */
const usualMemory: MemoryLimits = {
  bytes: 8 * 36 * 1024 * 1024,
  bytesEach: 4 * 36 * 1024 * 1024,
  waiting: 400,
  waitingEach: 200,
  waitMs: 20_000,
};

type Store = { backend: BlobBackend; master: SecretBytes; times: BlobTimes };

/**
 * Opens the store of documents.
 * @param times the time limits after which the store counts as unavailable
 */
export function openBlobs(
  backend: BlobBackend,
  master: SecretBytes,
  clock: Clock,
  times: BlobTimes = usualBlobTimes,
  memory: MemoryBudget = createMemoryBudget(usualMemory),
): Blobs {
  const store = { backend, master, times };
  const reader = blobReader({ backend, master, memory, ask: (work) => read(store, work) });
  const remove = (key: string) => within(times.removeMs, (signal) => backend.remove(key, signal));
  return {
    async put(plain, use) {
      // Puts the blobs of each day in a folder of their own, so that folders and backups stay small.
      const key = `${clock().toISOString().slice(0, 10)}/${newCode()}`;
      await write(store, "write", key, encryptBlob(master, plain, use), encryptedLength(plain.length));
      return key;
    },
    memory,
    open: async (key, use, holder, check = "once") =>
      (await reader.open([{ key, use }], use.sha256, holder, check))?.file ?? null,
    openJoined: (parts, whole, holder) => reader.open(parts, whole, holder, "once"),
    withBytes: ({ times = 1, ...at }, work) => reader.withBytes({ ...at, times }, work),
    remove,
    discard: (key) => remove(key).catch(() => {}),
    listOlderThan: backend.listOlderThan,
    keyIdOf: (key) => keyIdOf(store, key),
    toCurrentKey: (key, use) => toCurrentKey(store, key, use),
    probe: () => within(times.probeMs, backend.probe),
  };
}

async function write(
  { backend, times }: Store,
  how: "write" | "replace",
  key: string,
  pieces: Iterable<Uint8Array>,
  length: number,
): Promise<void> {
  try {
    await within(times.putMs(length), (signal) => backend[how](key, pieces, length, signal));
  } catch (error) {
    // The disk is full or the bucket is unreachable. If the blob was stored nevertheless, no row refers to it. A retry
    // may succeed.
    throw new ServiceError("unavailable", "Documents can't be stored now. Try again later.", { cause: error });
  }
}

async function read<T>({ times }: Store, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return within(times.getMs, ask).catch((error) => {
    throw new ServiceError("unavailable", "Documents can't be read now. Try again later.", { cause: error });
  });
}

async function keyIdOf(store: Store, key: string): Promise<string | null> {
  const header = await read(store, (signal) => store.backend.readPart(key, 0, blobHeaderLength, signal));
  return header && blobKeyId(header.bytes);
}

async function toCurrentKey(store: Store, key: string, useOf: () => Promise<BlobUse | null>): Promise<void> {
  const { backend, master } = store;
  const under = await keyIdOf(store, key);
  if (under === null || under === keyIdText(master)) return;
  const use = under === "none" ? await useOf() : null;
  if (under === "none" && use === null) return;
  const sealed = await read(store, (signal) => backend.read(key, signal));
  if (sealed === null) return;
  if (use === null) return write(store, "replace", key, rewrapped(master, sealed), sealed.length);
  const plain = await decryptBlob(master, sealed, use);
  await write(store, "replace", key, encryptBlob(master, plain, use), encryptedLength(plain.length));
}

/**
 * Runs the work within a time limit.
 * @throws Error when the work takes too long; its signal is then aborted
 */
async function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`no answer within ${Math.round(timeoutMs)} ms`);
    late.abort(error);
    reject(error);
  }, timeoutMs);
  try {
    return await Promise.race([work(late.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
