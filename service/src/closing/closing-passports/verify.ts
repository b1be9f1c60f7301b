import { type Branding, type MarkedFirm, shownBranding } from "../../firms/partners/partners.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { isVerifyCode } from "../../kernel/platform/text.ts";
import type { CheckedVersionDeps } from "./certificate-check.ts";
import type { ClosingVerification } from "./schemas.ts";
import { hasCode, hashHolds, joinVersion, linkHolds, type VersionRow, versionColumns } from "./versions.ts";

/**
 * The query of a verification. It is the only one, if this node has already verified the certificate. The statement is
 * a separate function, so that a benchmark can run it alone.
 */
export const verificationStatement = (verifyCode: string): Statement =>
  sql`SELECT ${versionColumns} FROM closing_passports c ${joinVersion} WHERE ${hasCode(sql`c`, verifyCode)}`;

/**
 * The public verification (contract, Closing passports), computed for each request; null for an unknown or malformed
 * verify code. It is JSON text that includes the stored manifest unchanged. Parsing and rewriting the manifest would be
 * half of the work (`npm run bench closing`).
 */
export async function verifyClosing(
  deps: CheckedVersionDeps & { db: Sql },
  verifyCode: string,
): Promise<string | null> {
  if (!isVerifyCode(verifyCode)) return null;
  const [row] = await deps.db.query<VersionRow & Branding & MarkedFirm>(verificationStatement(verifyCode));
  if (!row) return null;
  const isWhole = hashHolds(deps, row);
  const rest: Omit<ClosingVerification, "manifest"> = {
    manifestSha256: row.manifestSha256,
    sealedSha256: row.sealedSha256,
    version: row.version,
    prevManifestSha256: row.prevManifestSha256,
    chainOk: isWhole && linkHolds(row) && (await deps.certificates.holds(row)),
    branding: row.isFirmAuthentic ? shownBranding(row) : null,
    createdAt: row.createdAt.toISOString(),
    environment: row.environment,
    ...(row.deletedAt && { certificateDeletedAtUtc: row.deletedAt.toISOString() }),
    downloadUrl: `/api/verify/room/${verifyCode}/pdf`,
  };
  return withManifest(isWhole ? row.manifest : jsonOrNull(row.manifest), rest);
}

/** An object as JSON text, with the manifest's own JSON as its first member. */
const withManifest = (manifest: string, rest: object): string =>
  `{"manifest":${manifest},${JSON.stringify(rest).slice(1)}`;

/** A text that was altered in the database may no longer be JSON. */
function jsonOrNull(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return "null";
  }
}
