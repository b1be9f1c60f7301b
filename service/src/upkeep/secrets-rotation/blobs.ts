import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { BlobUse } from "../../kernel/platform/blobs/cipher.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { keyIdText, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { blobTables } from "../protected-data.ts";
import type { KeyCounts } from "./rows.ts";

export type BlobsDeps = { db: Sql; blobs: Blobs; secrets: SecretBytes; log: Log };

// The number of blobs that are processed at once; each is held in memory.
const atOnce = 4;

/**
 * The keys of all blobs. Other files of the store, such as probes and unfinished writes, are skipped by their names.
 */
async function* blobKeys(blobs: Blobs, now: Date): AsyncGenerator<string[]> {
  for await (const page of blobs.listOlderThan(now))
    yield page.filter((key) => /^\d{4}-\d{2}-\d{2}\/[0-9a-z]+$/.test(key));
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let index = 0; index < items.length; index += atOnce)
    await Promise.all(items.slice(index, index + atOnce).map(work));
}

/** Finds what a blob is used for, by the row that refers to it. Null without such a row. */
async function useOf(db: Sql, blobKey: string): Promise<BlobUse | null> {
  for (const { table, columns, useOf } of blobTables) {
    const [row] = await db.query<object>(sql`SELECT ${columns} FROM ${table} WHERE blob_key = ${blobKey} LIMIT 1`);
    if (row) return useOf(row);
  }
  return null;
}

/**
 * Re-encrypts blobs under the current key. Reports an unreadable blob and leaves it unchanged. Safe on a running
 * service and after an interruption, because each blob is replaced atomically.
 * @returns the number of re-encrypted blobs
 */
export async function rotateBlobs({ db, blobs, secrets, log }: BlobsDeps, now: Date): Promise<number> {
  let rotated = 0;
  for await (const keys of blobKeys(blobs, now)) {
    await inBatches(keys, async (key) => {
      const under = await blobs.keyIdOf(key);
      if (under === null || under === keyIdText(secrets)) return;
      try {
        await blobs.toCurrentKey(key, () => useOf(db, key));
        rotated++;
      } catch (error) {
        log.error({ err: error, blobKey: key, keyId: under }, "a blob cannot be put under the current key");
      }
    });
  }
  return rotated;
}

/** The number of blobs under each key; `none` counts the blobs stored before keys had ids. */
export async function countBlobs({ db, blobs }: Pick<BlobsDeps, "db" | "blobs">, now: Date): Promise<KeyCounts> {
  const counts = new Map<string, number>();
  for await (const keys of blobKeys(blobs, now)) {
    await inBatches(keys, async (key) => {
      const under = await blobs.keyIdOf(key);
      // A blob that has neither a key id nor a row is an orphan. It will be deleted, so it is not counted.
      if (under === null || (under === "none" && (await useOf(db, key)) === null)) return;
      counts.set(under, (counts.get(under) ?? 0) + 1);
    });
  }
  return counts;
}
