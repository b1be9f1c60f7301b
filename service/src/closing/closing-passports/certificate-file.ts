import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { isVerifyCode } from "../../kernel/platform/text.ts";
import {
  certificateUse,
  fromVersions,
  hasCode,
  hashHolds,
  rowHolds,
  type StoredVersion,
  storedColumns,
  type VersionDeps,
} from "./versions.ts";

export type CertificateFile = { version: number; file: StoredFile };

/**
 * Opens the archived certificate for sending.
 * @returns the file with its version. If the retention plan deleted the certificate, the time of deletion. Null for an
 * unknown code, for a missing or altered file, and for a row whose MAC is invalid
 */
export async function closingCertificate(
  deps: VersionDeps & { db: Sql; blobs: Blobs },
  verifyCode: string,
): Promise<CertificateFile | { deletedAt: Date } | null> {
  if (!isVerifyCode(verifyCode)) return null;
  const [row] = await deps.db.query<StoredVersion>(sql`
SELECT ${storedColumns} ${fromVersions} WHERE ${hasCode(sql`c`, verifyCode)}`);
  if (!row || !rowHolds(deps, row)) return null;
  if (row.deletedAt) return { deletedAt: row.deletedAt };
  const file = await openCertificate(deps, row);
  return file && { version: row.version, file };
}

export type CertificateDeps = VersionDeps & { db: Sql; blobs: Blobs };

/**
 * The record of a room's certificate, without its file. Null when the room has none, and when the row or its manifest
 * was altered.
 * @param wanted the hash of the wanted certificate; null for the newest one
 */
export async function certificateOfRoom(
  deps: VersionDeps & { db: Sql },
  roomId: string,
  wanted: string | null,
): Promise<StoredVersion | null> {
  const [row] = await deps.db.query<StoredVersion>(sql`
SELECT ${storedColumns} ${fromVersions}
WHERE c.room_id = ${roomId} ${wanted === null ? nothing : sql`AND c.sealed_sha256 = ${wanted}`} ORDER BY c.version DESC LIMIT 1`);
  return row && hashHolds(deps, row) ? row : null;
}

/** True if a certificate was sealed for the room, even if its row was altered since. */
export const wasSealed = async (db: Sql, roomId: string): Promise<boolean> =>
  (await db.query(sql`SELECT FROM closing_passports WHERE room_id = ${roomId} LIMIT 1`)).length > 0;

/**
 * Opens the file of a certificate; null when it is missing or altered. The small file is compared with its hash before
 * it is sent. Otherwise the download would start, and break off at the altered part.
 */
export const openCertificate = (deps: CertificateDeps, row: StoredVersion): Promise<StoredFile | null> =>
  deps.blobs.open(row.blobKey, certificateUse(row), memoryHolder(row), "again").catch(unread(deps.log, row));

/**
 * Runs `work` on the bytes of a version's archived certificate.
 * @returns the work's result; null, without running the work, when the certificate is missing or altered
 */
export async function withCertificate<T>(
  { blobs, log }: { blobs: Blobs; log: Log },
  row: StoredVersion,
  work: (bytes: Buffer) => Promise<T>,
): Promise<T | null> {
  const at = { key: row.blobKey, use: certificateUse(row), holder: memoryHolder(row) };
  const sound = await blobs.open(at.key, at.use, at.holder, "again").catch(unread(log, row));
  return sound && blobs.withBytes(at, async (bytes) => bytes && work(bytes));
}

/**
 * Handles an error while an archived certificate is read. A file that is not the sealed one is logged, and treated as
 * missing.
 */
const unread =
  (log: Log, { roomId, version }: StoredVersion) =>
  (error: unknown): null => {
    // An unreachable store doesn't prove that the file was altered.
    if (error instanceof ServiceError) throw error;
    log.error(
      { err: error, roomId, version },
      "a closing certificate is not the one that was sealed, or can't be read",
    );
    return null;
  };
