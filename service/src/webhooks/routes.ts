import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../http/route.ts";
import { ref } from "../http/schema-parts.ts";
import type { DeliveryDeps } from "./deliveries/deliveries.ts";
import { deliveryRoutes } from "./deliveries/routes.ts";
import { passportWebhookRoutes } from "./passport-routes.ts";
import { CreatedWebhook, Delivery, NewWebhook, RotatedSecret, Webhook, WebhookDeleted } from "./schemas.ts";
import { topicsField, urlField } from "./subscriptions/fields.ts";
import {
  listSubscriptions,
  rotateSecret,
  type SubscriptionDeps,
  subscribe,
  unsubscribe,
} from "./subscriptions/subscriptions.ts";

export type WebhookRouteDeps = SubscriptionDeps & DeliveryDeps & RouteDeps;

/** Webhook management (contract, Endpoints; all about deliveries but the feed is an addition to it). */
export function webhookRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  for (const schema of [Webhook, Delivery]) app.addSchema(schema);
  deliveryRoutes(app, deps);
  passportWebhookRoutes(app, deps);
  subscriptionRoutes(app, deps);
}

const common = { tag: "Webhooks", caller: "key-or-session", policy: "partner-portal" } as const;
const params = Type.Object({ id: Type.String({ description: "The webhook's id." }) });
const provenSession =
  "By a session it needs a sign-in within the last 15 minutes, and is refused with 403 without one. A key is not asked for more.";
const refusals = { 404: "No such webhook." };

function subscriptionRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    url: "/api/partner/webhooks",
    operationId: "listWebhooks",
    summary: "List your webhooks, newest first",
    answer: Type.Array(ref(Webhook)),
    handle: (request) => listSubscriptions(deps, principalOf(request)),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    url: "/api/partner/webhooks",
    operationId: "createWebhook",
    summary: "Subscribe a URL to topics",
    description: provenSession,
    body: NewWebhook,
    answer: CreatedWebhook,
    refusals: { 400: "A https:// webhook URL is required." },
    async handle(request) {
      const url = urlField(request.body);
      return subscribe(deps, principalOf(request), url, topicsField(request.body));
    },
  });
  jsonRoute(app, deps, {
    ...common,
    method: "DELETE",
    url: "/api/partner/webhooks/:id",
    operationId: "deleteWebhook",
    summary: "End a webhook; what is still on its way to it is not sent",
    params,
    bodyIs: "none",
    answer: WebhookDeleted,
    refusals,
    async handle(request) {
      await unsubscribe(deps, principalOf(request), request.params.id);
      return { ok: true as const };
    },
  });
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    url: "/api/partner/webhooks/:id/rotate",
    operationId: "rotateWebhookSecret",
    summary: "Give a webhook a new secret; the old one signs beside it for 24 hours",
    description: provenSession,
    params,
    bodyIs: "none",
    answer: RotatedSecret,
    refusals,
    handle: (request) => rotateSecret(deps, principalOf(request), request.params.id),
  });
}
