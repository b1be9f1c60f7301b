/** The headers of a request, by their names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The fields of a signed event. */
export type SignedEvent = { eventId: string; type: string; objectId: string; occurredAt: Date; body: unknown };

/**
 * Verifies that the provider signed these bytes, and that it did so recently if the signature includes a time. Never
 * throws.
 */
export type InboundVerifier = (
  raw: Buffer,
  headers: Headers,
  now: Date,
) => ({ ok: true } & SignedEvent) | { ok: false; why: string };
