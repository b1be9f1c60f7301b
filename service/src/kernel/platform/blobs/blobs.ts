import { createMemoryBudget, type MemoryBudget, type MemoryLimits } from "../bounds/memory-budget.ts";
import type { Clock } from "../clock.ts";
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

/** A store of documents, encrypted at rest. Nothing reads one of them beside the budget of memory. */
export type Blobs = {
  /** Encrypts and stores; resolves with the new blob's key once it is durable. @throws ServiceError `unavailable` */
  put: (plain: Uint8Array, use: BlobUse) => Promise<string>;
  /** The memory that stored documents, and the work on them, may hold in all and by firm. */
  memory: MemoryBudget;
  /**
   * A document to be sent, read as it is sent; null when there is no such blob. All of it is compared with its hash when this
   * process first opens it. Later each chunk that is read authenticates itself, its place and which document it is of.
   * @param holder whose turn in the budget it is: the document's firm
   * @param check `again`: all of it is compared even if it was before
   * @throws ServiceError `unavailable` when the store does not answer
   * @throws Error when the stored bytes were altered, or are something else than `use`
   */
  open: (key: string, use: BlobUse, holder: string, check?: "once" | "again") => Promise<StoredFile | null>;
  /**
   * Blobs that make one document, in their order; null when one of them is not there.
   * @param whole its hash; null for a caller that compares all of it itself
   * @throws as `open` does
   */
  openJoined: (parts: readonly BlobAt[], whole: string | null, holder: string) => Promise<JoinedFile | null>;
  /**
   * Works on the plain bytes, or on null when there is no such blob. The work must neither keep them nor wait for more memory.
   * @param at `times`: how often the work holds as much, by default once
   * @throws as `open` does, and what the work throws
   */
  withBytes: <T>(
    at: BlobAt & { holder: string; times?: number },
    work: (bytes: Buffer | null) => Promise<T>,
  ) => Promise<T>;
  remove: (key: string) => Promise<void>;
  /** Removes a blob that nothing refers to. Never rejects: one that cannot be removed now is an orphan, and swept as such. */
  discard: (key: string) => Promise<void>;
  listOlderThan: BlobBackend["listOlderThan"];
  /** The id of the key that a blob is under, in hex; `none` for one of before there were ids; null when there is no such blob. */
  keyIdOf: (key: string) => Promise<string | null>;
  /**
   * Puts a blob under the current key; one that is gone stays so. Most of it stays as it is, but one of before is written anew.
   * @param use asked for of one of before; null when nothing refers to it, and it then stays as it is
   * @throws Error as `open` does
   */
  toCurrentKey: (key: string, use: () => Promise<BlobUse | null>) => Promise<void>;
  probe: () => Promise<void>;
};

/** How long the store may take; `putMs` is for a blob of so many bytes. */
export type BlobTimes = { putMs: (bytes: number) => number; getMs: number; removeMs: number; probeMs: number };

// A store is near: one that brings less than 2 MB a second is as good as away.
export const usualBlobTimes: BlobTimes = {
  putMs: (bytes) => 5_000 + bytes / 2_000,
  getMs: 20_000,
  removeMs: 5_000,
  probeMs: 10_000,
};

/** Of the largest documents eight, and of a firm four: as many as there are worker threads at most. */
const usualMemory: MemoryLimits = {
  bytes: 8 * 36 * 1024 * 1024,
  bytesEach: 4 * 36 * 1024 * 1024,
  waiting: 400,
  waitingEach: 200,
  waitMs: 20_000,
};

type Store = { backend: BlobBackend; master: SecretBytes; times: BlobTimes };

/** @param times after which a store that does not answer is given up. */
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
      // A folder a day keeps folders and backups of a handy size.
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
    // A full disk, a bucket that is away: no row refers to what was perhaps stored, and later it may be.
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

/** @throws Error when the work takes longer; its signal is aborted then */
async function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const { promise: given, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`no answer within ${Math.round(timeoutMs)} ms`);
    late.abort(error);
    reject(error);
  }, timeoutMs);
  try {
    return await Promise.race([work(late.signal), given]);
  } finally {
    clearTimeout(timer);
  }
}
