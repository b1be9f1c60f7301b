import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { acceptNoBody } from "../http/bodies.ts";
import { errors, ref } from "../http/openapi.ts";
import { keyOrSession, type PortalDeps, portalHooks } from "../http/portal.ts";
import type { DeliveryDeps } from "./deliveries/deliveries.ts";
import { deliveryRoutes } from "./deliveries/routes.ts";
import { topicsField, urlField } from "./fields.ts";
import { passportWebhookRoutes } from "./passport-routes.ts";
import { json, refusals, type WebhookPath, webhookParams } from "./route-parts.ts";
import { CreatedWebhook, NewWebhook, RotatedSecret, Webhook, WebhookDeleted, webhookSchemas } from "./schemas.ts";
import {
  listSubscriptions,
  rotateSecret,
  type SubscriptionDeps,
  subscribe,
  unsubscribe,
} from "./subscriptions/subscriptions.ts";

export type WebhookRouteDeps = SubscriptionDeps & DeliveryDeps & PortalDeps;

/** Webhook management (contract, Endpoints; all about deliveries but the feed is an addition to it). */
export function webhookRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  for (const schema of webhookSchemas) app.addSchema(schema);
  const common = {
    onRequest: portalHooks(deps),
    about: { tags: ["Webhooks"], security: keyOrSession },
  };
  const { onRequest, about } = common;
  deliveryRoutes(app, deps, common);
  passportWebhookRoutes(app, deps);

  app.get(
    "/api/partner/webhooks",
    {
      onRequest,
      schema: {
        ...about,
        operationId: "listWebhooks",
        summary: "List your webhooks, newest first",
        response: { 200: Type.Array(ref(Webhook)), ...errors(refusals) },
      },
    },
    async (request, reply) =>
      reply.type(json).send(JSON.stringify(await listSubscriptions(deps, principalOf(request)))),
  );

  app.post(
    "/api/partner/webhooks",
    {
      onRequest,
      // Described here, checked with the contract's messages in fields.ts.
      validatorCompiler: () => () => true,
      schema: {
        ...about,
        operationId: "createWebhook",
        summary: "Subscribe a URL to topics",
        body: ref(NewWebhook),
        response: { 200: ref(CreatedWebhook), ...errors({ 400: "A https:// webhook URL is required.", ...refusals }) },
      },
    },
    async (request, reply) => {
      const url = urlField(request.body);
      const webhook = await subscribe(deps, principalOf(request), url, topicsField(request.body));
      return reply.type(json).send(JSON.stringify(webhook));
    },
  );

  app.register(async (scope) => {
    acceptNoBody(scope);

    scope.delete<WebhookPath>(
      "/api/partner/webhooks/:id",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "deleteWebhook",
          summary: "End a webhook; what is still on its way to it is not sent",
          params: webhookParams,
          response: { 200: ref(WebhookDeleted), ...errors({ ...refusals, 404: "No such webhook." }) },
        },
      },
      async (request, reply) => {
        await unsubscribe(deps, principalOf(request), request.params.id);
        return reply.type(json).send(JSON.stringify({ ok: true }));
      },
    );

    scope.post<WebhookPath>(
      "/api/partner/webhooks/:id/rotate",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "rotateWebhookSecret",
          summary: "Give a webhook a new secret; the old one signs beside it for 24 hours",
          params: webhookParams,
          response: { 200: ref(RotatedSecret), ...errors({ ...refusals, 404: "No such webhook." }) },
        },
      },
      async (request, reply) => {
        const rotated = await rotateSecret(deps, principalOf(request), request.params.id);
        return reply.type(json).send(JSON.stringify(rotated));
      },
    );
  });
}
