import { hash } from "node:crypto";
import type { LoggedRows } from "../../evidence/transparency-log/transparency-log.ts";
import type { StoredBlobs } from "../../firms/partners/partners.ts";
import { joinFirm, markedFirm } from "../../firms/partners/partners.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { BlobUse } from "../../kernel/platform/blobs/cipher.ts";
import { isSealed, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { marked } from "../../kernel/platform/database/state-mac.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { byEnvironment, deletedAt, type SourceOf, unnamedIn } from "../../kernel/retention/retention.ts";
import { fromRooms, joinRoom, roomState } from "../rooms/rooms.ts";

/** Identifies the blob that stores a version's certificate. */
export const certificateUse = ({
  verifyCode,
  sealedSha256,
}: Pick<VersionFacts, "verifyCode" | "sealedSha256">): BlobUse => ({
  kind: "closing passport",
  owner: verifyCode,
  sha256: sealedSha256,
});

/** The facts of a version and its owner; hashes are lowercase hex SHA-256. */
export type VersionFacts = {
  roomId: string;
  partnerId: string;
  environment: Environment;
  version: number;
  verifyCode: string;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  /** SHA-256 of the PEM text of the seal's certificate chain. */
  sealChain: string;
  blobKey: string;
  createdAt: Date;
};

/** The MAC covers the manifest's hash, and so the manifest itself. */
export function versionMembers(row: VersionFacts): Members {
  const { roomId, partnerId, environment, version, verifyCode, manifestSha256, prevManifestSha256 } = row;
  const { sealedSha256, sealChain, blobKey, createdAt } = row;
  const sealed = { manifestSha256, prevManifestSha256, sealedSha256, sealChain, blobKey, createdAt };
  return { roomId, partnerId, environment, version, verifyCode, ...sealed };
}

export type StoredVersion = VersionFacts & {
  /** The manifest as canonical JSON. */
  manifest: string;
  mac: Buffer | null;
  /** The time when the retention plan deleted the certificate; null while it is stored. */
  deletedAt: Date | null;
};

export type VersionRow = StoredVersion & {
  /**
   * The hash of the previous version's manifest, from that version's own row. Null for the first version, and when that
   * row is missing.
   */
  beforeSha256: string | null;
};

export const storedColumns = sql`c.room_id AS "roomId", r.partner_id AS "partnerId", r.environment, c.version,
  c.verify_code AS "verifyCode@closing", c.manifest AS "manifest@manifest", c.manifest_sha256 AS "manifestSha256",
  c.prev_manifest_sha256 AS "prevManifestSha256", c.sealed_sha256 AS "sealedSha256", c.seal_chain AS "sealChain",
  c.blob_key AS "blobKey", c.created_at AS "createdAt", c.row_mac AS mac, ${deletedAt(sql`c.blob_key`)}`;

/** The stored versions `c`, each with its room `r`. */
export const fromVersions: Statement = sql`FROM closing_passports c ${joinRoom(sql`c.room_id`)}`;

const versionRows: MacTable<VersionFacts> = {
  table: sql`closing_passports`,
  key: sql`verify_code`,
  keyInRows: sql`c.verify_code`,
  mac: sql`c.row_mac`,
  rows: sql`SELECT c.verify_code AS key, ${storedColumns} ${fromVersions}`,
  members: versionMembers,
  texts: [
    {
      kind: "manifest",
      column: sql`manifest`,
      by: sql`verify_code`,
      constraint: "closing_passports_manifest_sealed",
    },
    { kind: "closing", column: sql`verify_code`, constraint: "closing_passports_verify_code_sealed" },
  ],
  blobs: {
    columns: sql`verify_code AS "verifyCode@closing", sealed_sha256 AS "sealedSha256"`,
    useOf: certificateUse,
  },
};

export const protectedTables = [versionRows];

/** Columns of a version `c` and of its room's firm, for `joinVersion`. */
export const versionColumns = sql`${storedColumns}, b.manifest_sha256 AS "beforeSha256", p.brand_name AS "brandName", p.accent_color AS "accentColor", p.logo_url AS "logoUrl", ${markedFirm}`;

/**
 * SQL condition: true if the version has this verify code.
 * @param version the version's alias in the query
 */
export const hasCode = (version: Statement, verifyCode: string): Statement =>
  isSealed(sql`${version}.verify_code`, "closing", verifyCode);

export const storedClosings: StoredBlobs = (partnerId) => sql`
  SELECT c.blob_key, c.bytes ${fromRooms} JOIN closing_passports c ON c.room_id = r.id WHERE r.partner_id = ${partnerId}`;

/** The time when the firm `p` sealed its first closing. */
export const firstClosing: Statement = sql`(SELECT c.created_at ${fromRooms} JOIN closing_passports c ON c.room_id = r.id AND c.version = 1
    WHERE r.partner_id = p.id ORDER BY c.created_at LIMIT 1)`;

/** The retention rule for the certificates of closings. */
export const closingSource: SourceOf = (plan) => ({
  table: "closing_passports",
  rows: sql`closing_passports c ${joinRoom(sql`c.room_id`)}`,
  id: sql`c.verify_code`,
  first: "",
  // Locks the room, because the retention period starts with the room's last change. After a change, a due row is no
  // longer due.
  lock: sql`FOR NO KEY UPDATE OF r SKIP LOCKED`,
  blobKey: sql`c.blob_key`,
  authentic: marked(roomState, sql`r`),
  ...byEnvironment(
    plan,
    "closingPassports",
    { partnerId: sql`r.partner_id`, environment: sql`r.environment` },
    sql`greatest(r.updated_at, c.created_at)`,
  ),
  sharesBlobs: true,
  unshared: () => unnamedIn(sql`closing_passports`, sql`AND other.verify_code <> named.id`),
});

/**
 * Selects, for each sealed version, the start of its line in the transparency log. The line's last part, the link to
 * the previous version, is left out.
 */
export const loggedClosings: LoggedRows = (environment) => sql`
  SELECT 'closing/v1 ' || c.sealed_sha256 AS line, 'version ' || c.version || ' of closing passport ' || c.room_id AS row, c.created_at AS at
  ${fromVersions} WHERE r.environment = ${environment}`;

/** The joins for a version `c`: its room `r`, the firm `p`, and the previous version `b`. */
export const joinVersion: Statement = sql`${joinRoom(sql`c.room_id`)} ${joinFirm(sql`r.partner_id`)}
  LEFT JOIN closing_passports b ON b.room_id = c.room_id AND b.version = c.version - 1`;

export type VersionDeps = { rowMac: RowMac; log: Log };

/** True if the row's MAC is valid. Logs an error when it is not. */
export function rowHolds({ rowMac, log }: VersionDeps, row: StoredVersion): boolean {
  if (rowMac.holds("closing_passports", versionMembers(row), row.mac)) return true;
  const { roomId, version } = row;
  log.error(
    { roomId, version },
    "a closing passport's row was altered, or SECRETS_KEY is another: it is not vouched for",
  );
  return false;
}

/** True if the row's MAC is valid and the manifest's text has the recorded hash. */
export const hashHolds = (deps: VersionDeps, row: StoredVersion): boolean =>
  rowHolds(deps, row) && hash("sha256", row.manifest) === row.manifestSha256;

/**
 * True if the version is linked to the previous one: its row and its manifest both state the hash of the previous
 * version's manifest. For version 1, neither of them may state a hash.
 */
export function linkHolds({ version, manifest, prevManifestSha256, beforeSha256 }: VersionRow): boolean {
  if (prevManifestSha256 !== beforeSha256 || (version === 1) !== (prevManifestSha256 === null)) return false;
  // JSON escapes quotes inside of texts, so no text in the manifest can contain this string. Only the member itself
  // matches.
  return manifest.includes(`"prevManifestSha256":${JSON.stringify(prevManifestSha256)},`);
}
