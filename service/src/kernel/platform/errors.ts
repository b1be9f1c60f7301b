/** The codes of the domain's refusals. `kernel/http/errors/wire-errors.ts` maps them to HTTP statuses. */
export type ErrorCode =
  | "validation"
  | "key_revoked"
  | "owner_required"
  | "scope_required"
  | "role_required"
  | "confirmation_required"
  | "passkey_required"
  | "not_found"
  | "rate_limited"
  | "conflict"
  | "not_payable"
  | "idempotency_key_reused"
  | "idempotency_in_flight"
  | "payments_not_configured"
  | "processor_failed"
  | "unavailable";

/**
 * A refusal whose message the caller sees. The message contains no secret. If the code is `validation`, the message
 * names the field and the rule.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  /** The refused part of the input, such as `signers[2].email`, with which the message begins. Null if not recorded. */
  readonly at: string | null;
  constructor(code: ErrorCode, message: string, { at = null, ...options }: ErrorOptions & { at?: string | null } = {}) {
    super(message, options);
    this.name = "ServiceError";
    this.code = code;
    this.at = at;
  }
}

/** True for a refusal with this code. */
export const isServiceError = <Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is ServiceError & { readonly code: Code } => error instanceof ServiceError && error.code === code;

/** For `catch`: null for a refusal with this code. Other errors are thrown again. */
export const nullIf =
  (code: ErrorCode) =>
  (error: unknown): null => {
    if (isServiceError(error, code)) return null;
    throw error;
  };

/** A refusal because of load. It is not logged as a fault, because under load there are thousands of such refusals. */
export class BusyError extends ServiceError {
  constructor(message: string) {
    super("unavailable", message);
  }
}

/**
 * A refusal because the requested object does not exist yet, but will in a few seconds. It is not logged as a fault.
 */
export class NotYetError extends ServiceError {
  constructor(message: string) {
    super("unavailable", message);
  }
}

/** Shortens an order's code in an error's text, because the code is a credential. */
const maskedCodes = (text: string): string => text.replace(/\b([0-9a-f]{6})[0-9a-f]{34}\b/g, "$1…");

const asSentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

/**
 * A record is not what the service wrote. Its MAC is invalid or of an unknown key, or the record can't be decrypted
 * although its key is there. An operator has to look at it. The errors of a busy database say nothing about the record,
 * and neither does a `MissingKeyError` for an encrypted value.
 * @param what names the record in the singular
 */
export class AlteredRecordError extends ServiceError {
  readonly what: string;
  constructor(what = "this record", options?: ErrorOptions) {
    const named = asSentence(maskedCodes(what));
    const refusal = "is not what the service wrote, so it is neither shown nor used.";
    super("unavailable", `${named} ${refusal} The operator has to look into it.`, options);
    this.what = named;
  }
}

/**
 * A stored document, or its row, is not what the service wrote. An operator has to look at it.
 * @param what names the document and its order
 */
export class AlteredDocumentError extends ServiceError {
  readonly what: string;
  constructor(what: string, options?: ErrorOptions) {
    const named = maskedCodes(what);
    const refusal = "is not what was written, so it is not served, signed or sealed.";
    super("conflict", `${asSentence(named)} ${refusal} The operator of this service has to look at it.`, options);
    this.what = named;
  }
}

/** A refusal of input: `message` names the field and the rule. */
export const invalid = (message: string): ServiceError => new ServiceError("validation", message);

/** A refusal of one part of the input, which the error carries as `at`. */
export const invalidAt = (at: string, rule: string): ServiceError =>
  new ServiceError("validation", `${at} ${rule}`, { at });

/**
 * A fault in the set-up: a setting, a folder, a port or a data file. It is printed in one line, and the process exits
 * with 1.
 */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StartupError";
  }
}
