import { type Branding, shownBranding } from "../partners/partners.ts";
import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { isVerifyCode } from "../platform/text.ts";
import type { CheckedVersionDeps } from "./certificate-check.ts";
import type { ClosingVerification } from "./schemas.ts";
import { fromVersion, hasCode, hashHolds, linkHolds, type VersionRow, versionColumns } from "./versions.ts";

/** The one read of a verification; apart from its running, so that a bench can run it bare. */
export const verificationStatement = (verifyCode: string): Statement =>
  sql`SELECT ${versionColumns} FROM closing_passports c ${fromVersion} WHERE ${hasCode(sql`c`, verifyCode)}`;

/**
 * The public verification (contract, Closing passports), computed for this answer, or null for what is no verify code of
 * ours. It is JSON text, with the stored manifest in it as it is: reading and writing that anew is half of the work
 * (`npm run bench closing`).
 */
export async function verifyClosing(
  deps: CheckedVersionDeps & { db: Sql },
  verifyCode: string,
): Promise<string | null> {
  if (!isVerifyCode(verifyCode)) return null;
  const [row] = await deps.db.query<VersionRow & Branding>(verificationStatement(verifyCode));
  if (!row) return null;
  const isWhole = hashHolds(deps, row);
  const rest: Omit<ClosingVerification, "manifest"> = {
    manifestSha256: row.manifestSha256,
    sealedSha256: row.sealedSha256,
    version: row.version,
    prevManifestSha256: row.prevManifestSha256,
    chainOk: isWhole && linkHolds(row) && (await deps.certificates.holds(row)),
    branding: shownBranding(row),
    createdAt: row.createdAt.toISOString(),
    environment: row.environment,
    ...(row.deletedAt && { certificateDeletedAtUtc: row.deletedAt.toISOString() }),
    downloadUrl: `/api/verify/room/${verifyCode}/pdf`,
  };
  return withManifest(isWhole ? row.manifest : jsonOrNull(row.manifest), rest);
}

/** An object as JSON, with the manifest's own JSON as its first member. */
const withManifest = (manifest: string, rest: object): string =>
  `{"manifest":${manifest},${JSON.stringify(rest).slice(1)}`;

/** What was altered need not be JSON any more. */
function jsonOrNull(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return "null";
  }
}
