import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { acceptNoBody } from "../../http/bodies.ts";
import { errors, ref } from "../../http/openapi.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { invalid } from "../../platform/errors.ts";
import { type CommonRouteParts, json, refusals, type WebhookPath, webhookParams } from "../route-parts.ts";
import { Delivery, DeliveryFeed, DeliveryList, Replayed, SignatureExample, TestSent } from "../schemas.ts";
import { signatureExample } from "../signature-example.ts";
import {
  type DeliveryDeps,
  type DeliveryQuery,
  deliveryFeed,
  deliveryPage,
  oneDelivery,
  replayDelivery,
  sendTest,
} from "./deliveries.ts";

type DeliveryPath = { Params: { deliveryId: string } };
const deliveryParams = Type.Object({ deliveryId: Type.String() });

/** What became of deliveries, and what sends more of them. */
export function deliveryRoutes(
  app: FastifyInstance,
  deps: DeliveryDeps & { limits: RateLimits },
  { onRequest, about }: CommonRouteParts,
): void {
  app.get<WebhookPath>(
    "/api/partner/webhooks/:id/deliveries",
    {
      onRequest,
      schema: {
        ...about,
        operationId: "listWebhookDeliveries",
        summary: "The latest 100 deliveries of one webhook, newest first",
        params: webhookParams,
        response: { 200: ref(DeliveryFeed), ...errors({ ...refusals, 404: "No such webhook." }) },
      },
    },
    async (request, reply) => {
      const feed = await deliveryFeed(deps, principalOf(request), request.params.id);
      return reply.type(json).send(JSON.stringify(feed));
    },
  );

  app.get<{ Querystring: DeliveryQuery }>(
    "/api/partner/webhooks/deliveries",
    {
      onRequest,
      attachValidation: true,
      schema: {
        ...about,
        operationId: "listDeliveries",
        summary: "Deliveries of all your webhooks, newest first",
        querystring: Type.Object({
          limit: Type.Optional(Type.String({ description: "1 to 100, default 20; values outside are clamped." })),
          cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before." })),
          topic: Type.Optional(Type.String({ description: "Exact topic name." })),
          order: Type.Optional(Type.String({ description: "Exact order code." })),
          external_reference: Type.Optional(Type.String({ description: "Exact reference of the order." })),
          status: Type.Optional(Type.String({ description: "`pending`, `delivered` or `failed`." })),
        }),
        response: {
          200: ref(DeliveryList),
          ...errors({ 400: "limit must be a whole number from 1 to 100.", ...refusals }),
        },
      },
    },
    async (request, reply) => {
      const repeated = Object.entries(request.query).find(([, value]) => typeof value !== "string");
      if (repeated) throw invalid(`${repeated[0]} must be sent once.`);
      const page = await deliveryPage(deps, principalOf(request), request.query);
      return reply.type(json).send(JSON.stringify({ ...page, requestId: request.id }));
    },
  );

  app.get<DeliveryPath>(
    "/api/partner/webhooks/deliveries/:deliveryId",
    {
      onRequest,
      schema: {
        ...about,
        operationId: "getDelivery",
        summary: "One delivery",
        params: deliveryParams,
        response: { 200: ref(Delivery), ...errors({ ...refusals, 404: "No such delivery." }) },
      },
    },
    async (request, reply) => {
      const delivery = await oneDelivery(deps, principalOf(request), request.params.deliveryId);
      return reply.type(json).send(JSON.stringify(delivery));
    },
  );

  app.get(
    "/api/partner/webhooks/signature-example",
    {
      onRequest: deps.limits.limit("partner-portal"),
      schema: {
        tags: about.tags,
        security: [],
        operationId: "getWebhookSignatureExample",
        summary: "A worked example of a signature",
        response: { 200: ref(SignatureExample), ...errors({ 429: refusals[429] }) },
      },
    },
    async (_request, reply) => reply.type(json).send(JSON.stringify(signatureExample)),
  );

  app.register(async (scope) => {
    acceptNoBody(scope);

    scope.post<DeliveryPath>(
      "/api/partner/webhooks/deliveries/:deliveryId/replay",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "replayDelivery",
          summary: "Send an event again: the same id, a body of today's records",
          params: deliveryParams,
          response: {
            200: ref(Replayed),
            ...errors({ ...refusals, 404: "No such delivery.", 409: "The webhook of this delivery was deleted." }),
          },
        },
      },
      async (request, reply) => {
        const replayed = await replayDelivery(deps, principalOf(request), request.params.deliveryId);
        return reply.type(json).send(JSON.stringify({ ...replayed, requestId: request.id }));
      },
    );

    scope.post<WebhookPath>(
      "/api/partner/webhooks/:id/test",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "testWebhook",
          summary: "Send a `webhook.test` event to one webhook",
          params: webhookParams,
          response: { 200: ref(TestSent), ...errors({ ...refusals, 404: "No such webhook." }) },
        },
      },
      async (request, reply) => {
        const sent = await sendTest(deps, principalOf(request), request.params.id);
        return reply.type(json).send(JSON.stringify({ ...sent, requestId: request.id }));
      },
    );
  });
}
