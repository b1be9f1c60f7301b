import swagger from "@fastify/swagger";
import type { FastifyInstance, onRequestAsyncHookHandler } from "fastify";
import { ErrorBody } from "../errors/schemas.ts";
import { describeAround } from "./around.ts";
import { collectionOf } from "./collection.ts";
import { referencePage } from "./reference-page.ts";
import { addSamples } from "./samples.ts";

const introduction = `Place orders to sign, notarize, ship and fax documents, follow them in closing rooms, and verify the evidence that they leave.

New here? The [quickstart](/docs/quickstart) places a test order in five minutes. [All guides](/docs) explain keys, errors, limits, webhooks and going live.

Every request with a key sends it as \`Authorization: Bearer <key>\`. Amounts are in USD cents, times are ISO 8601 in UTC, and names that you don't know may appear later: order statuses, line types and topics grow.`;

/**
 * Publishes `/openapi.json` (OpenAPI 3.1), its readable form at `/docs/reference`, and a Postman collection of its
 * requests at `/docs/collection.json`. Nothing is loaded from a CDN.
 * @param webhooks the path item of each topic.
 * @param limit rate-limits requests for these documents.
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
        description: introduction,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: baseUrl }],
      tags,
      webhooks,
      components: {
        securitySchemes: {
          partnerKey: {
            type: "http",
            scheme: "bearer",
            description: "A partner key. Test keys begin with `svc_pk_test_`.",
          },
          session: {
            type: "apiKey",
            in: "cookie",
            name: "__Host-session",
            description: "The session of a signed-in member.",
          },
        },
      },
    },
    transformObject(document) {
      if (!("openapiObject" in document)) return document.swaggerObject;
      addSamples(document.openapiObject.paths ?? {}, baseUrl);
      return describeAround(document.openapiObject);
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`) },
  });
  app.get("/openapi.json", { onRequest: limit, schema: { hide: true } }, async () => app.swagger());
  app.get("/docs/collection.json", { onRequest: limit, schema: { hide: true } }, async () =>
    collectionOf(app.swagger(), baseUrl),
  );
  await app.register(async (docs) => {
    docs.addHook("onRequest", limit);
    referencePage(docs);
  });
}

/** The tags of the interface, in the order in which a newcomer needs them. */
const tags = [
  {
    name: "Orders",
    description:
      "An order is a completed document and what should happen to it: signing, notarization, shipping, fax. The price is computed here; no request carries an amount. The [quickstart](/docs/quickstart) places one.",
  },
  {
    name: "Billing",
    description:
      "Receipts, credit notes and statements. Each figure is that of a payment or a refund that the processor confirmed.",
  },
  {
    name: "Templates",
    description:
      "A document type of your firm: its form with its fields, roles, services and messages. An order that names one is placed with values alone.",
  },
  {
    name: "Bulk",
    description:
      "Many orders from one template: a file of people and values, checked whole before any order is placed.",
  },
  {
    name: "Fills",
    description:
      "Forms that clients fill in online, by a link, and that then are documents to order. Your own software may fill them in, too.",
  },
  {
    name: "Sandbox",
    description:
      "Walks a test order through its life: its payment, its signatures, its delivery. Test orders and test keys only. See [test and live](/docs/test-and-live).",
  },
  {
    name: "Signing",
    description: "Who signs an order, what was signed, and how anyone can verify it.",
  },
  {
    name: "Rooms",
    description:
      "A closing room bundles the orders of one transaction under one link, with live status. See [rooms and closing passports](/docs/rooms).",
  },
  {
    name: "Closing passports",
    description:
      "A sealed, numbered snapshot of a room. Each version carries the hash of the previous one, and anyone with its code can verify it.",
  },
  {
    name: "Proof passports",
    description:
      "A seal for one PDF: a signature and independent time stamps that anyone can verify, also without us. See [verifying evidence](/docs/evidence).",
  },
  {
    name: "Webhooks",
    description:
      "Signed notices to your own server. Create a webhook, send it a test, then look at its deliveries. See the [webhooks guide](/docs/webhooks).",
  },
  { name: "Events", description: "What is posted to your webhooks, by topic." },
  { name: "Partner", description: "Your firm: its account, its way to live orders, and how to get access." },
  { name: "Analytics", description: "Figures about your own orders." },
  { name: "Playbooks", description: "Automations that are run for you. Limited release: off until enabled." },
];
