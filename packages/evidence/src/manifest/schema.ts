/** The statements of one Closing Passport version about its room, with the contract's field names. */
export type Manifest = {
  readonly passport: ManifestPassport;
  /** One entry per attached order, strictly ascending by `orderCode`. */
  readonly documents: readonly ManifestDocument[];
  readonly coverage: { readonly covers: readonly string[]; readonly doesNotCover: readonly string[] };
};

export type ManifestPassport = {
  readonly roomCode: string;
  readonly roomName: string;
  readonly reference: string | null;
  /** The version of the closing passport, 1 to 20. */
  readonly version: number;
  /** The hash of the previous version's manifest in lowercase hex; null only in version 1. */
  readonly prevManifestSha256: string | null;
  /** UTC to the second: `2026-01-31T23:59:59Z`. */
  readonly generatedAtUtc: string;
};

/** The artifacts of a document. One that does not exist is absent, never null. */
export type ManifestArtifacts = {
  readonly originalSha256?: string;
  readonly sealedSha256?: string;
  readonly envelopeVerifyCode?: string;
  readonly custodyCertSha256?: string;
  readonly notarizedSha256?: string;
};

export type ManifestDocument = ManifestArtifacts & {
  readonly orderCode: string;
  readonly label: string | null;
  readonly statusAtSnapshot: { readonly basis: string; readonly note: string; readonly value: string };
};

/** Marks `statusAtSnapshot` as a statement of the platform, not as evidence. */
export const statusBasis = "platform_attestation";
export const statusNote = "platform attestation by signsealship at snapshot time; not cryptographic evidence";

/** The statements of a manifest about what it covers. They are fixed in this schema. */
export const coverage = {
  covers: [
    "SHA-256 hashes of the artifacts held for the listed orders at snapshot time",
    "the chain of this room's passport versions through prevManifestSha256",
  ],
  doesNotCover: [
    "payment or refund state",
    "delivery confirmation (there is no artifact hash of a delivered shipment)",
    "orders not attached to the room at snapshot time",
    "statusAtSnapshot values (platform attestations, not evidence)",
    "anything after generatedAtUtc",
  ],
} as const;

/** The same coverage in sentences for people. The evidence format fixes the sentences. */
export const plainCoverage: Readonly<Record<string, string>> = {
  "SHA-256 hashes of the artifacts held for the listed orders at snapshot time":
    "The fingerprints (SHA-256) of the documents held for the listed orders when this version was made.",
  "the chain of this room's passport versions through prevManifestSha256":
    "The chain of versions: each has the fingerprint of the one before.",
  "payment or refund state": "Payments and refunds.",
  "delivery confirmation (there is no artifact hash of a delivered shipment)": "Whether a shipment was delivered.",
  "orders not attached to the room at snapshot time": "Orders that were not in the room when this version was made.",
  "statusAtSnapshot values (platform attestations, not evidence)":
    "The statuses shown: this service states them, and nobody can compute them again.",
  "anything after generatedAtUtc": "Anything that happened after this version was made.",
};

/** Limits of a manifest. The contract sets twenty versions per room and fifty orders per version. */
export const manifestLimits = { bytes: 262_144, documents: 50, versions: 20, textLength: 200 } as const;
