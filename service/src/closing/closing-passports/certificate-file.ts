import type { Blobs } from "../platform/blobs/blobs.ts";
import type { StoredFile } from "../platform/blobs/stored-file.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Log } from "../platform/logs.ts";
import { isVerifyCode } from "../platform/text.ts";
import { certificateUse, hasCode, rowHolds, type StoredVersion, storedColumns, type VersionDeps } from "./versions.ts";

export type CertificateFile = { version: number; file: StoredFile };

/**
 * The archived certificate, to be sent; null for an unknown code and when it is gone, is not the one that was sealed or its row was altered.
 * @returns when it was deleted, of one that the retention plan deleted
 */
export async function closingCertificate(
  deps: VersionDeps & { db: Sql; blobs: Blobs },
  verifyCode: string,
): Promise<CertificateFile | { deletedAt: Date } | null> {
  if (!isVerifyCode(verifyCode)) return null;
  const [row] = await deps.db.query<StoredVersion>(sql`
SELECT ${storedColumns} FROM closing_passports c JOIN rooms r ON r.id = c.room_id WHERE ${hasCode(sql`c`, verifyCode)}`);
  if (!row || !rowHolds(deps, row)) return null;
  if (row.deletedAt) return { deletedAt: row.deletedAt };
  const file = await deps.blobs.open(row.blobKey, certificateUse(row), row.partnerId).catch(unread(deps.log, row));
  return file && { version: row.version, file };
}

/** Works on the archived certificate of a version; on null when it is gone or is not the one that was sealed. */
export async function withCertificate<T>(
  { blobs, log }: { blobs: Blobs; log: Log },
  row: StoredVersion,
  work: (bytes: Buffer) => Promise<T>,
): Promise<T | null> {
  const at = { key: row.blobKey, use: certificateUse(row), holder: row.partnerId };
  const sound = await blobs.open(at.key, at.use, at.holder).catch(unread(log, row));
  return sound && blobs.withBytes(at, async (bytes) => bytes && work(bytes));
}

/** Reports a file that is not the sealed certificate, and treats it as absent. */
const unread =
  (log: Log, { roomId, version }: StoredVersion) =>
  (error: unknown): null => {
    // A store that is away says nothing of what it holds.
    if (error instanceof ServiceError) throw error;
    log.error(
      { err: error, roomId, version },
      "a closing certificate is not the one that was sealed, or can't be read",
    );
    return null;
  };
