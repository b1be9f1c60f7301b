import type { Manifest } from "@signsealship/evidence/manifest";

/** One version of a room's Closing Passport. Hashes are lowercase hex SHA-256. */
export type ClosingVersionRecord = {
  version: number;
  createdAt: Date;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  /** The stored bytes, which are ASCII; null when the code does not open this version. */
  manifestText: string | null;
  /** Recomputed just now: the stored manifest hashes to `manifestSha256`, and it links to the version before. */
  hashHolds: boolean;
  linkHolds: boolean;
};

/** What `/v/room/{verifyCode}` shows. */
export type ClosingRecord = {
  verifyCode: string;
  environment: "live" | "test";
  partnerName: string | null;
  branding: { brandName: string | null; accentColor: string | null; logoUrl: string | null } | null;
  /** Null when what is stored is no manifest any more. */
  manifest: Manifest | null;
  /** Whether the certificate can be downloaded. */
  certificateKept: boolean;
  /** Every version up to this one, in ascending order: this one is the last. */
  versions: readonly [ClosingVersionRecord, ...ClosingVersionRecord[]];
};
