import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../http/route.ts";
import { Delivery, DeliveryFeed, DeliveryList, Replayed, SignatureExample, TestSent } from "../schemas.ts";
import { signatureExample } from "../signature-example.ts";
import { type DeliveryDeps, deliveryFeed, deliveryPage, oneDelivery, replayDelivery, sendTest } from "./deliveries.ts";

type Deps = DeliveryDeps & RouteDeps;

const common = { tag: "Webhooks", caller: "key-or-session", policy: "partner-portal" } as const;
const ofWebhook = {
  params: Type.Object({ id: Type.String({ description: "The webhook's id." }) }),
  refusals: { 404: "No such webhook." },
};
const ofDelivery = {
  params: Type.Object({ deliveryId: Type.String() }),
  refusals: { 404: "No such delivery." },
};

const listQuery = Type.Object({
  limit: optionalText("1 to 100, default 20; values outside are clamped."),
  cursor: optionalText("`nextCursor` of the page before."),
  topic: optionalText("Exact topic name."),
  order: optionalText("Exact order code."),
  external_reference: optionalText("Exact reference of the order."),
  status: optionalText("`pending`, `delivered` or `failed`."),
});

/** What became of deliveries, and what sends more of them. */
export function deliveryRoutes(app: FastifyInstance, deps: Deps): void {
  readRoutes(app, deps);
  sendRoutes(app, deps);
  jsonRoute(app, deps, {
    ...common,
    caller: "anybody",
    method: "GET",
    url: "/api/partner/webhooks/signature-example",
    operationId: "getWebhookSignatureExample",
    summary: "A worked example of a signature",
    answer: SignatureExample,
    handle: async () => signatureExample,
  });
}

function readRoutes(app: FastifyInstance, deps: Deps): void {
  jsonRoute(app, deps, {
    ...common,
    ...ofWebhook,
    method: "GET",
    url: "/api/partner/webhooks/:id/deliveries",
    operationId: "listWebhookDeliveries",
    summary: "The latest 100 deliveries of one webhook, newest first",
    answer: DeliveryFeed,
    handle: (request) => deliveryFeed(deps, principalOf(request), request.params.id),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    url: "/api/partner/webhooks/deliveries",
    operationId: "listDeliveries",
    summary: "Deliveries of all your webhooks, newest first",
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
    url: "/api/partner/webhooks/deliveries/:deliveryId",
    operationId: "getDelivery",
    summary: "One delivery",
    answer: Delivery,
    handle: (request) => oneDelivery(deps, principalOf(request), request.params.deliveryId),
  });
}

function sendRoutes(app: FastifyInstance, deps: Deps): void {
  jsonRoute(app, deps, {
    ...common,
    ...ofDelivery,
    method: "POST",
    url: "/api/partner/webhooks/deliveries/:deliveryId/replay",
    operationId: "replayDelivery",
    summary: "Send an event again: the same id, a body of today's records",
    bodyIs: "none",
    answer: Replayed,
    refusals: { ...ofDelivery.refusals, 409: "The webhook of this delivery was deleted." },
    async handle(request) {
      const replayed = await replayDelivery(deps, principalOf(request), request.params.deliveryId);
      return { ok: true as const, ...replayed, requestId: request.id };
    },
  });
  jsonRoute(app, deps, {
    ...common,
    ...ofWebhook,
    method: "POST",
    url: "/api/partner/webhooks/:id/test",
    operationId: "testWebhook",
    summary: "Send a `webhook.test` event to one webhook",
    bodyIs: "none",
    answer: TestSent,
    async handle(request) {
      const deliveryId = await sendTest(deps, principalOf(request), request.params.id);
      return { ok: true as const, deliveryId, requestId: request.id };
    },
  });
}
