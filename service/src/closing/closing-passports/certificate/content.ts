import type { Manifest } from "@signsealship/evidence/manifest";
import type { Issuer } from "../../../evidence/seals/seals.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { ChainLink, Firm } from "../store.ts";

/**
 * Facts about a document that are printed on the certificate but are not in the manifest. The source is this service's
 * records.
 */
export type DocumentDetails = {
  /** The title of the document in the order, or else the order's own reference. */
  title: string | null;
  pages: number | null;
  /** `signedAt` is in ISO 8601; null for a person who has not signed. */
  signers: readonly { name: string; signedAt: string | null }[];
  /** The kinds of documents (signed, notarized) that people finished elsewhere and an operator handed in. */
  takenIn: readonly TakenIn[];
};

export type TakenIn = "sealed" | "notarized";

/** A time stamp over the manifest alone. */
type ManifestTimeStamp = {
  /** The name and URL of the time-stamping authority. */
  name: string;
  authority: string;
  at: Date;
  /** RFC 3161 token in DER over the manifest's bytes, attached as `manifest.tst`. */
  token: Uint8Array;
};

/** The content of a certificate. Hashes are lowercase hex SHA-256. */
export type CertificateContent = {
  manifest: Manifest;
  /** The canonical JSON of the manifest, attached as `manifest.json`. */
  manifestBytes: Uint8Array;
  manifestSha256: string;
  environment: Environment;
  /** `logo` is a PNG created by this service. */
  firm: Firm & { logo: Uint8Array | null };
  /** The details of each document, by order code. */
  details: Readonly<Record<string, DocumentDetails>>;
  issuer: Issuer;
  /** The time stamp over the manifest; null when no time-stamping authority is configured or responded. */
  timeStamp: ManifestTimeStamp | null;
  /**
   * The newest checkpoint of the transparency log that this node had seen before the seal, as a signed note. Null if it
   * had seen none, or the log was halted.
   */
  checkpoint: string | null;
  verifyCode: string;
  /** The absolute URL of the page that verifies this version; the QR code contains it too. */
  verifyUrl: string;
  /** Every version up to this one, in ascending order. */
  chain: readonly ChainLink[];
};

export const firmName = ({ name, brandName }: Firm): string => brandName ?? name;

export const documentName = (label: string | null, details: DocumentDetails | undefined): string | null =>
  label ?? details?.title ?? null;
