/** The headers of a request, by their names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What a provider's signed event says of itself. */
export type SignedEvent = { eventId: string; type: string; objectId: string; occurredAt: Date; body: unknown };

/** Whether the provider signed these bytes, and not too long ago where it says when. Never throws. */
export type InboundVerifier = (
  raw: Buffer,
  headers: Headers,
  now: Date,
) => ({ ok: true } & SignedEvent) | { ok: false; why: string };
