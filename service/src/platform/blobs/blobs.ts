import type { Clock } from "../clock.ts";
import { ServiceError } from "../errors.ts";
import { newCode } from "../ids.ts";
import type { SecretBytes } from "../secrets.ts";
import { decryptBlob, encryptBlob, encryptedLength } from "./cipher.ts";

/** Where encrypted bytes lie: a folder (`blobs-folder.ts`) or an S3 bucket (`blobs-s3.ts`). Keys are `[a-z0-9/-]+`. */
export type BlobBackend = {
  /** Resolves once the bytes are durable; a blob is there whole or not at all. */
  write: (key: string, pieces: Iterable<Uint8Array>, length: number) => Promise<void>;
  /** Null when there is none. */
  read: (key: string) => Promise<Buffer | null>;
  remove: (key: string) => Promise<void>;
  /** Keys written before the instant, a page at a time. */
  listOlderThan: (instant: Date) => AsyncIterable<string[]>;
  /** @throws when the store cannot be written. */
  probe: () => Promise<void>;
};

/** A store of documents, encrypted at rest. */
export type Blobs = {
  /** Encrypts and stores; resolves with the new blob's key once it is durable. @throws ServiceError `unavailable` */
  put: (plain: Uint8Array) => Promise<string>;
  /** The plain bytes, or null when there is no such blob. @throws Error when the stored bytes were altered. */
  get: (key: string) => Promise<Buffer | null>;
  remove: (key: string) => Promise<void>;
  listOlderThan: BlobBackend["listOlderThan"];
  probe: () => Promise<void>;
};

export function openBlobs(backend: BlobBackend, master: SecretBytes, clock: Clock): Blobs {
  return {
    async put(plain) {
      // A folder a day keeps folders and backups of a handy size.
      const key = `${clock().toISOString().slice(0, 10)}/${newCode()}`;
      try {
        await backend.write(key, encryptBlob(master, plain), encryptedLength(plain.length));
      } catch (error) {
        // A full disk, a bucket that is away: nothing was stored, and later it may be.
        throw new ServiceError("unavailable", "Documents can't be stored now. Try again later.", { cause: error });
      }
      return key;
    },
    async get(key) {
      const sealed = await backend.read(key);
      return sealed && decryptBlob(master, sealed);
    },
    remove: backend.remove,
    listOlderThan: backend.listOlderThan,
    probe: backend.probe,
  };
}
