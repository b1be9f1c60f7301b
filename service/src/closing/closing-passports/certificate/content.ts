import type { Manifest } from "@signsealship/evidence/manifest";
import type { Environment } from "../../identity/identity.ts";
import type { Issuer } from "../../seals/seals.ts";
import type { ChainLink, Firm } from "../store.ts";

/** What is printed of a document beside what its manifest says; as this service has it on record. */
export type DocumentDetails = {
  /** What the order calls it. */
  title: string | null;
  pages: number | null;
  /** `signedAt` as ISO 8601; null for one who has not signed. */
  signers: readonly { name: string; signedAt: string | null }[];
  /** What an operator took in: what people did to those files, they did elsewhere. */
  takenIn: readonly TakenIn[];
};

export type TakenIn = "sealed" | "notarized";

/** A time stamp of the manifest itself. */
export type ManifestTimeStamp = {
  /** The authority by name, and its address. */
  name: string;
  authority: string;
  at: Date;
  /** RFC 3161 token in DER, over the manifest's bytes: attached as `manifest.tst`. */
  token: Uint8Array;
};

/** What a certificate says. Hashes are lowercase hex SHA-256. */
export type CertificateContent = {
  manifest: Manifest;
  /** Its canonical JSON: attached as `manifest.json`. */
  manifestBytes: Uint8Array;
  manifestSha256: string;
  environment: Environment;
  /** `logo` is a PNG of this service's making. */
  firm: Firm & { logo: Uint8Array | null };
  /** By the order's code. */
  details: Readonly<Record<string, DocumentDetails>>;
  issuer: Issuer;
  /** Null when no authority gave one. */
  timeStamp: ManifestTimeStamp | null;
  verifyCode: string;
  /** Absolute; also in the QR code. */
  verifyUrl: string;
  /** Every version up to this one, in ascending order. */
  chain: readonly ChainLink[];
};

/** How the firm is called: by its brand, where it has one. */
export const firmName = ({ name, brandName }: Firm): string => brandName ?? name;

/** What a document is called. */
export const documentName = (label: string | null, details: DocumentDetails | undefined): string | null =>
  label ?? details?.title ?? null;
