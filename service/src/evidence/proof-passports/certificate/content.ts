import type { Issuer } from "../../seals/seals.ts";
import type { ProofRecord } from "../public-record.ts";

/** What a proof certificate says: what is on record of a sealed document, and nothing of the moment. */
export type ProofCertificate = {
  record: ProofRecord;
  /** Canonical facts, attached as `passport.json`. */
  recordBytes: Uint8Array;
  /** Whose document it is; null where that is nobody's business. */
  firm: { name: string; accentColor: string | null; logo: Uint8Array | null } | null;
  /** Of the document as it was handed in; null when the sealed PDF is not kept. */
  document: { bytes: number; sealedBytes: number; pages: number | null } | null;
  /** The certificate that sealed the document: subject, and SHA-256 in hex. */
  sealedBy: { certificate: string; fingerprint: string };
  /** The authority's name; null without a time stamp. */
  authorityName: string | null;
  /** Who seals the certificate itself: by another certificate than the document's, perhaps. */
  issuer: Issuer;
  /** Where people verify the document; absolute. */
  verifyUrl: string;
};
