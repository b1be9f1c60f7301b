import type { BlobUse } from "./cipher.ts";
import type { StoredFile } from "./stored-file.ts";

/**
 * A store of encrypted bytes: a folder (`folder.ts`) or an S3 bucket (`s3.ts`). Keys match `[a-z0-9/-]+`. When `signal`
 * is aborted, the caller ignores the result, and the backend cancels its work if it can.
 */
export type BlobBackend = {
  /**
   * Resolves once the bytes are durable. If the write fails, or if the process ends first, an incomplete blob may
   * remain. No row refers to that blob.
   */
  write: (key: string, pieces: Iterable<Uint8Array>, length: number, signal: AbortSignal) => Promise<void>;
  /** Replaces an existing blob atomically: a concurrent reader gets either the old bytes or the new ones. */
  replace: (key: string, pieces: Iterable<Uint8Array>, length: number, signal: AbortSignal) => Promise<void>;
  /** The whole blob; null when it does not exist. */
  read: (key: string, signal: AbortSignal) => Promise<Buffer | null>;
  /** The given range, or as much of it as exists; null when the blob does not exist. */
  readPart: (key: string, start: number, length: number, signal: AbortSignal) => Promise<BlobPart | null>;
  remove: (key: string, signal: AbortSignal) => Promise<void>;
  /** Lists, page by page, the keys of blobs written before the instant. */
  listOlderThan: (instant: Date) => AsyncIterable<string[]>;
  /**
   * Finds out whether the store works, by a small write. For five minutes after a successful write to a bucket, further
   * calls only check access.
   * @throws when the store can't be used
   */
  probe: (signal: AbortSignal) => Promise<void>;
};

/** The key of a blob, and the identity that decryption verifies. */
export type BlobAt = { key: string; use: BlobUse };

/** A document made of several blobs, and the length of each blob. */
export type JoinedFile = { file: StoredFile; lengths: readonly number[] };

/** The bytes of a part of a stored blob, and the length of the whole blob. */
export type BlobPart = { bytes: Buffer; total: number };
