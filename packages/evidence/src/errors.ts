/** The format or limit that made the bytes unreadable. The set is complete, so callers may use an exhaustive switch. */
export type EvidenceErrorCode =
  | "der"
  | "x509"
  | "cms"
  | "rfc3161"
  | "ots"
  | "pdf"
  | "json"
  | "manifest"
  | "record"
  | "zip"
  | "log"
  | "unsupported"
  | "limit";

/**
 * The only error that parsers throw: the bytes are unreadable. Evidence that is readable but false is returned as a
 * claim or a result. Builders throw this error for invalid input.
 */
export class EvidenceError extends Error {
  readonly code: EvidenceErrorCode;

  constructor(code: EvidenceErrorCode, message: string) {
    super(message);
    this.name = "EvidenceError";
    this.code = code;
  }
}
