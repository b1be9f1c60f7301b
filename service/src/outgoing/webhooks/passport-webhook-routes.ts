import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { NewPassportWebhook, PassportWebhook, PassportWebhookDeleted } from "./schemas.ts";
import { verification } from "./signing.ts";
import { urlField } from "./subscriptions/fields.ts";
import { type SubscriptionDeps, subscribe, unsubscribe } from "./subscriptions/subscriptions.ts";

const common = { tag: "Webhooks", caller: "key", policy: "partner-write" } as const;

/**
 * Subscriptions that only an API key may manage, no session. They get `passport.sealed` and no other topic (contract,
 * Proof passports).
 */
export function passportWebhookRoutes(app: FastifyInstance, frame: RouteDeps, subscriptions: SubscriptionDeps): void {
  jsonRoute(app, frame, {
    ...common,
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
    ...common,
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
