import type { Issuer } from "../../seals/seals.ts";
import type { ProofRecord } from "../public-record.ts";

/**
 * The content of a proof certificate. It consists of stored facts about a sealed document that do not change with time.
 */
export type ProofCertificate = {
  record: ProofRecord;
  /** The record as canonical JSON, attached as `passport.json`. */
  recordBytes: Uint8Array;
  /** The firm that owns the passport; null on the public certificate, which must not reveal the firm. */
  firm: { name: string; accentColor: string | null; logo: Uint8Array | null } | null;
  /** Facts of the uploaded document and of the sealed PDF; null when the sealed PDF is not stored or can't be read. */
  document: { bytes: number; sealedBytes: number; pages: number | null } | null;
  /** The X.509 certificate of the document's seal: its subject, and its SHA-256 in hex. */
  sealedBy: { certificate: string; fingerprint: string };
  /** The name of the time-stamping authority; null without a time stamp. */
  authorityName: string | null;
  /**
   * The transparency log for the seal, and the index of the seal's entry in that log; the index is null while the entry
   * is queued.
   */
  logged: { origin: string; index: number | null };
  /** The issuer of this proof certificate. Its X.509 certificate may be newer than the one in `sealedBy`. */
  issuer: Issuer;
  /** The absolute URL of the verification page. */
  verifyUrl: string;
};
