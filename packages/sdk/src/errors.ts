/** A refusal by the service. */
export class ServiceRefusal extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The `Request-Id` of the answer, for support. */
  readonly requestId: string | null;
  /** Seconds after which a 429 may be tried again; null for any other. */
  readonly retryAfterSeconds: number | null;
  /** The answer's body, parsed when it was JSON. */
  readonly body: unknown;

  constructor(
    status: number,
    message: string,
    facts: { requestId: string | null; retryAfterSeconds: number | null; body: unknown },
  ) {
    super(message);
    this.name = "ServiceRefusal";
    this.status = status;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.body = facts.body;
  }
}
