/** The headers of a request, by their names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The fields of a signed event. */
export type SignedEvent = { eventId: string; type: string; objectId: string; occurredAt: Date; body: unknown };

/**
 * Verifies that the provider signed these bytes and, if the signature covers a time, that it did so recently. Never
 * throws.
 */
export type InboundVerifier = (
  raw: Buffer,
  headers: Headers,
  now: Date,
) => ({ ok: true } & SignedEvent) | { ok: false; why: string };
