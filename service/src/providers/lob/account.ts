import { createHmac, timingSafeEqual } from "node:crypto";
import { minuteMs } from "../../kernel/platform/clock.ts";
import { membersIn } from "../../kernel/platform/json.ts";
import { type Account, basicAuthorization, checkBy } from "../account.ts";
import type { InboundVerifier, SignedEvent } from "../inbound/verifier.ts";
import { dateOf, textOf } from "./letter.ts";

const publicBase = "https://api.lob.com";

// The time-out for requests, which also upload a letter's file.
const uploadMs = minuteMs;

export type LobSettings = { apiKey: string; apiBase: string | null; webhookSecret: string | null };

export function lobAccount({ apiKey, apiBase, webhookSecret }: LobSettings): Account {
  return {
    provider: "lob",
    baseUrl: apiBase ?? publicBase,
    authorization: basicAuthorization(apiKey),
    verify: webhookSecret === null ? null : lobVerifier(webhookSecret),
    timeoutMs: uploadMs,
    async check(call) {
      const found = await checkBy(call({ method: "GET", path: "/v1/letters?limit=1" }), () => "the key is accepted");
      const isTest = apiKey.startsWith("test_");
      return found.ok && isTest
        ? { ok: false, why: "it is a test key: letters are accepted, and never mailed" }
        : found;
    },
  };
}

const clockDifferenceMs = 5 * minuteMs;

/**
 * Verifies Lob's events: `Lob-Signature` is the HMAC-SHA256, in hex, of the time stamp in milliseconds, a dot, and the
 * body.
 * @param secret of the webhook, from Lob's dashboard
 */
export const lobVerifier =
  (secret: string): InboundVerifier =>
  (raw, headers, now) => {
    const signature = headers["lob-signature"];
    const timestamp = headers["lob-signature-timestamp"];
    if (typeof signature !== "string" || !/^[0-9a-f]{64}$/i.test(signature)) return no("no signature");
    if (typeof timestamp !== "string" || !/^\d{1,15}$/.test(timestamp)) return no("no time stamp");
    const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(raw).digest();
    if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) return no("the signature is not Lob's");
    if (Math.abs(now.getTime() - Number(timestamp)) > clockDifferenceMs) return no("the time stamp is not of now");
    const event = eventOf(raw);
    return event ? { ok: true, ...event } : no("not an event");
  };

const no = (why: string) => ({ ok: false as const, why });

function eventOf(raw: Buffer): SignedEvent | undefined {
  let body: unknown;
  try {
    body = JSON.parse(raw.toString());
  } catch {
    return undefined;
  }
  const event = membersIn(body);
  const eventId = textOf(event["id"]);
  const type = textOf(membersIn(event["event_type"])["id"]);
  const objectId = textOf(event["reference_id"]) ?? textOf(membersIn(event["body"])["id"]);
  const occurredAt = dateOf(event["date_created"]);
  return eventId && type && objectId && occurredAt ? { eventId, type, objectId, occurredAt, body } : undefined;
}
