import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../../kernel/http/route.ts";
import { text } from "../../../kernel/http/schema-parts.ts";
import { Delivery, DeliveryFeed, DeliveryList, Replayed, SignatureExample, TestSent } from "../schemas.ts";
import {
  eventHeader,
  secretHash,
  secretKeys,
  signatureHeader,
  signatureValue,
  toleranceSeconds,
  verification,
} from "../signing.ts";
import { testTopic } from "../topics.ts";
import { type DeliveryDeps, deliveryFeed, deliveryPage, oneDelivery, replayDelivery, sendTest } from "./deliveries.ts";
import { DeliveryExchange, FailedReplayed, ReplayFailed } from "./evidence-schemas.ts";
import { type ExchangeDeps, readExchange } from "./exchange.ts";
import { replayFailed } from "./replay-failed.ts";

type Deps = { deliveries: DeliveryDeps; exchanges: ExchangeDeps };

const common = { tag: "Webhooks", caller: "key-or-session", policy: "partner-portal" } as const;
const ofWebhook = {
  params: Type.Object({ id: text("The webhook's id.") }),
  refusals: { 404: "No such webhook." },
};
const ofDelivery = {
  params: Type.Object({ deliveryId: text("The delivery's id.") }),
  refusals: { 404: "No such delivery." },
};

const listQuery = Type.Object({
  webhook: optionalText("Only to the webhook of this id."),
  since: optionalText("Only those made from then on: an ISO 8601 time with its zone.", "2026-03-04T00:00:00Z"),
  topic: optionalText("Only of this topic, exact.", "order.created"),
  status: optionalText("Only in this state: `pending`, `delivered` or `failed`.", "failed"),
  order: optionalText("Only about the order of this code, exact."),
  external_reference: optionalText("Only about orders of this reference, exact.", "FILE-2207"),
  limit: optionalText("How many to answer: 1 to 100, default 20. Values outside are clamped.", "20"),
  cursor: optionalText("`nextCursor` of the previous page."),
});

/** Routes that read deliveries, send test events, and replay deliveries. */
export function deliveryRoutes(app: FastifyInstance, frame: RouteDeps, deps: Deps): void {
  testRoute(app, frame, deps);
  readRoutes(app, frame, deps);
  exchangeRoute(app, frame, deps);
  replayRoute(app, frame, deps);
  replayFailedRoute(app, frame, deps);
  jsonRoute(app, frame, {
    ...common,
    caller: "anybody",
    scope: undefined,
    method: "GET",
    url: "/api/partner/webhooks/signature-example",
    operationId: "getWebhookSignatureExample",
    summary: "Get an example signature",
    description: "Public: a secret, a body and the headers that belong to them, to test your verification with.",
    answer: SignatureExample,
    handle: async () => signatureExample,
  });
}

function readRoutes(app: FastifyInstance, frame: RouteDeps, deps: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    ...ofWebhook,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks/:id/deliveries",
    operationId: "listWebhookDeliveries",
    summary: "List a webhook's deliveries",
    description: "The latest 100 deliveries of one webhook, newest first.",
    answer: DeliveryFeed,
    handle: (request) => deliveryFeed(deps.deliveries, principalOf(request), request.params.id),
  });
  jsonRoute(app, frame, {
    ...common,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks/deliveries",
    operationId: "listDeliveries",
    summary: "List deliveries",
    description: "The deliveries of all your webhooks, newest first, a page at a time. Filters can be combined.",
    query: listQuery,
    answer: DeliveryList,
    refusals: { 400: "limit must be a whole number from 1 to 100." },
    async handle(request) {
      const { items, nextCursor } = await deliveryPage(deps.deliveries, principalOf(request), request.query);
      return { deliveries: items, nextCursor, requestId: request.id };
    },
  });
  jsonRoute(app, frame, {
    ...common,
    ...ofDelivery,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks/deliveries/:deliveryId",
    operationId: "getDelivery",
    summary: "Get a delivery",
    description: "One delivery and what became of it.",
    answer: Delivery,
    handle: (request) => oneDelivery(deps.deliveries, principalOf(request), request.params.deliveryId),
  });
}

