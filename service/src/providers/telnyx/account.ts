import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { minuteMs } from "../../kernel/platform/clock.ts";
import { membersIn, textIn } from "../../kernel/platform/json.ts";
import { type Account, checkBy } from "../account.ts";
import type { Headers, InboundVerifier } from "../inbound/verifier.ts";
import { dataOf, faxOf, idOf } from "./answers.ts";

const publicBase = "https://api.telnyx.com";

export type TelnyxSettings = { apiKey: string; apiBase: string | null; publicKey: string | null };

export function telnyxAccount({ apiKey, apiBase, publicKey }: TelnyxSettings): Account {
  return {
    provider: "telnyx",
    // The time-out for requests, which also upload a fax's file of up to 50 MB.
    timeoutMs: minuteMs,
    baseUrl: apiBase ?? publicBase,
    authorization: `Bearer ${apiKey}`,
    verify: publicKey === null ? null : telnyxVerifier(publicKey),
    check: (call) => checkBy(call({ method: "GET", path: "/v2/balance" }), () => "the key is accepted"),
  };
}

const toleranceMs = 5 * minuteMs;
/** The DER of an Ed25519 SubjectPublicKeyInfo before its 32 bytes (RFC 8410, section 4). */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Reads the key with which Telnyx's events are verified.
 * @param publicKey base64 of 32 bytes, as Telnyx's portal shows it
 */
export const telnyxPublicKey = (publicKey: string): KeyObject =>
  createPublicKey({
    key: Buffer.concat([spkiPrefix, Buffer.from(publicKey, "base64")]),
    format: "der",
    type: "spki",
  });

/** The bytes that Telnyx signs. */
const signedBytes = (timestamp: string, raw: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${timestamp}|`), raw]);

const one = (headers: Headers, name: string): string => {
  const value = headers[name];
  return typeof value === "string" ? value : "";
};

/** Accepts events that Telnyx signed in the last five minutes: Ed25519 over `telnyx-timestamp|body`. */
export function telnyxVerifier(publicKey: string): InboundVerifier {
  const key = telnyxPublicKey(publicKey);
  return (raw, headers, now) => {
    const timestamp = one(headers, "telnyx-timestamp");
    const signature = one(headers, "telnyx-signature-ed25519");
    if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, why: "no time stamp" };
    if (!/^[A-Za-z0-9+/]{86}==$/.test(signature)) return { ok: false, why: "no signature" };
    if (!verify(null, signedBytes(timestamp, raw), key, Buffer.from(signature, "base64")))
      return { ok: false, why: "a signature that is not Telnyx’s" };
    if (Math.abs(now.getTime() - Number(timestamp) * 1000) > toleranceMs)
      return { ok: false, why: "signed more than five minutes ago, or ahead" };
    return eventIn(raw);
  };
}

function eventIn(raw: Buffer): ReturnType<InboundVerifier> {
  const unreadable = { ok: false, why: "no event" } as const;
  let body: unknown;
  try {
    body = JSON.parse(raw.toString("utf8"));
  } catch {
    return unreadable;
  }
  const data = dataOf(body);
  const [eventId, type] = [idOf(data), textIn(data["event_type"])];
  const occurredAt = new Date(textIn(data["occurred_at"]) ?? Number.NaN);
  if (eventId === null || type === null || Number.isNaN(occurredAt.getTime())) return unreadable;
  const objectId = faxOf(membersIn(data["payload"]))?.id ?? "";
  return { ok: true, eventId, type, objectId, occurredAt, body };
}
