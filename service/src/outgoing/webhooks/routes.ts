import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../kernel/http/route.ts";
import { ref } from "../../kernel/http/schema-parts.ts";
import type { DeliveryDeps } from "./deliveries/deliveries.ts";
import type { ExchangeDeps } from "./deliveries/exchange.ts";
import { deliveryRoutes } from "./deliveries/routes.ts";
import { type FeedDeps, readFeed } from "./feed/feed.ts";
import { EventFeed, FeedEvent } from "./feed/schemas.ts";
import { createWaiters } from "./feed/waiters.ts";
import type { PublicKeyDeps } from "./public-key.ts";
import { publicKeyRoutes } from "./public-key-routes.ts";
import {
  CreatedWebhook,
  Delivery,
  NewPassportWebhook,
  NewWebhook,
  PassportWebhook,
  PassportWebhookDeleted,
  RotatedSecret,
  Webhook,
  WebhookDeleted,
} from "./schemas.ts";
import { verification } from "./signing.ts";
import { topicsField, urlField } from "./subscriptions/fields.ts";
import {
  listSubscriptions,
  rotateSecret,
  type SubscriptionDeps,
  subscribe,
  unsubscribe,
} from "./subscriptions/subscriptions.ts";

export type WebhooksDeps = {
  subscriptions: SubscriptionDeps;
  deliveries: DeliveryDeps;
  exchanges: ExchangeDeps;
  feed: Omit<FeedDeps, "waiters">;
  publicKeys: PublicKeyDeps;
};

export type WebhookRouteDeps = { frame: RouteDeps; webhooks: WebhooksDeps };

/**
 * Webhook management (contract, Endpoints). Of the routes about deliveries, only the delivery feed is in the contract.
 */
export function webhookRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  for (const schema of [Webhook, Delivery, FeedEvent]) app.addSchema(schema);
  subscriptionRoutes(app, deps);
  deliveryRoutes(app, deps.frame, deps.webhooks);
  feedRoutes(app, deps.frame, deps.webhooks.feed);
  publicKeyRoutes(app, deps.frame, deps.webhooks.publicKeys);
  passportWebhookRoutes(app, deps.frame, deps.webhooks.subscriptions);
}

const common = { tag: "Webhooks", caller: "key-or-session", policy: "partner-portal" } as const;
const params = Type.Object({ id: Type.String({ description: "The webhook's id." }) });
const provenSession =
  "By a session it needs a sign-in within the last 15 minutes, and is refused with 403 without one. A key is not asked for more.";
const refusals = { 404: "No such webhook." };

function subscriptionRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  jsonRoute(app, deps.frame, {
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
      return subscribe(deps.webhooks.subscriptions, principalOf(request), url, topicsField(request.body));
    },
  });
  jsonRoute(app, deps.frame, {
    ...common,
    method: "GET",
    scope: "read",
    url: "/api/partner/webhooks",
    operationId: "listWebhooks",
    summary: "List webhooks",
    description: "Your webhooks in the key's environment, newest first.",
    answer: Type.Array(ref(Webhook)),
    handle: (request) => listSubscriptions(deps.webhooks.subscriptions, principalOf(request)),
  });
  jsonRoute(app, deps.frame, {
    ...common,
    method: "POST",
    scope: "webhooks",
    url: "/api/partner/webhooks/:id/rotate",
    operationId: "rotateWebhookSecret",
    summary: "Rotate a webhook's secret",
    description: `Creates a new secret. For 24 hours the previous secret signs, too, so that you can switch without losing an event. ${provenSession}`,
    params,
    bodyIs: "none",
    answer: RotatedSecret,
    refusals,
    handle: (request) => rotateSecret(deps.webhooks.subscriptions, principalOf(request), request.params.id),
  });
  jsonRoute(app, deps.frame, {
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
      await unsubscribe(deps.webhooks.subscriptions, principalOf(request), request.params.id);
      return { ok: true as const };
    },
  });
}

const feedCommon = { tag: "Webhooks", caller: "key-or-session", policy: "partner-portal", scope: "read" } as const;

const feedQuery = Type.Object({
  cursor: optionalText("`cursor` of the answer before; `latest` for what comes from now on; left out: from the first."),
  limit: optionalText("1 to 100, default 50; values outside are clamped."),
  topics: optionalText("Topics, separated by commas; left out: all."),
  wait: optionalText("Seconds to wait for an event when there is none, at most 25; default 0."),
});

/** The route from which a firm reads its events: during development, or to catch up on missed events. */
function feedRoutes(app: FastifyInstance, frame: RouteDeps, deps: Omit<FeedDeps, "waiters">): void {
  const waiters = createWaiters();
  app.addHook("preClose", async () => waiters.stop());
  jsonRoute(app, frame, {
    ...feedCommon,
    method: "GET",
    url: "/api/partner/events",
    operationId: "listEvents",
    summary: "List events",
    description:
      "Your events with their payloads, oldest first; no webhook is needed. Every event of your firm in the key's environment has a place in one chain, from 1 without a gap: the `n` of a delivery's " +
      "`Service-Chain` is `position` here. Pass the `cursor` of each answer to the next call and nothing is missed. `payload` is " +
      "built from today's records, as a replay is; it is null when the record is gone.",
    query: feedQuery,
    answer: EventFeed,
    refusals: { 400: "cursor must be one that this list has returned." },
    async handle(request, reply) {
      const feed = await readFeed({ ...deps, waiters }, principalOf(request), request.query, closed(reply));
      return { ...feed, requestId: request.id };
    },
  });
}

/** Returns a signal that is aborted when the caller disconnects. */
function closed(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  return controller.signal;
}

const passportCommon = { tag: "Webhooks", caller: "key", policy: "partner-write" } as const;

/**
 * Routes for API keys only, not for sessions. POST subscribes to `passport.sealed` like any other subscription
 * (contract, Proof passports). DELETE ends any subscription of the owner.
 */
function passportWebhookRoutes(app: FastifyInstance, frame: RouteDeps, subscriptions: SubscriptionDeps): void {
  jsonRoute(app, frame, {
    ...passportCommon,
    method: "POST",
    scope: "webhooks",
    url: "/api/passport/webhooks",
    operationId: "createPassportWebhook",
    summary: "Create a webhook for sealed passports",
    description:
      "Subscribes a URL to `passport.sealed` and no other topic. [Create a webhook](#tag/webhooks) does the same for all topics.",
    body: NewPassportWebhook,
    answer: PassportWebhook,
    refusals: { 400: "A https:// webhook URL is required." },
    async handle(request) {
      const webhook = await subscribe(subscriptions, principalOf(request), urlField(request.body), ["passport.sealed"]);
      const { id, url, secret, signatureHeader, standardWebhooksSecret } = webhook;
      return { webhookId: id, url, signingSecret: secret, signatureHeader, standardWebhooksSecret, verification };
    },
  });
  jsonRoute(app, frame, {
    ...passportCommon,
    method: "DELETE",
    scope: "webhooks",
    url: "/api/passport/webhooks/:id",
    operationId: "deletePassportWebhook",
    summary: "Delete a webhook for sealed passports",
    description: "Nothing is sent to it any more.",
    params: Type.Object({ id: Type.String({ description: "The webhook's id." }) }),
    bodyIs: "none",
    answer: PassportWebhookDeleted,
    refusals: { 404: "No such webhook." },
    async handle(request) {
      const { id } = request.params;
      await unsubscribe(subscriptions, principalOf(request), id);
      return { deleted: true as const, webhookId: id };
    },
  });
}
