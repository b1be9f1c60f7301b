import { type Static, Type } from "typebox";
import { nextCursor, nullable, oneOf, requestId, timestamp, uuid } from "../http/schema-parts.ts";
import { failureReasons } from "./outbound/post.ts";
import { topics } from "./topics.ts";

const url = () => Type.String({ format: "uri", examples: ["https://hooks.example.com/signing"] });
const header = () => Type.String({ examples: ["Service-Signature"] });
const topicNames = () =>
  Type.Array(Type.String({ examples: ["order.created"] }), { description: "May grow; treat names as open." });
const secret = () =>
  Type.String({ pattern: "^svc_whsec_[a-z2-7]{52}$", description: "Shown this once; it cannot be read again." });

export const NewWebhook = Type.Object(
  {
    url: Type.String({ format: "uri", maxLength: 2048, description: "Absolute, https." }),
    topics: Type.Array(Type.String({ enum: [...topics] }), { minItems: 1 }),
  },
  { $id: "NewWebhook" },
);

export const CreatedWebhook = Type.Object(
  { id: uuid(), secret: secret(), url: url(), topics: topicNames(), signatureHeader: header() },
  { $id: "CreatedWebhook" },
);
export type CreatedWebhook = Static<typeof CreatedWebhook>;

export const Webhook = Type.Object(
  { id: uuid(), url: url(), topics: topicNames(), active: Type.Boolean(), createdAt: timestamp() },
  { $id: "Webhook" },
);
export type Webhook = Static<typeof Webhook>;

export const WebhookDeleted = Type.Object({ ok: Type.Literal(true) }, { $id: "WebhookDeleted" });

export const RotatedSecret = Type.Object(
  {
    id: uuid(),
    secret: secret(),
    signatureHeader: header(),
    previousSecretExpiresAt: timestamp("Until then the secret before signs too, with a `v1` of its own."),
  },
  { $id: "RotatedSecret" },
);
export type RotatedSecret = Static<typeof RotatedSecret>;

export const Delivery = Type.Object(
  {
    deliveryId: uuid(),
    webhookId: uuid(),
    eventId: Type.String({ description: "The `id` of the body; de-duplicate by it." }),
    eventName: Type.String({ examples: ["order.created"] }),
    state: oneOf(["pending", "delivered", "failed"]),
    attempts: Type.Integer({ description: "One, or more when a crash left it open whether the first had arrived." }),
    lastStatusCode: nullable(Type.Integer()),
    durationMs: nullable(Type.Integer()),
    reason: nullable(Type.String({ description: `Why it failed: ${failureReasons.join(", ")}.` })),
    destinationUrl: url(),
    createdAt: timestamp(),
    completedAt: nullable(timestamp()),
    replayedFrom: nullable(uuid("The delivery whose event was sent again.")),
  },
  { $id: "WebhookDelivery", description: "What became of one delivery. Bodies are not kept." },
);
export type Delivery = Static<typeof Delivery>;
const deliveries = { $ref: "WebhookDelivery#" };

export const DeliveryFeed = Type.Object(
  { deliveries: Type.Array(Type.Unsafe<Delivery>(deliveries), { maxItems: 100 }) },
  { $id: "WebhookDeliveryFeed" },
);
export type DeliveryFeed = Static<typeof DeliveryFeed>;

export const DeliveryList = Type.Object(
  {
    deliveries: Type.Array(Type.Unsafe<Delivery>(deliveries)),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "WebhookDeliveryList" },
);

export const Replayed = Type.Object(
  { ok: Type.Literal(true), deliveryId: uuid("The new delivery."), replayedFrom: uuid(), requestId: requestId() },
  { $id: "WebhookReplay" },
);

export const TestSent = Type.Object(
  { ok: Type.Literal(true), deliveryId: uuid(), requestId: requestId() },
  { $id: "WebhookTest" },
);

export const SignatureExample = Type.Object(
  {
    signatureHeader: header(),
    eventHeader: Type.String({ examples: ["Service-Event"] }),
    toleranceSeconds: Type.Integer(),
    verification: Type.String({ description: "The scheme in words." }),
    secret: Type.String({ description: "Of this example alone." }),
    signingKey: Type.String({ description: "Lowercase hex of the secret's SHA-256: the HMAC key, as UTF-8." }),
    timestamp: Type.Integer({ description: "Unix seconds." }),
    rawBody: Type.String(),
    signedString: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
  },
  { $id: "WebhookSignatureExample", description: "A worked example to test a receiver against." },
);

export const NewPassportWebhook = Type.Object(
  { url: Type.String({ format: "uri", maxLength: 2048, description: "Absolute, https." }) },
  { $id: "NewPassportWebhook" },
);

export const PassportWebhook = Type.Object(
  {
    webhookId: uuid(),
    url: url(),
    signingSecret: secret(),
    signatureHeader: header(),
    verification: Type.String({ description: "The signature scheme in words." }),
  },
  { $id: "PassportWebhook" },
);

export const PassportWebhookDeleted = Type.Object(
  { deleted: Type.Literal(true), webhookId: uuid() },
  { $id: "PassportWebhookDeleted" },
);
