import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../http/route.ts";
import { environment, requestId, text } from "../http/schema-parts.ts";
import type { ColumnCipher } from "../platform/column-cipher.ts";
import type { Sql } from "../platform/database/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { makePublicKey, readPublicKey } from "./public-key.ts";

export const WebhookPublicKey = Type.Object(
  {
    publicKey: Type.String({
      pattern: "^whpk_",
      description: "The key as Standard Webhooks writes it: `whpk_` and the base64 of its 32 bytes.",
      examples: ["whpk_1J1dKtyPyEM/6tSAtZ0nXfQVfWwhIyAf5Xm1Nyj7Bck="],
    }),
    publicKeyPem: text(
      "The same key as PEM, for OpenSSL.",
      "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA1J1dKtyPyEM/6tSAtZ0nXfQVfWwhIyAf5Xm1Nyj7Bck=\n-----END PUBLIC KEY-----\n",
    ),
    environment: environment(),
    requestId: requestId(),
  },
  { $id: "WebhookPublicKey", description: "The public key of your deliveries." },
);

const common = {
  tag: "Webhooks",
  caller: "key-or-session",
  policy: "partner-portal",
  url: "/api/partner/webhooks/public-key",
  answer: WebhookPublicKey,
} as const;
const none = "There is no public key yet. Make one by POST to this address.";

/** The key behind `v1a` signatures: made once, by who asks for that, and read from then on. */
export function publicKeyRoutes(app: FastifyInstance, deps: RouteDeps & { db: Sql; keyCipher: ColumnCipher }): void {
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "webhooks",
    operationId: "makeWebhookPublicKey",
    summary: "Make the public key of your deliveries",
    description:
      "Makes the Ed25519 key behind the `v1a` signatures, one for your firm in each environment; where there is one, it stays. From then on " +
      "`webhook-signature` holds a `v1a` beside each `v1`.",
    bodyIs: "none",
    async handle(request) {
      const principal = principalOf(request);
      const key = await makePublicKey(deps, principal);
      return { ...key, environment: principal.environment, requestId: request.id };
    },
  });
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    scope: "read",
    operationId: "getWebhookPublicKey",
    summary: "Get the public key of your deliveries",
    description: "The Ed25519 key behind the `v1a` signatures: one for your firm in each environment, once it is made.",
    refusals: { 404: none },
    async handle(request) {
      const { environment, partnerId } = principalOf(request);
      const key = await readPublicKey(deps, { environment, partnerId });
      if (!key) throw new ServiceError("not_found", none);
      return { ...key, environment, requestId: request.id };
    },
  });
}
