import { generateKeyPairSync, type KeyObject, randomUUID, sign as signBytes } from "node:crypto";
import type { TelnyxFax } from "./telnyx-objects.ts";

export type TelnyxEvent = {
  data: {
    record_type: "event";
    id: string;
    event_type: string;
    occurred_at: string;
    payload: Record<string, unknown>;
  };
  meta: { attempt: number; delivered_to: string };
};

export type SignOptions = {
  /** The time of signing that the headers state; now by default. */
  at?: Date;
  /** Signs with a key that is not the account's. */
  otherKey?: boolean;
};

export type DeliverOptions = SignOptions & {
  /** Signs other bytes than the body, so that the signature is invalid. */
  forged?: boolean;
};

export type TelnyxEvents = {
  /** The value of TELNYX_PUBLIC_KEY: the base64 of the key's 32 bytes, as Telnyx's portal shows it. */
  publicKey: string;
  /** Creates the event about the state of a fax. */
  event: (fax: TelnyxFax, more?: Record<string, unknown>) => TelnyxEvent;
  /** Signs a body. Returns the headers with the signature and its time. */
  sign: (body: string, options?: SignOptions) => Record<string, string>;
  /** Sends a signed event to a service's webhook. */
  deliver: (serviceUrl: string, event: TelnyxEvent, options?: DeliverOptions) => Promise<Response>;
};

const eventTypes: Readonly<Partial<Record<TelnyxFax["status"], string>>> = { sending: "fax.sending.started" };

/** Events in Telnyx's format and signature: Ed25519 over `timestamp|body`. */
export function createTelnyxEvents(): TelnyxEvents {
  const account = generateKeyPairSync("ed25519");
  const stranger = generateKeyPairSync("ed25519");

  const sign: TelnyxEvents["sign"] = (body, { at = new Date(), otherKey = false } = {}) => {
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const { privateKey } = otherKey ? stranger : account;
    const signature = signBytes(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString("base64");
    return { "telnyx-timestamp": timestamp, "telnyx-signature-ed25519": signature };
  };

  return {
    publicKey: rawPublicKey(account.publicKey).toString("base64"),
    sign,
    event: ({ id, connection_id, direction, from, to, client_state, status, failure_reason }, more = {}) => ({
      data: {
        record_type: "event",
        id: randomUUID(),
        event_type: eventTypes[status] ?? `fax.${status}`,
        occurred_at: new Date().toISOString(),
        payload: {
          fax_id: id,
          connection_id,
          direction,
          from,
          to,
          client_state,
          status,
          user_id: "19a75cea-02c6-4b9a-84fa-c9bc8341feb8",
          ...(status === "delivered" ? { page_count: 2, call_duration_secs: 37 } : {}),
          ...(status === "failed" ? { failure_reason } : {}),
          ...more,
        },
      },
      meta: { attempt: 1, delivered_to: "https://double/webhook" },
    }),
    deliver(serviceUrl, event, { forged = false, ...options } = {}) {
      const body = JSON.stringify(event);
      return fetch(`${serviceUrl}/api/providers/telnyx/webhook`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...sign(forged ? `${body} ` : body, options) },
        body,
      });
    },
  };
}

/** The last 32 bytes of an Ed25519 SubjectPublicKeyInfo (RFC 8410). */
const rawPublicKey = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" }).subarray(-32);
