import { sha256Hex } from "../digest.ts";
import { canonicalJsonBytes } from "./canonical-json.ts";
import {
  coverage,
  type Manifest,
  type ManifestArtifacts,
  type ManifestPassport,
  statusBasis,
  statusNote,
} from "./schema.ts";
import { validateManifest } from "./validate.ts";

/**
 * The content of a room at the time of sealing. `status` is the order status; a null or absent artifact does not exist.
 */
export type ManifestInput = Omit<ManifestPassport, "generatedAtUtc"> & {
  readonly generatedAt: Date;
  readonly documents: readonly ({
    readonly orderCode: string;
    readonly label: string | null;
    readonly status: string;
  } & {
    readonly [artifact in keyof ManifestArtifacts]?: string | null | undefined;
  })[];
};

/**
 * Builds the manifest of a room's content: sorts documents, truncates instants to the second, adds constants.
 *
 * @throws EvidenceError `manifest` when the result would be invalid (see {@link validateManifest})
 */
export function buildManifest(input: ManifestInput): Manifest {
  const documents = input.documents.map((document) => ({
    orderCode: document.orderCode,
    label: document.label,
    statusAtSnapshot: { basis: statusBasis, note: statusNote, value: document.status },
    ...present("originalSha256", document.originalSha256),
    ...present("sealedSha256", document.sealedSha256),
    ...present("envelopeVerifyCode", document.envelopeVerifyCode),
    ...present("custodyCertSha256", document.custodyCertSha256),
    ...present("notarizedSha256", document.notarizedSha256),
  }));
  return validateManifest({
    passport: {
      roomCode: input.roomCode,
      roomName: input.roomName,
      reference: input.reference,
      version: input.version,
      prevManifestSha256: input.prevManifestSha256,
      generatedAtUtc: secondsText(input.generatedAt),
    },
    documents: documents.toSorted((a, b) => (a.orderCode < b.orderCode ? -1 : 1)),
    coverage,
  });
}

function present(artifact: keyof ManifestArtifacts, value: string | null | undefined): ManifestArtifacts {
  return value === null || value === undefined ? {} : { [artifact]: value };
}

function secondsText(instant: Date): string {
  return Number.isNaN(instant.getTime()) ? "" : `${instant.toISOString().slice(0, -5)}Z`;
}

/** The manifest's canonical JSON: the bytes that are stored, embedded and hashed. */
export function manifestBytes(manifest: Manifest): Uint8Array<ArrayBuffer> {
  return canonicalJsonBytes(manifest);
}

/** `manifestSha256` of the contract: lowercase hex SHA-256 of the canonical bytes. */
export function manifestSha256(manifest: Manifest): Promise<string> {
  return sha256Hex(manifestBytes(manifest));
}
