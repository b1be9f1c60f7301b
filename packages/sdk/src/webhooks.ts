import { allOf } from "./pages.ts";
import { path, type Transport } from "./transport.ts";

export type Topic =
  | "passport.sealed"
  | "room.order_attached"
  | "room.passport_sealed"
  | "order.created"
  | "payment.cleared"
  | "signature.completed"
  | "shipment.delivered";

export type Webhook = { id: string; url: string; topics: string[]; active: boolean; createdAt: string };
export type CreatedWebhook = { id: string; secret: string; url: string; topics: string[]; signatureHeader: string };
export type RotatedSecret = { id: string; secret: string; signatureHeader: string; previousSecretExpiresAt: string };

export type Delivery = {
  deliveryId: string;
  webhookId: string;
  /** The `id` of the body. */
  eventId: string;
  eventName: string;
  state: "pending" | "delivered" | "failed";
  attempts: number;
  lastStatusCode: number | null;
  durationMs: number | null;
  reason: string | null;
  destinationUrl: string;
  createdAt: string;
  completedAt: string | null;
  replayedFrom: string | null;
};

/** What was sent in one delivery, and what was answered. */
export type DeliveryExchange = {
  deliveryId: string;
  /** Why it failed, in words: `Answered 500`; null unless it did. */
  failure: string | null;
  request: {
    headers: Record<string, string>;
    /** The body made anew from the records; `isAsSent` tells by its hash whether it is what was sent. */
    payload: { text: string; isAsSent: boolean | null } | null;
  };
  /** Null when no answer came. `body` is its first 4 KiB. */
  response: { statusCode: number; headers: Record<string, string>; body: string; isCut: boolean } | null;
  requestId: string;
};

export type DeliveryQuery = {
  /** A webhook's id. */
  webhook?: string | undefined;
  /** ISO 8601: only those made from then on. */
  since?: string | undefined;
  /** 1 to 100; default 25. */
  limit?: number | undefined;
  /** `nextCursor` of the page before. */
  cursor?: string | undefined;
  topic?: string | undefined;
  /** An order's code. */
  order?: string | undefined;
  externalReference?: string | undefined;
  status?: Delivery["state"] | undefined;
};

export type DeliveryList = { deliveries: Delivery[]; nextCursor: string | null; requestId: string };

/** The Ed25519 key behind the `v1a` entries of `webhook-signature`. */
export type WebhookPublicKey = {
  /** As Standard Webhooks writes it: `whpk_` and the base64 of 32 bytes. */
  publicKey: string;
  publicKeyPem: string;
  environment: "live" | "test";
  requestId: string;
};

export type SignatureExample = {
  signatureHeader: string;
  eventHeader: string;
  toleranceSeconds: number;
  verification: string;
  secret: string;
  signingKey: string;
  timestamp: number;
  rawBody: string;
  signedString: string;
  headers: Record<string, string>;
};

export function webhooksOf({ json }: Transport) {
  const deliveries = (query: DeliveryQuery = {}): Promise<DeliveryList> =>
    json("GET", "/api/partner/webhooks/deliveries", { query });
  return {
    /** Newest first. */
    list: (): Promise<Webhook[]> => json("GET", "/api/partner/webhooks"),

    /** The secret is shown this once. */
    create: (webhook: { url: string; topics: Topic[] }): Promise<CreatedWebhook> =>
      json("POST", "/api/partner/webhooks", { body: webhook }),

    remove: (id: string): Promise<{ ok: true }> => json("DELETE", path`/api/partner/webhooks/${id}`),

    /** Gives a new secret; the old one signs beside it for 24 hours. */
    rotate: (id: string): Promise<RotatedSecret> => json("POST", path`/api/partner/webhooks/${id}/rotate`),

    /** The latest 100 deliveries of one webhook. */
    feed: (id: string): Promise<{ deliveries: Delivery[] }> =>
      json("GET", path`/api/partner/webhooks/${id}/deliveries`),

    /** One page of the deliveries of all webhooks, newest first. */
    deliveries,

    /** All of them, newest first; pages are fetched as they are wanted. */
    allDeliveries: (query: Omit<DeliveryQuery, "cursor"> = {}): AsyncGenerator<Delivery, void, undefined> =>
      allOf(
        (cursor) => deliveries({ ...query, cursor }),
        (page) => page.deliveries,
      ),

    delivery: (deliveryId: string): Promise<Delivery> =>
      json("GET", path`/api/partner/webhooks/deliveries/${deliveryId}`),

    /** What was sent, and what your endpoint answered. */
    exchange: (deliveryId: string): Promise<DeliveryExchange> =>
      json("GET", path`/api/partner/webhooks/deliveries/${deliveryId}/exchange`),

    /** Sends again what a webhook has failed to take since then; at most 200 by one call: call again while `left` is above zero. */
    replayFailed: (id: string, since: Date): Promise<{ replayed: number; left: number; requestId: string }> =>
      json("POST", path`/api/partner/webhooks/${id}/replay-failed`, { body: { since: since.toISOString() } }),

    /** Sends the same event again, with a body of today's records. */
    replay: (deliveryId: string): Promise<{ ok: true; deliveryId: string; replayedFrom: string; requestId: string }> =>
      json("POST", path`/api/partner/webhooks/deliveries/${deliveryId}/replay`),

    /** Sends a `webhook.test` event. */
    test: (id: string): Promise<{ ok: true; deliveryId: string; requestId: string }> =>
      json("POST", path`/api/partner/webhooks/${id}/test`),

    /** Your deliveries' public key. It is made when it is first asked for; from then on deliveries bear a `v1a` signature, too. */
    publicKey: (): Promise<WebhookPublicKey> => json("GET", "/api/partner/webhooks/public-key"),

    /** A worked example of a signature; needs no key. */
    signatureExample: (): Promise<SignatureExample> => json("GET", "/api/partner/webhooks/signature-example"),
  };
}
