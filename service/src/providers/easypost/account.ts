import { createHmac, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { type Account, basicAuthorization, checkBy } from "../account.ts";
import type { InboundVerifier } from "../inbound/verifier.ts";
import { TrackerAnswer, type Tracking, trackingOf } from "./answers.ts";

/** The default base URL of the API. */
export const easypostBase = "https://api.easypost.com";

export type EasyPostSettings = { apiKey: string; apiBase: string | null; webhookSecret: string | null };

const User = Type.Object({ balance: Type.String({ pattern: "^-?\\d{1,9}\\.\\d+$" }) });

const detailOf = (body: unknown): string =>
  Value.Check(User, body)
    ? `the key is accepted; the balance is $${Number(body.balance).toFixed(2)}`
    : "the key is accepted";

export function easypostAccount({ apiKey, apiBase, webhookSecret }: EasyPostSettings): Account {
  return {
    provider: "easypost",
    baseUrl: apiBase ?? easypostBase,
    authorization: basicAuthorization(apiKey),
    verify: webhookSecret === null ? null : easypostVerifier(webhookSecret),
    check: async (call) =>
      apiKey.startsWith("EZTK")
        ? { ok: false, why: "it is a test key: its labels are accepted by no carrier" }
        : checkBy(call({ method: "GET", path: "/v2/users" }), detailOf),
  };
}

const EventBody = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.String({ minLength: 1, maxLength: 200 }),
  created_at: Type.String({ maxLength: 50 }),
  result: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
});

/**
 * Verifies EasyPost's events: `X-Hmac-Signature: hmac-sha256-hex=..` over the body, with the webhook's secret in NFKD
 * as the key. The signature covers no time, so replays are recognized only by the event's id.
 */
export function easypostVerifier(webhookSecret: string): InboundVerifier {
  const key = Buffer.from(webhookSecret.normalize("NFKD"));
  return (raw, { "x-hmac-signature": signature }) => {
    if (typeof signature !== "string") return { ok: false, why: "the event has no signature" };
    const wanted = Buffer.from(`hmac-sha256-hex=${createHmac("sha256", key).update(raw).digest("hex")}`);
    const signatureBytes = Buffer.from(signature);
    if (signatureBytes.length !== wanted.length || !timingSafeEqual(signatureBytes, wanted))
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

/** The state of a parcel in an event; null for an event about anything else. */
export const trackingOfEvent = (body: unknown): Tracking | null =>
  Value.Check(TrackerEvent, body) ? trackingOf(body.result) : null;
