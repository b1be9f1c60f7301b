import { ServiceRefusal } from "./errors.ts";
import { allOf } from "./pages.ts";
import { path, type Transport } from "./transport.ts";

/** The topics that a webhook can subscribe to. */
export const topics = [
  "passport.sealed",
  "room.order_attached",
  "room.passport_sealed",
  "order.created",
  "payment.cleared",
  "signature.completed",
  "shipment.delivered",
  "signature.requested",
  "signature.viewed",
  "signature.signed",
  "signature.declined",
  "recording.started",
  "recording.completed",
  "recording.interrupted",
  "recording.deleted",
] as const;

export type Topic = (typeof topics)[number];

export type Webhook = { id: string; url: string; topics: string[]; active: boolean; createdAt: string };
/**
 * A new secret, which only this answer contains. `standardWebhooksSecret` is the same secret in the form of Standard
 * Webhooks libraries.
 */
type ShownOnce = { secret: string; signatureHeader: string; standardWebhooksSecret: string };
export type CreatedWebhook = ShownOnce & { id: string; url: string; topics: string[] };
export type RotatedSecret = ShownOnce & { id: string; previousSecretExpiresAt: string };

export type Delivery = {
  deliveryId: string;
  webhookId: string;
  /** The event's id, which the delivery's body contains as `id`. */
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

/** The request and the response of one delivery. */
export type DeliveryExchange = {
  deliveryId: string;
  /** The reason for which the delivery failed, in words: `Answered 500`; null for other deliveries. */
  failure: string | null;
  request: {
    headers: Record<string, string>;
    /**
     * The body, rebuilt from the present records; null when a record is gone or altered. `isAsSent` is true if the body
     * equals the body that was sent. `isAsSent` is null when nothing was sent, or when no hash of the sent body is
     * stored.
     */
    payload: { text: string; isAsSent: boolean | null } | null;
  };
  /**
   * The response. Null if there was none, or if it was deleted: the service keeps only the responses to a webhook's
   * latest 1,000 deliveries. `body` contains the first 4 KiB of the response's body.
   */
  response: { statusCode: number; headers: Record<string, string>; body: string; isCut: boolean } | null;
  requestId: string;
};

export type DeliveryQuery = {
  /** Only deliveries to the webhook with this id. */
  webhook?: string | undefined;
  /** A time in ISO 8601. Only deliveries created since then. */
  since?: string | undefined;
  /** The most deliveries on a page: 1 to 100; default 20. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
  topic?: string | undefined;
  /** Only deliveries about the order with this code. */
  order?: string | undefined;
  externalReference?: string | undefined;
  status?: Delivery["state"] | undefined;
};

export type DeliveryList = { deliveries: Delivery[]; nextCursor: string | null; requestId: string };

/** The Ed25519 key that makes the `v1a` entries of `webhook-signature`. */
export type WebhookPublicKey = {
  /** The key in the form of Standard Webhooks: `whpk_` and the base64 of 32 bytes. */
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
  /** The number of failed events that this call did not replay. Call again with `until` to replay them. */
  left: number;
  /** The end of the period whose deliveries are replayed: pass it as `until` to the next call. */
  until: string;
  requestId: string;
};

const busyPauseMs = 5_000;
const maxBusyWaits = 120;

export function webhooksOf(transport: Transport) {
  const { json } = transport;
  return {
    /** Lists the webhooks, newest first. */
    list: (): Promise<Webhook[]> => json("GET", "/api/partner/webhooks"),

    /** Creates a webhook. Only this answer contains its secret: store it. */
    create: (webhook: { url: string; topics: Topic[] }): Promise<CreatedWebhook> =>
      json("POST", "/api/partner/webhooks", { body: webhook }),

    remove: (id: string): Promise<{ ok: true }> => json("DELETE", path`/api/partner/webhooks/${id}`),

    /** Rotates the secret. For 24 hours, deliveries are also signed with the old secret. */
    rotate: (id: string): Promise<RotatedSecret> => json("POST", path`/api/partner/webhooks/${id}/rotate`),

    /** Sends a `webhook.test` event. */
    test: (id: string): Promise<{ ok: true; deliveryId: string; requestId: string }> =>
      json("POST", path`/api/partner/webhooks/${id}/test`),

    /** The public key of your deliveries. @throws ServiceRefusal 404 until `makePublicKey` has created it */
    publicKey: (): Promise<WebhookPublicKey> => json("GET", "/api/partner/webhooks/public-key"),

    /** Creates the public key unless there is one. From then on, deliveries also have a `v1a` signature. */
    makePublicKey: (): Promise<WebhookPublicKey> => json("POST", "/api/partner/webhooks/public-key"),

    /** A worked example of a signature; needs no key. */
    signatureExample: (): Promise<SignatureExample> => json("GET", "/api/partner/webhooks/signature-example"),

    ...deliveriesOf(transport),
  };
}

function deliveriesOf(transport: Transport) {
  const { json, pause } = transport;
  /**
   * Replays at most 200 events that were first sent to a webhook since the given time and never arrived. While `left`
   * is above zero, call again with the answer's `until`: then each event is replayed only once. Leaves out test events,
   * events about a deleted record, and events that were replayed less than a minute ago.
   * @throws ServiceRefusal 409 while more than 200 deliveries of the webhook are pending
   */
  const replayFailed = (id: string, since: Date, until?: Date): Promise<ReplayedFailures> =>
    json("POST", path`/api/partner/webhooks/${id}/replay-failed`, {
      body: { since: since.toISOString(), until: until?.toISOString() },
    });

  const deliveries = (query: DeliveryQuery = {}): Promise<DeliveryList> =>
    json("GET", "/api/partner/webhooks/deliveries", { query });
  return {
    /** The latest 100 deliveries of one webhook. */
    feed: (id: string): Promise<{ deliveries: Delivery[] }> =>
      json("GET", path`/api/partner/webhooks/${id}/deliveries`),

    /** One page of the deliveries of all webhooks, newest first. */
    deliveries,

    /** All deliveries, newest first; pages are fetched on demand. */
    allDeliveries: (query: Omit<DeliveryQuery, "cursor"> = {}): AsyncGenerator<Delivery, void, undefined> =>
      allOf(
        transport,
        "/api/partner/webhooks/deliveries",
        { limit: 100, ...query },
        (page: DeliveryList) => page.deliveries,
      ),

    delivery: (deliveryId: string): Promise<Delivery> =>
      json("GET", path`/api/partner/webhooks/deliveries/${deliveryId}`),

    /** Returns one delivery with its request and your endpoint's response. */
    exchange: (deliveryId: string): Promise<DeliveryExchange> =>
      json("GET", path`/api/partner/webhooks/deliveries/${deliveryId}/exchange`),

    replayFailed,

    /**
     * Replays the events that `replayFailed` selects, until none is left. Each event is replayed once. The call pauses
     * while many deliveries are pending.
     * @returns the number of replayed events
     * @throws ServiceRefusal 409 when too many deliveries stay pending for ten minutes
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
          if (!isBusy || ++waits > maxBusyWaits) throw error;
          await pause(busyPauseMs);
        }
      }
    },

    /** Sends the event of a delivery again. The new body is rebuilt from the present records. */
    replay: (deliveryId: string): Promise<{ ok: true; deliveryId: string; replayedFrom: string; requestId: string }> =>
      json("POST", path`/api/partner/webhooks/deliveries/${deliveryId}/replay`),
  };
}
