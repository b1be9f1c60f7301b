import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../http/route.ts";
import { text } from "../../http/schema-parts.ts";
import { Delivery, DeliveryFeed, DeliveryList, Replayed, SignatureExample, TestSent } from "../schemas.ts";
import { signatureExample } from "../signature-example.ts";
import { type DeliveryDeps, deliveryFeed, deliveryPage, oneDelivery, replayDelivery, sendTest } from "./deliveries.ts";
import { DeliveryExchange, FailedReplayed, ReplayFailed } from "./evidence-schemas.ts";
import { type ExchangeDeps, readExchange } from "./exchange.ts";
import { replayFailed } from "./replay-failed.ts";

type Deps = DeliveryDeps & ExchangeDeps & RouteDeps;

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

/** What became of deliveries, and what sends more of them. */
export function deliveryRoutes(app: FastifyInstance, deps: Deps): void {
  testRoute(app, deps);
  readRoutes(app, deps);
  exchangeRoute(app, deps);
  replayRoute(app, deps);
  replayFailedRoute(app, deps);
  jsonRoute(app, deps, {
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

function readRoutes(app: FastifyInstance, deps: Deps): void {
  jsonRoute(app, deps, {
    ...common,
    ...ofWebhook,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks/:id/deliveries",
    operationId: "listWebhookDeliveries",
    summary: "List a webhook's deliveries",
    description: "The latest 100 deliveries of one webhook, newest first.",
    answer: DeliveryFeed,
    handle: (request) => deliveryFeed(deps, principalOf(request), request.params.id),
  });
  jsonRoute(app, deps, {
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
      const { items, nextCursor } = await deliveryPage(deps, principalOf(request), request.query);
      return { deliveries: items, nextCursor, requestId: request.id };
    },
  });
  jsonRoute(app, deps, {
    ...common,
    ...ofDelivery,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks/deliveries/:deliveryId",
    operationId: "getDelivery",
    summary: "Get a delivery",
    description: "One delivery and what became of it.",
    answer: Delivery,
    handle: (request) => oneDelivery(deps, principalOf(request), request.params.deliveryId),
  });
}

function exchangeRoute(app: FastifyInstance, deps: Deps): void {
  jsonRoute(app, deps, {
    ...common,
    ...ofDelivery,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks/deliveries/:deliveryId/exchange",
    operationId: "getDeliveryExchange",
    summary: "Get what was sent and answered",
    description:
      "The headers that were sent, the body, and what your endpoint answered; kept of each webhook's latest 1,000 deliveries. Of the " +
      "body only a hash is kept: it is made anew, and the hash tells whether it is what was sent.",
    answer: DeliveryExchange,
    async handle(request) {
      const exchange = await readExchange(deps, principalOf(request), request.params.deliveryId);
      return { ...exchange, requestId: request.id };
    },
  });
}

function replayFailedRoute(app: FastifyInstance, deps: Deps): void {
  jsonRoute(app, deps, {
    ...common,
    ...ofWebhook,
    method: "POST",
    scope: "webhooks",
    url: "/api/partner/webhooks/:id/replay-failed",
    operationId: "replayFailedDeliveries",
    summary: "Replay what failed",
    description:
      "Sends again every event that was first sent to this webhook in the period and has not arrived, oldest first, each as a replay " +
      "does; at most 200 by one call. Test events are left out, and what is about a record that is gone. While `left` is above zero, " +
      "call it again with the `until` of the answer: each event is sent once for a period, so `left` comes to zero. An event that was " +
      "replayed less than a minute ago is left out.",
    body: ReplayFailed,
    answer: FailedReplayed,
    refusals: {
      ...ofWebhook.refusals,
      400: "since must be an ISO 8601 time with its zone.",
      409: "More than 200 deliveries of this webhook are on their way. Replay what failed when they have ended.",
    },
    async handle(request) {
      const counts = await replayFailed(deps, principalOf(request), request.params.id, request.body);
      return { ...counts, requestId: request.id };
    },
  });
}

function replayRoute(app: FastifyInstance, deps: Deps): void {
  jsonRoute(app, deps, {
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
      const replayed = await replayDelivery(deps, principalOf(request), request.params.deliveryId);
      return { ok: true as const, ...replayed, requestId: request.id };
    },
  });
}

function testRoute(app: FastifyInstance, deps: Deps): void {
  jsonRoute(app, deps, {
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
      const deliveryId = await sendTest(deps, principalOf(request), request.params.id);
      return { ok: true as const, deliveryId, requestId: request.id };
    },
  });
}
