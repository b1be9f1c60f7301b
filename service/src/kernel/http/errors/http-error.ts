import { ServiceError } from "../../platform/errors.ts";

/** The refusals that HTTP adds to those of the domain. */
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

/** A refusal by the HTTP side: of a credential, a limit, a method, a body. Its caller may read `message`. */
export class HttpError extends Error {
  readonly code: HttpErrorCode;
  constructor(code: HttpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HttpError";
    this.code = code;
  }
}

/** A refusal that its caller may read, of the domain or of HTTP. */
export type Refusal = ServiceError | HttpError;

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof ServiceError || error instanceof HttpError;
