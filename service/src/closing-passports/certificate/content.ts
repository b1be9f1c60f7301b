import type { Manifest } from "@signsealship/evidence/manifest";
import type { Environment } from "../../identity/identity.ts";
import type { ChainLink } from "../store.ts";

/** What a certificate says. Hashes are lowercase hex SHA-256. */
export type CertificateContent = {
  manifest: Manifest;
  /** Its canonical JSON: attached as `manifest.json`. */
  manifestBytes: Uint8Array;
  manifestSha256: string;
  environment: Environment;
  partnerName: string;
  verifyCode: string;
  /** Absolute; also in the QR code. */
  verifyUrl: string;
  /** Every version up to this one, in ascending order. */
  chain: readonly ChainLink[];
};

/** Instants as people read them, UTC. */
export const instantText = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