function exchangeRoute(app: FastifyInstance, frame: RouteDeps, deps: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    ...ofDelivery,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks/deliveries/:deliveryId/exchange",
    operationId: "getDeliveryExchange",
    summary: "Get what was sent and answered",
    description:
      "The headers that were sent, the body, and what your endpoint answered; stored for each webhook's latest 1,000 deliveries. Of the " +
      "body only a hash is stored: the body is rebuilt from the records, and the hash tells whether it is the one that was sent.",
    answer: DeliveryExchange,
    async handle(request) {
      const exchange = await readExchange(deps.exchanges, principalOf(request), request.params.deliveryId);
      return { ...exchange, requestId: request.id };
    },
  });
}

function replayFailedRoute(app: FastifyInstance, frame: RouteDeps, deps: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    ...ofWebhook,
    method: "POST",
    scope: "webhooks",
    url: "/api/partner/webhooks/:id/replay-failed",
    operationId: "replayFailedDeliveries",
    summary: "Replay what failed",
    description:
      "Sends again every event that was first sent to this webhook in the period and has not arrived, oldest first, each as a replay " +
      "does; at most 200 by one call. Test events are left out, and so are events about a deleted record. While `left` is above zero, " +
      "call it again with the `until` of the answer: each event is sent once for a period, so `left` reaches zero. An event that was " +
      "replayed less than a minute ago is left out.",
    body: ReplayFailed,
    answer: FailedReplayed,
    refusals: {
      ...ofWebhook.refusals,
      400: "since must be an ISO 8601 time with its zone.",
      409: "More than 200 deliveries of this webhook are on their way. Replay what failed when they have ended.",
    },
    async handle(request) {
      const counts = await replayFailed(deps.deliveries, principalOf(request), request.params.id, request.body);
      return { ...counts, requestId: request.id };
    },
  });
}

function replayRoute(app: FastifyInstance, frame: RouteDeps, deps: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    ...ofDelivery,
    method: "POST",
    scope: "webhooks",
    url: "/api/partner/webhooks/deliveries/:deliveryId/replay",
    operationId: "replayDelivery",
    summary: "Replay a delivery",
    description: "Sends the event again as a new delivery: the same event id, and a body made from today's records.",
    bodyIs: "none",
    answer: Replayed,
    refusals: { ...ofDelivery.refusals, 409: "The webhook of this delivery was deleted." },
    async handle(request) {
      const replayed = await replayDelivery(deps.deliveries, principalOf(request), request.params.deliveryId);
      return { ok: true as const, ...replayed, requestId: request.id };
    },
  });
}

function testRoute(app: FastifyInstance, frame: RouteDeps, deps: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    ...ofWebhook,
    method: "POST",
    scope: "webhooks",
    url: "/api/partner/webhooks/:id/test",
    operationId: "testWebhook",
    summary: "Send a test event",
    description:
      "Sends a `webhook.test` event to one webhook. Look at the delivery to see what your endpoint answered.",
    bodyIs: "none",
    answer: TestSent,
    async handle(request) {
      const deliveryId = await sendTest(deps.deliveries, principalOf(request), request.params.id);
      return { ok: true as const, deliveryId, requestId: request.id };
    },
  });
}

// A made-up signing secret, used only for the published example.
const secret = `svc_whsec_${"signatureexample".padEnd(52, "a")}`;
const timestamp = 1_772_600_767;
const rawBody = JSON.stringify({
  type: testTopic,
  id: `${testTopic}:00000000-0000-4000-8000-000000000000`,
  data: {
    webhookId: "00000000-0000-4000-8000-000000000000",
    environment: "test",
    occurredAtUtc: "2026-03-04T05:06:07.089Z",
  },
});

/** An example with fixed values, with which developers test the verification in their receivers. */
const signatureExample = {
  signatureHeader,
  eventHeader,
  toleranceSeconds,
  verification,
  secret,
  signingKey: secretHash(secret).toString("hex"),
  timestamp,
  rawBody,
  signedString: `${timestamp}.${rawBody}`,
  headers: {
    [signatureHeader]: signatureValue([secretKeys(secretHash(secret))], timestamp, Buffer.from(rawBody)),
    [eventHeader]: testTopic,
  },
};
