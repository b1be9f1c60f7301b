import { ServiceRefusal } from "./errors.ts";
import { allOf } from "./pages.ts";
import { path, type Transport } from "./transport.ts";

/** The topics that a webhook may subscribe to. */
export const topics = [
  "passport.sealed",
  "room.order_attached",
  "room.passport_sealed",
  "order.created",
  "payment.cleared",
  "signature.completed",
  "shipment.delivered",
] as const;

export type Topic = (typeof topics)[number];

export type Webhook = { id: string; url: string; topics: string[]; active: boolean; createdAt: string };
/** `standardWebhooksSecret` is the same secret as libraries of Standard Webhooks take it. */
type ShownOnce = { secret: string; signatureHeader: string; standardWebhooksSecret: string };
export type CreatedWebhook = ShownOnce & { id: string; url: string; topics: string[] };
export type RotatedSecret = ShownOnce & { id: string; previousSecretExpiresAt: string };

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
  /** 1 to 100; default 20. */
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

export type ReplayedFailures = {
  replayed: number;
  /** For another call. */
  left: number;
  /** The end of the period: pass it to that call. */
  until: string;
  requestId: string;
};

const busyPauseMs = 5_000;
const mostBusyWaits = 120;

export function webhooksOf(transport: Transport) {
  const { json, pause } = transport;
  /**
   * Sends again what was first sent to a webhook since then and has not arrived; at most 200 by one call. While `left` is above zero,
   * call again with the answer's `until`: each event is sent once for a period.
   * @throws ServiceRefusal 409 while more than 200 deliveries of the webhook are on their way
   */
  const replayFailed = (id: string, since: Date, until?: Date): Promise<ReplayedFailures> =>
    json("POST", path`/api/partner/webhooks/${id}/replay-failed`, {
      body: { since: since.toISOString(), until: until?.toISOString() },
    });

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
        transport,
        "/api/partner/webhooks/deliveries",
        { limit: 100, ...query },
        (page: DeliveryList) => page.deliveries,
      ),

    delivery: (deliveryId: string): Promise<Delivery> =>
      json("GET", path`/api/partner/webhooks/deliveries/${deliveryId}`),

    /** What was sent, and what your endpoint answered. */
    exchange: (deliveryId: string): Promise<DeliveryExchange> =>
      json("GET", path`/api/partner/webhooks/deliveries/${deliveryId}/exchange`),

    replayFailed,

    /**
     * All of what was first sent to a webhook since then and has not arrived, each event once, with waits while many are on their way.
     * @returns how many events
     * @throws ServiceRefusal 409 when too many are on their way for ten minutes
     */
    async replayAllFailed(id: string, since: Date): Promise<number> {
      let until: Date | undefined;
      let [replayed, waits] = [0, 0];
      for (;;) {
        try {
          const answer = await replayFailed(id, since, until);
          replayed += answer.replayed;
          if (answer.left === 0 || answer.replayed === 0) return replayed;
          until = new Date(answer.until);
          waits = 0;
        } catch (error) {
          const isBusy = error instanceof ServiceRefusal && error.status === 409;
          if (!isBusy || ++waits > mostBusyWaits) throw error;
          await pause(busyPauseMs);
        }
      }
    },

    /** Sends the same event again, with a body of today's records. */
    replay: (deliveryId: string): Promise<{ ok: true; deliveryId: string; replayedFrom: string; requestId: string }> =>
      json("POST", path`/api/partner/webhooks/deliveries/${deliveryId}/replay`),

    /** Sends a `webhook.test` event. */
    test: (id: string): Promise<{ ok: true; deliveryId: string; requestId: string }> =>
      json("POST", path`/api/partner/webhooks/${id}/test`),

    /** Your deliveries' public key, once it is made. */
    publicKey: (): Promise<WebhookPublicKey> => json("GET", "/api/partner/webhooks/public-key"),

    /** Makes that key, unless there is one; from then on deliveries bear a `v1a` signature, too. */
    makePublicKey: (): Promise<WebhookPublicKey> => json("POST", "/api/partner/webhooks/public-key"),

    /** A worked example of a signature; needs no key. */
    signatureExample: (): Promise<SignatureExample> => json("GET", "/api/partner/webhooks/signature-example"),
  };
}
