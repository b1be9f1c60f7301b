import swagger from "@fastify/swagger";
import type { FastifyInstance, onRequestAsyncHookHandler } from "fastify";
import { ErrorBody } from "./error-schemas.ts";
import { describeAround } from "./openapi-around.ts";
import { referencePage } from "./reference-page.ts";

const tags = [
  "Orders",
  "Signing",
  "Partner",
  "Rooms",
  "Closing passports",
  "Proof passports",
  "Webhooks",
  "Analytics",
  "Playbooks",
  "Sandbox",
];

/**
 * Publishes `/openapi.json` (OpenAPI 3.1) and its readable form at `/docs`, all of it served from here.
 * @param webhooks the path item of each topic.
 * @param limit counts a request of either.
 */
export async function openapi(
  app: FastifyInstance,
  baseUrl: string,
  webhooks: Record<string, object>,
  limit: onRequestAsyncHookHandler,
): Promise<void> {
  app.addSchema(ErrorBody);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "SignSealShip partner interface",
        version: "1.0.0",
        description: "Orders, closing rooms, passports and webhooks for partner firms.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: baseUrl }],
      // In the order in which the reference shows them.
      tags: tags.map((name) => ({ name })),
      webhooks,
      components: {
        securitySchemes: {
          partnerKey: { type: "http", scheme: "bearer", description: "A partner key, `svc_pk_...`." },
          session: { type: "apiKey", in: "cookie", name: "__Host-session", description: "A signed-in member." },
        },
      },
    },
    transformObject: (document) =>
      "openapiObject" in document ? describeAround(document.openapiObject) : document.swaggerObject,
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`) },
  });
  app.get("/openapi.json", { onRequest: limit, schema: { hide: true } }, async () => app.swagger());
  await app.register(async (docs) => {
    docs.addHook("onRequest", limit);
    referencePage(docs);
  });
}
