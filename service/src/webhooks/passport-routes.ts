import type { FastifyInstance } from "fastify";
import { principalOf, requireKey } from "../http/authentication.ts";
import { acceptNoBody } from "../http/bodies.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import type { ResolveKey } from "../identity/identity.ts";
import { urlField } from "./fields.ts";
import { json, refusals, type WebhookPath, webhookParams } from "./route-parts.ts";
import { NewPassportWebhook, PassportWebhook, PassportWebhookDeleted } from "./schemas.ts";
import { verification } from "./signing.ts";
import { type SubscriptionDeps, subscribe, unsubscribe } from "./subscriptions/subscriptions.ts";

/** The key-only way to be told of `passport.sealed` and of nothing else (contract, Proof passports). */
export function passportWebhookRoutes(
  app: FastifyInstance,
  deps: SubscriptionDeps & { resolveKey: ResolveKey; limits: RateLimits },
): void {
  const onRequest = [requireKey(deps.resolveKey), deps.limits.limit("partner-write")];
  const about = { tags: ["Passports"], security: [{ partnerKey: [] }] };
  const keyRefusals = { 401: "A valid partner API key is required.", 429: refusals[429] };

  app.post(
    "/api/passport/webhooks",
    {
      onRequest,
      validatorCompiler: () => () => true,
      schema: {
        ...about,
        operationId: "createPassportWebhook",
        summary: "Subscribe a URL to passport.sealed",
        body: ref(NewPassportWebhook),
        response: {
          200: ref(PassportWebhook),
          ...errors({ 400: "A https:// webhook URL is required.", ...keyRefusals }),
        },
      },
    },
    async (request, reply) => {
      const { id, url, secret, signatureHeader } = await subscribe(deps, principalOf(request), urlField(request.body), [
        "passport.sealed",
      ]);
      const answer = { webhookId: id, url, signingSecret: secret, signatureHeader, verification };
      return reply.type(json).send(JSON.stringify(answer));
    },
  );

  app.register(async (scope) => {
    acceptNoBody(scope);
    scope.delete<WebhookPath>(
      "/api/passport/webhooks/:id",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "deletePassportWebhook",
          summary: "End a webhook",
          params: webhookParams,
          response: { 200: ref(PassportWebhookDeleted), ...errors({ ...keyRefusals, 404: "No such webhook." }) },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        await unsubscribe(deps, principalOf(request), id);
        return reply.type(json).send(JSON.stringify({ deleted: true, webhookId: id }));
      },
    );
  });
}
