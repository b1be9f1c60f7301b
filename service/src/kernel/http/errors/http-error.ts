import { ServiceError } from "../../platform/errors.ts";

/** The error codes of the HTTP layer. `ErrorCode` has those of the domain. */
export type HttpErrorCode =
  | "unauthenticated"
  | "sign_in_required"
  | "not_linked"
  | "cross_site"
  | "verdict_unknown"
  | "verdict_deleted"
  | "rate_limited"
  | "method_not_allowed"
  | "unsupported_media_type"
  | "payload_too_large";

/**
 * A refusal by the HTTP layer, for example because of a credential, a rate limit, a method or a body. The caller sees
 * `message`.
 */
export class HttpError extends Error {
  readonly code: HttpErrorCode;
  constructor(code: HttpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HttpError";
    this.code = code;
  }
}

/** A refusal by the domain or by the HTTP layer. The caller sees its message. */
export type Refusal = ServiceError | HttpError;

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof ServiceError || error instanceof HttpError;
