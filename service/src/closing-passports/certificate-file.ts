import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Sql } from "../platform/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { hashYielding } from "../platform/hash-yielding.ts";
import type { Log } from "../platform/logs.ts";
import { sql } from "../platform/sql.ts";
import { isVerifyCode } from "../platform/text.ts";

export type CertificateFile = { version: number; bytes: Buffer };

type CertificateRow = { version: number; blobKey: string; sealedSha256: string; roomId: string };

/** The archived certificate, hashed again; null for an unknown code and when it is gone or not the one that was sealed. */
export async function closingCertificate(
  { db, blobs, log }: { db: Sql; blobs: Blobs; log: Log },
  verifyCode: string,
): Promise<CertificateFile | null> {
  if (!isVerifyCode(verifyCode)) return null;
  const [row] = await db.query<CertificateRow>(sql`
SELECT version, blob_key AS "blobKey", sealed_sha256 AS "sealedSha256", room_id AS "roomId"
FROM closing_passports WHERE verify_code = ${verifyCode}`);
  if (!row) return null;
  const { version, roomId } = row;
  const bytes = await blobs.get(row.blobKey).catch((error) => {
    // A store that is away says nothing of what it holds.
    if (error instanceof ServiceError) throw error;
    log.error({ err: error, roomId, version }, "a closing certificate cannot be read");
    return null;
  });
  if (bytes === null) return null;
  if ((await hashYielding(bytes)).digest("hex") === row.sealedSha256) return { version, bytes };
  log.error({ roomId, version }, "a closing certificate is not the one that was sealed");
  return null;
}
