import type { BlobUse } from "./cipher.ts";
import type { StoredFile } from "./stored-file.ts";

/**
 * Where encrypted bytes lie: a folder (`folder.ts`) or an S3 bucket (`s3.ts`). Keys are `[a-z0-9/-]+`. The caller goes on without
 * an answer once `signal` is aborted; a backend that can ends its work then.
 */
export type BlobBackend = {
  /** Resolves once the bytes are durable; a blob is there whole or not at all. */
  write: (key: string, pieces: Iterable<Uint8Array>, length: number, signal: AbortSignal) => Promise<void>;
  /** Puts a whole blob in the place of one that is there: a concurrent reader gets the one or the other. */
  replace: (key: string, pieces: Iterable<Uint8Array>, length: number, signal: AbortSignal) => Promise<void>;
  /** Null when there is none. */
  read: (key: string, signal: AbortSignal) => Promise<Buffer | null>;
  /** So many bytes from the start on, or as many as there are; null when there is no such blob. */
  readPart: (key: string, start: number, length: number, signal: AbortSignal) => Promise<BlobPart | null>;
  remove: (key: string, signal: AbortSignal) => Promise<void>;
  /** Keys written before the instant, a page at a time. */
  listOlderThan: (instant: Date) => AsyncIterable<string[]>;
  /** @throws when the store cannot be written. */
  probe: (signal: AbortSignal) => Promise<void>;
};

/** Which blob, and what it is. */
export type BlobAt = { key: string; use: BlobUse };

/** A document of several blobs, and how long each of them is. */
export type JoinedFile = { file: StoredFile; lengths: readonly number[] };

/** A part of a stored blob, and how long all of it is. */
export type BlobPart = { bytes: Buffer; total: number };
