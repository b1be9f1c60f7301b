import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { ServiceError } from "../platform/errors.ts";
import { hashYielding } from "../platform/hash-yielding.ts";
import type { Log } from "../platform/logs.ts";
import { isVerifyCode } from "../platform/text.ts";
import { certificateUse, hasCode, rowHolds, type StoredVersion, storedColumns, type VersionDeps } from "./versions.ts";

export type CertificateFile = { version: number; bytes: Buffer };

/**
 * The archived certificate, hashed again; null for an unknown code and when it is gone, is not the one that was sealed or its row was altered.
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
  const bytes = await readCertificate(deps, row);
  return bytes && { version: row.version, bytes };
}

/** The archived certificate of a version, hashed again; null when it is gone or is not the one that was sealed. */
export async function readCertificate(
  { blobs, log }: { blobs: Blobs; log: Log },
  row: StoredVersion,
): Promise<Buffer | null> {
  const { version, roomId } = row;
  const bytes = await blobs.get(row.blobKey, certificateUse(row)).catch((error) => {
    // A store that is away says nothing of what it holds.
    if (error instanceof ServiceError) throw error;
    log.error({ err: error, roomId, version }, "a closing certificate cannot be read");
    return null;
  });
  if (bytes === null) return null;
  if ((await hashYielding(bytes)).digest("hex") === row.sealedSha256) return bytes;
  log.error({ roomId, version }, "a closing certificate is not the one that was sealed");
  return null;
}
