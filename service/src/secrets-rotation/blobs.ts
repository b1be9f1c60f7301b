import { certificateUse } from "../closing-passports/closing-passports.ts";
import { documentUse } from "../orders/orders.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { BlobUse } from "../platform/blobs/cipher.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Log } from "../platform/logs.ts";
import { keyIdText, type SecretBytes } from "../platform/secrets.ts";
import { passportUse } from "../proof-passports/proof-passports.ts";
import type { KeyCounts } from "./rows.ts";

export type BlobsDeps = { db: Sql; blobs: Blobs; secrets: SecretBytes; log: Log };

// So many at a time: each holds its blob in memory.
const atOnce = 4;

/** The keys of all blobs; other files of the store, a probe's or one that is being written, have other names. */
async function* blobKeys(blobs: Blobs, now: Date): AsyncGenerator<string[]> {
  for await (const page of blobs.listOlderThan(now))
    yield page.filter((key) => /^\d{4}-\d{2}-\d{2}\/[0-9a-z]+$/.test(key));
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let index = 0; index < items.length; index += atOnce)
    await Promise.all(items.slice(index, index + atOnce).map(work));
}

/** What a blob is, by the row that refers to it; null when none does. */
async function useOf(db: Sql, blobKey: string): Promise<BlobUse | null> {
  const [row] = await db.query<{ kind: string; owner: string; sha256: string }>(sql`
SELECT 'document' AS kind, '' AS "owner@closing", sha256 FROM documents WHERE blob_key = ${blobKey}
UNION ALL SELECT 'document', '', sha256 FROM fill_documents WHERE blob_key = ${blobKey}
UNION ALL SELECT 'document', '', sha256 FROM notary_proofs WHERE blob_key = ${blobKey}
UNION ALL SELECT 'passport', id::text, sealed_sha256 FROM passports WHERE blob_key = ${blobKey}
UNION ALL SELECT 'closing', verify_code, sealed_sha256 FROM closing_passports WHERE blob_key = ${blobKey}`);
  if (!row) return null;
  const { kind, owner, sha256 } = row;
  if (kind === "document") return documentUse(sha256);
  return kind === "passport"
    ? passportUse({ id: owner, sealedSha256: sha256 })
    : certificateUse({ verifyCode: owner, sealedSha256: sha256 });
}

/**
 * Puts each blob under the current key that is not. One that can't be read stays as it is, and is reported. Safe like `rotateRowMacs`:
 * a blob is replaced whole or not at all.
 * @returns how many blobs were put under the current key
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

/** How many blobs are under which key; `none` for those of before there were ids. */
export async function countBlobs({ db, blobs }: Pick<BlobsDeps, "db" | "blobs">, now: Date): Promise<KeyCounts> {
  const counts = new Map<string, number>();
  for await (const keys of blobKeys(blobs, now)) {
    await inBatches(keys, async (key) => {
      const under = await blobs.keyIdOf(key);
      // What nothing refers to is no document of anybody's: it is swept.
      if (under === null || (under === "none" && (await useOf(db, key)) === null)) return;
      counts.set(under, (counts.get(under) ?? 0) + 1);
    });
  }
  return counts;
}
