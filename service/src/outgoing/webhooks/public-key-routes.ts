import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { environment, requestId, text } from "../../kernel/http/schema-parts.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { makePublicKey, type PublicKeyDeps, readPublicKey } from "./public-key.ts";

const WebhookPublicKey = Type.Object(
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

/** Routes for the public key that verifies `v1a` signatures. A POST creates the key once; a GET only reads it. */
export function publicKeyRoutes(app: FastifyInstance, frame: RouteDeps, keys: PublicKeyDeps): void {
  jsonRoute(app, frame, {
    ...common,
    method: "POST",
    scope: "webhooks",
    operationId: "makeWebhookPublicKey",
    summary: "Make the public key of your deliveries",
    description:
      "Makes the Ed25519 key behind the `v1a` signatures, one for your firm in each environment; an existing key stays. From then on " +
      "`webhook-signature` has a `v1a` with each `v1`.",
    bodyIs: "none",
    async handle(request) {
      const principal = principalOf(request);
      const key = await makePublicKey(keys, principal);
      return { ...key, environment: principal.environment, requestId: request.id };
    },
  });
  jsonRoute(app, frame, {
    ...common,
    method: "GET",
    scope: "read",
    operationId: "getWebhookPublicKey",
    summary: "Get the public key of your deliveries",
    description: "The Ed25519 key behind the `v1a` signatures: one for your firm in each environment, once it is made.",
    refusals: { 404: none },
    async handle(request) {
      const { environment, partnerId } = principalOf(request);
      const key = await readPublicKey(keys, { environment, partnerId });
      if (!key) throw new ServiceError("not_found", none);
      return { ...key, environment, requestId: request.id };
    },
  });
}
