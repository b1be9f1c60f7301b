/** A refusal by the service. */
export class ServiceRefusal extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** What was refused, for programs: `validation`, `not_found`, `rate_limited`. Null when the answer did not say. */
  readonly code: string | null;
  /** The `Request-Id` of the answer, for support. */
  readonly requestId: string | null;
  /** Seconds after which a 429 or 503 may be tried again; null when the answer did not say. */
  readonly retryAfterSeconds: number | null;
  /** The answer's body, parsed when it was JSON. */
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

/** The service was not reached, did not answer in time, or was cut off. `cause` is what the runtime said. */
export class ConnectionError extends Error {
  /** Where the service was asked. */
  readonly baseUrl: string;

  constructor(baseUrl: string, cause: unknown) {
    super(`No answer from ${baseUrl} (${whyOf(cause)}).`, { cause });
    this.name = "ConnectionError";
    this.baseUrl = baseUrl;
  }
}

// Node's fetch says "fetch failed", and why in its own cause.
function whyOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  const { code } = inner as { code?: unknown };
  return typeof code === "string" ? code : inner.message || inner.name;
}

/** Why a delivery is not to be trusted, or can't be read. */
export type WebhookReason =
  | "missing_signature"
  | "malformed_signature"
  | "outside_tolerance"
  | "wrong_signature"
  | "not_json";

/** A delivery that was not signed with your secret, or is no event. */
export class WebhookRefusal extends Error {
  readonly reason: WebhookReason;

  constructor(reason: WebhookReason, message: string) {
    super(message);
    this.name = "WebhookRefusal";
    this.reason = reason;
  }
}
