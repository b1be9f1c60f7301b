import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { jsonRoute } from "../http/route.ts";
import { ref } from "../http/schema-parts.ts";
import type { DeliveryDeps } from "./deliveries/deliveries.ts";
import type { ExchangeDeps } from "./deliveries/exchange.ts";
import { deliveryRoutes } from "./deliveries/routes.ts";
import { feedRoutes } from "./feed/routes.ts";
import { FeedEvent } from "./feed/schemas.ts";
import { passportWebhookRoutes } from "./passport-routes.ts";
import { publicKeyRoutes } from "./public-key-routes.ts";
import { CreatedWebhook, Delivery, NewWebhook, RotatedSecret, Webhook, WebhookDeleted } from "./schemas.ts";
import { topicsField, urlField } from "./subscriptions/fields.ts";
import {
  listSubscriptions,
  rotateSecret,
  type SubscriptionDeps,
  subscribe,
  unsubscribe,
} from "./subscriptions/subscriptions.ts";

export type WebhookRouteDeps = SubscriptionDeps &
  DeliveryDeps &
  ExchangeDeps &
  Parameters<typeof feedRoutes>[1] &
  Parameters<typeof publicKeyRoutes>[1];

/** Webhook management (contract, Endpoints; all about deliveries but the feed is an addition to it). */
export function webhookRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  for (const schema of [Webhook, Delivery, FeedEvent]) app.addSchema(schema);
  subscriptionRoutes(app, deps);
  deliveryRoutes(app, deps);
  feedRoutes(app, deps);
  publicKeyRoutes(app, deps);
  passportWebhookRoutes(app, deps);
}

const common = { tag: "Webhooks", caller: "key-or-session", policy: "partner-portal" } as const;
const params = Type.Object({ id: Type.String({ description: "The webhook's id." }) });
const provenSession =
  "By a session it needs a sign-in within the last 15 minutes, and is refused with 403 without one. A key is not asked for more.";
const refusals = { 404: "No such webhook." };

function subscriptionRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "webhooks",
    url: "/api/partner/webhooks",
    operationId: "createWebhook",
    summary: "Create a webhook",
    description: `Subscribes a URL to topics. The answer has the signing secret, which is shown this once. ${provenSession}`,
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
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks",
    operationId: "listWebhooks",
    summary: "List webhooks",
    description: "Your webhooks in the key's environment, newest first.",
    answer: Type.Array(ref(Webhook)),
    handle: (request) => listSubscriptions(deps, principalOf(request)),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "webhooks",
    url: "/api/partner/webhooks/:id/rotate",
    operationId: "rotateWebhookSecret",
    summary: "Rotate a webhook's secret",
    description: `Creates a new secret. For 24 hours the previous one signs beside it, so that you can switch without losing an event. ${provenSession}`,
    params,
    bodyIs: "none",
    answer: RotatedSecret,
    refusals,
    handle: (request) => rotateSecret(deps, principalOf(request), request.params.id),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "DELETE",
    scope: "webhooks",
    url: "/api/partner/webhooks/:id",
    operationId: "deleteWebhook",
    summary: "Delete a webhook",
    description: "Nothing is sent to it any more, not even what was on its way.",
    params,
    bodyIs: "none",
    answer: WebhookDeleted,
    refusals,
    async handle(request) {
      await unsubscribe(deps, principalOf(request), request.params.id);
      return { ok: true as const };
    },
  });
}
