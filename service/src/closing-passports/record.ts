import { EvidenceError } from "@signsealship/evidence/errors";
import { type Manifest, parseManifest } from "@signsealship/evidence/manifest";
import type { Environment } from "../identity/identity.ts";
import { type Branding, shownBranding } from "../partners/partners.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { isVerifyCode } from "../platform/text.ts";
import type { CheckedVersionDeps } from "./certificate-check.ts";
import { fromVersion, hasCode, hashHolds, linkHolds, type VersionRow, versionColumns } from "./versions.ts";

/** One version of a chain, with what was recomputed of it. Hashes are lowercase hex SHA-256. */
export type ClosingVersionRecord = {
  version: number;
  createdAt: Date;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  /** The stored manifest; null on earlier versions, which the code does not open. */
  manifestText: string | null;
  /** Whether the row is what was written, and the manifest has its hash. */
  hashHolds: boolean;
  linkHolds: boolean;
  /** Whether the sealed certificate is kept and bears this manifest; true where the retention plan deleted it. */
  certificateHolds: boolean;
};

/** A version for the eyes of people, and the chain up to it. */
export type ClosingRecord = {
  verifyCode: string;
  environment: Environment;
  partnerName: string;
  branding: Branding | null;
  /** Null when what is stored is no manifest any more. */
  manifest: Manifest | null;
  /** When the retention plan deleted the certificate; null when it did not. */
  certificateDeletedAt: Date | null;
  /** In ascending order; the last is the one of the code. */
  versions: readonly [ClosingVersionRecord, ...ClosingVersionRecord[]];
};

type ChainRow = VersionRow & Branding & { partnerName: string };

const selectChain = (db: Sql, verifyCode: string) =>
  db.query<ChainRow>(sql`
SELECT ${versionColumns}, p.name AS "partnerName"
FROM closing_passports own JOIN closing_passports c ON c.room_id = own.room_id AND c.version <= own.version ${fromVersion}
WHERE ${hasCode(sql`own`, verifyCode)} ORDER BY c.version`);

function readManifest(text: string): Manifest | null {
  try {
    return parseManifest(Buffer.from(text));
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

async function versionRecord(deps: CheckedVersionDeps, row: ChainRow, own: ChainRow): Promise<ClosingVersionRecord> {
  const { version, createdAt, manifestSha256, prevManifestSha256, sealedSha256 } = row;
  const isWhole = hashHolds(deps, row);
  return {
    version,
    createdAt,
    manifestSha256,
    prevManifestSha256,
    sealedSha256,
    manifestText: row === own ? row.manifest : null,
    hashHolds: isWhole,
    linkHolds: linkHolds(row),
    certificateHolds: isWhole && (await deps.certificates.holds(row)),
  };
}

/** What the page of a verify code shows, every hash and link of the chain computed anew; null for an unknown code. */
export async function closingRecord(
  deps: CheckedVersionDeps & { db: Sql },
  verifyCode: string,
): Promise<ClosingRecord | null> {
  const rows = isVerifyCode(verifyCode) ? await selectChain(deps.db, verifyCode) : [];
  const own = rows.at(-1);
  if (!own) return null;
  const first = await versionRecord(deps, rows[0] ?? own, own);
  const rest: ClosingVersionRecord[] = [];
  // One after another: at the first look each certificate is read whole.
  for (const row of rows.slice(1)) rest.push(await versionRecord(deps, row, own));
  return {
    verifyCode,
    environment: own.environment,
    partnerName: own.partnerName,
    branding: shownBranding(own),
    manifest: readManifest(own.manifest),
    certificateDeletedAt: own.deletedAt,
    versions: [first, ...rest],
  };
}
