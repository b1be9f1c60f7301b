import { createHash } from "node:crypto";
import { type Statement, sql } from "../platform/sql.ts";

export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** A sealed version as it is stored; hashes are lowercase hex SHA-256. */
export type VersionRow = {
  version: number;
  /** Canonical JSON. */
  manifest: string;
  manifestSha256: string;
  prevManifestSha256: string | null;
  /** The stored hash of the version before; null when there is none. */
  beforeSha256: string | null;
  sealedSha256: string;
  createdAt: Date;
};

/** Columns of a version `c` and of its room's firm, for `fromVersion`. */
export const versionColumns = sql`c.version, c.manifest, c.manifest_sha256 AS "manifestSha256",
  c.prev_manifest_sha256 AS "prevManifestSha256", b.manifest_sha256 AS "beforeSha256", c.sealed_sha256 AS "sealedSha256",
  c.created_at AS "createdAt",
  p.brand_name AS "brandName", p.accent_color AS "accentColor", p.logo_url AS "logoUrl"`;

/** What follows the version `c`: its room `r`, its firm `p` and the version before it, `b`. */
export const fromVersion: Statement = sql`JOIN rooms r ON r.id = c.room_id JOIN partners p ON p.id = r.partner_id
  LEFT JOIN closing_passports b ON b.room_id = c.room_id AND b.version = c.version - 1`;

/** Whether the manifest hashes to what is recorded of it; computed from the stored text. */
export const hashHolds = ({ manifest, manifestSha256 }: VersionRow): boolean => sha256(manifest) === manifestSha256;

/** Whether the version links to the one before it, by its record and by its manifest alike. */
export function linkHolds({ version, manifest, prevManifestSha256, beforeSha256 }: VersionRow): boolean {
  if (prevManifestSha256 !== beforeSha256 || (version === 1) !== (prevManifestSha256 === null)) return false;
  // No text inside the manifest can look so: its quotes are escaped.
  return manifest.includes(`"prevManifestSha256":${JSON.stringify(prevManifestSha256)},`);
}
