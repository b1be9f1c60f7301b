import { createHash } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { Manifest } from "@signsealship/evidence/manifest";
import { parseManifest } from "@signsealship/evidence/manifest";
import type { Environment } from "../identity/identity.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Sql } from "../platform/database.ts";
import type { Log } from "../platform/logs.ts";
import { type Branding, brandingOf } from "../rooms/rooms.ts";

const verifyCodes = /^[a-z2-7]{26}$/;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

type VersionRow = {
  version: number;
  manifest: string;
  manifestSha256: string;
  prevManifestSha256: string | null;
  /** The stored hash of the version before; null when there is none. */
  beforeSha256: string | null;
  sealedSha256: string;
  createdAt: Date;
};

const versionColumns = `c.version, c.manifest, c.manifest_sha256 AS "manifestSha256",
  c.prev_manifest_sha256 AS "prevManifestSha256", b.manifest_sha256 AS "beforeSha256", c.sealed_sha256 AS "sealedSha256",
  c.created_at AS "createdAt"`;
const brandColumns = `p.brand_name AS "brandName", p.accent_color AS "accentColor", p.logo_url AS "logoUrl"`;
const withBefore = "LEFT JOIN closing_passports b ON b.room_id = c.room_id AND b.version = c.version - 1";
const withPartner = "JOIN rooms r ON r.id = c.room_id JOIN partners p ON p.id = r.partner_id";

const selectVerification = `SELECT ${versionColumns}, ${brandColumns}
FROM closing_passports c ${withPartner} ${withBefore} WHERE c.verify_code = $1`;

/** Apart from its running, for what measures it. */
export const verificationStatement = (verifyCode: string) => ({ text: selectVerification, values: [verifyCode] });

/** Whether the manifest hashes to what is recorded of it; computed from the stored text. */
const hashHolds = ({ manifest, manifestSha256 }: VersionRow): boolean => sha256(manifest) === manifestSha256;

/** Whether the version links to the one before it, by its record and by its manifest alike. */
function linkHolds({ version, manifest, prevManifestSha256, beforeSha256 }: VersionRow): boolean {
  if (prevManifestSha256 !== beforeSha256 || (version === 1) !== (prevManifestSha256 === null)) return false;
  // No text inside the manifest can look so: its quotes are escaped.
  return manifest.includes(`"prevManifestSha256":${JSON.stringify(prevManifestSha256)},`);
}

/** The manifest's own text as JSON; what was altered need not be any. */
function asJson({ manifest }: VersionRow, isWhole: boolean): string {
  if (isWhole) return manifest;
  try {
    JSON.parse(manifest);
    return manifest;
  } catch {
    return "null";
  }
}

/** The public verification (contract, Closing passports) as JSON, or null for whatever is no verify code of ours. */
export async function verifyClosingAsJson(db: Sql, verifyCode: string): Promise<string | null> {
  if (!verifyCodes.test(verifyCode)) return null;
  const { text, values } = verificationStatement(verifyCode);
  const [row] = await db.rows<VersionRow & Branding>(text, values);
  if (!row) return null;
  const isWhole = hashHolds(row);
  const rest = JSON.stringify({
    manifestSha256: row.manifestSha256,
    sealedSha256: row.sealedSha256,
    version: row.version,
    prevManifestSha256: row.prevManifestSha256,
    chainOk: isWhole && linkHolds(row),
    branding: brandingOf(row),
    createdAt: row.createdAt.toISOString(),
    downloadUrl: `/api/verify/room/${verifyCode}/pdf`,
  });
  return `{"manifest":${asJson(row, isWhole)},${rest.slice(1)}`;
}

/** One version of a chain, with what was recomputed of it. Hashes are lowercase hex SHA-256. */
export type ClosingVersionView = {
  version: number;
  createdAt: Date;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  /** The stored manifest; null on earlier versions, which the code does not open. */
  manifestText: string | null;
  hashHolds: boolean;
  linkHolds: boolean;
};

/** A version for the eyes of people, and the chain up to it. */
export type ClosingView = {
  verifyCode: string;
  environment: Environment;
  partnerName: string;
  branding: Branding | null;
  /** Null when what is stored is no manifest any more. */
  manifest: Manifest | null;
  certificateKept: boolean;
  /** In ascending order; the last is the one of the code. */
  versions: [ClosingVersionView, ...ClosingVersionView[]];
};

const selectChain = `SELECT ${versionColumns}, ${brandColumns}, p.name AS "partnerName", r.environment
FROM closing_passports own JOIN closing_passports c ON c.room_id = own.room_id AND c.version <= own.version
${withPartner} ${withBefore} WHERE own.verify_code = $1 ORDER BY c.version`;

function readManifest(text: string): Manifest | null {
  try {
    return parseManifest(Buffer.from(text));
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/** What the page of a verify code shows, every hash and link of the chain computed anew; null for an unknown code. */
export async function closingView(db: Sql, verifyCode: string): Promise<ClosingView | null> {
  if (!verifyCodes.test(verifyCode)) return null;
  const rows = await db.rows<VersionRow & Branding & { partnerName: string; environment: Environment }>(selectChain, [
    verifyCode,
  ]);
  const own = rows.at(-1);
  const [first, ...rest] = rows.map(
    (row): ClosingVersionView => ({
      version: row.version,
      createdAt: row.createdAt,
      manifestSha256: row.manifestSha256,
      prevManifestSha256: row.prevManifestSha256,
      sealedSha256: row.sealedSha256,
      manifestText: row === own ? row.manifest : null,
      hashHolds: hashHolds(row),
      linkHolds: linkHolds(row),
    }),
  );
  if (!own || !first) return null;
  return {
    verifyCode,
    environment: own.environment,
    partnerName: own.partnerName,
    branding: brandingOf(own),
    manifest: readManifest(own.manifest),
    certificateKept: true,
    versions: [first, ...rest],
  };
}

export type Certificate = { version: number; bytes: Buffer };

/** The archived certificate, hashed again; null for an unknown code and when it is gone or not the one that was sealed. */
export async function closingCertificate(
  { db, blobs, log }: { db: Sql; blobs: Blobs; log: Log },
  verifyCode: string,
): Promise<Certificate | null> {
  if (!verifyCodes.test(verifyCode)) return null;
  const [row] = await db.rows<{ version: number; blobKey: string; sealedSha256: string; roomId: string }>(
    `SELECT version, blob_key AS "blobKey", sealed_sha256 AS "sealedSha256", room_id AS "roomId"
     FROM closing_passports WHERE verify_code = $1`,
    [verifyCode],
  );
  if (!row) return null;
  const { version, roomId } = row;
  const bytes = await blobs.get(row.blobKey).catch((error) => {
    log.error({ err: error, roomId, version }, "a closing certificate cannot be read");
    return null;
  });
  if (bytes === null) return null;
  if (createHash("sha256").update(bytes).digest("hex") === row.sealedSha256) return { version, bytes };
  log.error({ roomId, version }, "a closing certificate is not the one that was sealed");
  return null;
}
