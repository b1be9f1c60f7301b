/** A refusal by the service. */
export class ServiceRefusal extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** A code for programs: `validation`, `not_found`, `rate_limited`. Null when the answer has none. */
  readonly code: string | null;
  /** The `Request-Id` of the answer, for support requests. */
  readonly requestId: string | null;
  /** Seconds to wait before retrying a 429 or 503; null when the answer states no such time. */
  readonly retryAfterSeconds: number | null;
  /** The body of the answer, parsed if it is JSON. */
  readonly body: unknown;

  constructor(
    status: number,
    message: string,
    facts: { code: string | null; requestId: string | null; retryAfterSeconds: number | null; body: unknown },
  ) {
    super(message);
    this.name = "ServiceRefusal";
    this.status = status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.body = facts.body;
  }
}

/** The service was unreachable, timed out, or closed the connection. `cause` is the runtime's own error. */
export class ConnectionError extends Error {
  /** The base URL of the service that was called. */
  readonly baseUrl: string;

  constructor(baseUrl: string, cause: unknown) {
    super(`No answer from ${baseUrl} (${whyOf(cause)}).`, { cause });
    this.name = "ConnectionError";
    this.baseUrl = baseUrl;
  }
}

// Node's fetch reports only "fetch failed"; the reason is in `cause`.
function whyOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  const { code } = inner as { code?: unknown };
  return typeof code === "string" ? code : inner.message || inner.name;
}

/** The reasons for which a delivery can't be trusted or read. */
export type WebhookReason =
  | "missing_signature"
  | "malformed_signature"
  | "outside_tolerance"
  | "wrong_signature"
  | "not_json";

/** A delivery whose signature is missing, malformed, wrong or outside the tolerated time, or whose body is not JSON. */
export class WebhookRefusal extends Error {
  readonly reason: WebhookReason;

  constructor(reason: WebhookReason, message: string) {
    super(message);
    this.name = "WebhookRefusal";
    this.reason = reason;
  }
}
