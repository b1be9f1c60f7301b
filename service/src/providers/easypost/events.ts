import { createHmac, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { InboundVerifier } from "../inbound/verifier.ts";
import { TrackerAnswer, type Tracking, trackingOf } from "./answers.ts";

const EventBody = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.String({ minLength: 1, maxLength: 200 }),
  created_at: Type.String({ maxLength: 50 }),
  result: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
});

/**
 * EasyPost's events: `X-Hmac-Signature: hmac-sha256-hex=..` over the bytes, by the webhook's secret in NFKD. Nothing in it says when:
 * an event that comes again is known by its id.
 */
export function easypostVerifier(webhookSecret: string): InboundVerifier {
  const key = Buffer.from(webhookSecret.normalize("NFKD"));
  return (raw, { "x-hmac-signature": signature }) => {
    if (typeof signature !== "string") return { ok: false, why: "the event has no signature" };
    const wanted = Buffer.from(`hmac-sha256-hex=${createHmac("sha256", key).update(raw).digest("hex")}`);
    const given = Buffer.from(signature);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
      return { ok: false, why: "the event's signature is of another secret, or of another body" };
    const body = parsed(raw);
    if (!Value.Check(EventBody, body)) return { ok: false, why: "the event can't be read" };
    const occurredAt = new Date(body.created_at);
    if (Number.isNaN(occurredAt.getTime())) return { ok: false, why: "the event doesn't say when it was" };
    return { ok: true, eventId: body.id, type: body.description, objectId: body.result.id, occurredAt, body };
  };
}

function parsed(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString());
  } catch {
    return null;
  }
}

const TrackerEvent = Type.Object({ result: TrackerAnswer });

/** What an event says of a parcel; null for an event of something else. */
export const trackingOfEvent = (body: unknown): Tracking | null =>
  Value.Check(TrackerEvent, body) ? trackingOf(body.result) : null;
