import { EvidenceError } from "@signsealship/evidence/errors";
import { type Manifest, manifestLimits, parseManifest } from "@signsealship/evidence/manifest";
import {
  type LineProgress,
  lineState,
  type Retraction,
  requireComposedOts,
  requireLogProof,
  retractionOf,
} from "../../evidence/transparency-log/transparency-log.ts";
import { alteredFirm, type Branding, type MarkedFirm, shownBranding } from "../../firms/partners/partners.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { isVerifyCode } from "../../kernel/platform/text.ts";
import type { OwnRoom } from "../rooms/rooms.ts";
import type { CheckedVersionDeps } from "./certificate-check.ts";
import { closingEntry } from "./store.ts";
import { verificationStatement } from "./verify.ts";
import {
  hasCode,
  hashHolds,
  joinVersion,
  linkHolds,
  type StoredVersion,
  type VersionDeps,
  type VersionRow,
  versionColumns,
} from "./versions.ts";

/** One version of a chain with the results of its checks. Hashes are lowercase hex SHA-256. */
export type ClosingVersionRecord = {
  version: number;
  createdAt: Date;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  /** The stored manifest. Null for earlier versions, because a verify code grants access only to its own version. */
  manifestText: string | null;
  /** True if the row's MAC verifies and the manifest has the recorded hash. */
  hashHolds: boolean;
  linkHolds: boolean;
  /**
   * True if `hashHolds`, and the sealed certificate is stored and contains this manifest. A certificate that the
   * retention plan deleted counts as stored.
   */
  certificateHolds: boolean;
};

/** A version and the chain up to it, as shown to people. */
export type ClosingRecord = {
  verifyCode: string;
  environment: Environment;
  partnerName: string;
  branding: Branding | null;
  /** The parsed manifest; null when the stored text is no longer a manifest. */
  manifest: Manifest | null;
  /** The time when the retention plan deleted the certificate; null while it is stored. */
  certificateDeletedAt: Date | null;
  /** The record in the transparency log by which the operator retracted this version; null without one. */
  retraction: Retraction | null;
  /** The version's progress in the transparency log; null when the stored text is no longer a manifest. */
  log: LineProgress | null;
  /** All versions up to the one that the verify code belongs to, in ascending order. */
  versions: readonly [ClosingVersionRecord, ...ClosingVersionRecord[]];
};

type ChainRow = VersionRow & Branding & MarkedFirm & { partnerName: string };

const selectChain = (db: Sql, verifyCode: string) =>
  db.query<ChainRow>(sql`
SELECT ${versionColumns}, p.name AS "partnerName"
FROM closing_passports own JOIN closing_passports c ON c.room_id = own.room_id AND c.version <= own.version ${joinVersion}
WHERE ${hasCode(sql`own`, verifyCode)} ORDER BY c.version`);

/** Parses a stored manifest; null for a text that is not a manifest. */
export function readManifest(text: string): Manifest | null {
  try {
    return parseManifest(Buffer.from(text));
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/** The transparency log's entry for a version; null when the version's stored text is not a manifest. */
export function logEntryOf(row: StoredVersion) {
  const manifest = readManifest(row.manifest);
  return manifest && closingEntry({ ...row, roomCode: manifest.passport.roomCode });
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

/** The content of a verify code's page, with every hash and link recomputed; null for an unknown code. */
export async function closingRecord(
  deps: CheckedVersionDeps & { db: Sql },
  verifyCode: string,
): Promise<ClosingRecord | null> {
  const rows = isVerifyCode(verifyCode) ? await selectChain(deps.db, verifyCode) : [];
  const own = rows.at(-1);
  if (!own) return null;
  const first = await versionRecord(deps, rows[0] ?? own, own);
  const rest: ClosingVersionRecord[] = [];
  // Checked one after another, because the first check of a certificate reads the whole file into memory.
  for (const row of rows.slice(1)) rest.push(await versionRecord(deps, row, own));
  const entry = logEntryOf(own);
  return {
    verifyCode,
    environment: own.environment,
    partnerName: own.isFirmAuthentic ? own.partnerName : alteredFirm,
    branding: own.isFirmAuthentic ? shownBranding(own) : null,
    manifest: readManifest(own.manifest),
    certificateDeletedAt: own.deletedAt,
    retraction: await retractionOf(deps.db, own),
    log: entry && (await lineState(deps.db, own.environment, entry)),
    versions: [first, ...rest],
  };
}

/** The number of a room's next version; null when the room has the maximum number of versions. */
export function nextVersionOf({ versions }: Pick<OwnRoom, "versions">): number | null {
  const next = (versions[0]?.version ?? 0) + 1;
  return next > manifestLimits.versions ? null : next;
}

/**
 * The proof that the transparency log includes a version's line. Null for an unknown code, and for a row whose MAC or
 * manifest is invalid.
 * @throws ServiceError `unavailable` while the log does not include it; also `conflict` while there is no `ots` proof
 */
export async function closingLogProof(
  deps: VersionDeps & { db: Sql },
  verifyCode: string,
  form: "tlog-proof" | "ots",
): Promise<Buffer | null> {
  if (!isVerifyCode(verifyCode)) return null;
  const [row] = await deps.db.query<VersionRow>(verificationStatement(verifyCode));
  const entry = row && hashHolds(deps, row) ? logEntryOf(row) : null;
  if (!row || !entry) return null;
  const require = form === "tlog-proof" ? requireLogProof : requireComposedOts;
  return require(deps.db, row.environment, entry);
}
