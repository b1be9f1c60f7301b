import { type Static, Type } from "typebox";
import { nextCursor, nullable, ok, oneOf, requestId, text, timestamp, uuid } from "../../kernel/http/schema-parts.ts";
import { failureReasons } from "./outbound/post.ts";
import { topics } from "./topics.ts";

const webhookId = () => uuid("The webhook's id.", webhookIdExample);
const url = () => Type.String({ format: "uri", description: "Where events are posted.", examples: [urlExample] });
const newUrl = () =>
  Type.String({
    format: "uri",
    maxLength: 2048,
    description: "Where events are posted: an absolute https address, at most 2,048 characters.",
    examples: [urlExample],
  });
const header = () => text("The name of the header that carries the signature.", "Service-Signature");
const topicNames = () =>
  Type.Array(Type.String(), {
    description: "The topics that are sent to it. The list of topics may grow; treat names as open.",
    examples: [["order.created", "payment.cleared"]],
  });
const secret = () =>
  Type.String({
    pattern: "^svc_whsec_[a-z2-7]{52}$",
    description: "The signing secret. Shown this once; it cannot be read again.",
    examples: [`svc_whsec_${"k4s7".repeat(13)}`],
  });

const standardWebhooksSecret = () =>
  Type.String({
    pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
    description: "The same secret in the form that libraries of Standard Webhooks take. Shown this once.",
    examples: ["whsec_qtY0LJkNBZSUyGZXLbFOZ8jF6kGcFPo2q0aRbbLnWTo="],
  });

export const webhookIdExample = "1c9d4f7e-52b8-4a06-8f3d-2e6b9a70c514";
export const deliveryIdExample = "d2719bc4-08e5-4f6a-b1c3-97a5e40f8d26";
const urlExample = "https://hooks.example.com/signing";

export const NewWebhook = Type.Object(
  {
    url: newUrl(),
    topics: Type.Array(Type.String({ enum: [...topics] }), {
      minItems: 1,
      description: "The topics to send to it, at least one.",
      examples: [["order.created", "payment.cleared"]],
    }),
  },
  { $id: "NewWebhook", description: "A webhook to create." },
);

export const CreatedWebhook = Type.Object(
  {
    id: webhookId(),
    secret: secret(),
    url: url(),
    topics: topicNames(),
    signatureHeader: header(),
    standardWebhooksSecret: standardWebhooksSecret(),
  },
  { $id: "CreatedWebhook", description: "The new webhook, with its secret." },
);
export type CreatedWebhook = Static<typeof CreatedWebhook>;

export const Webhook = Type.Object(
  {
    id: webhookId(),
    url: url(),
    topics: topicNames(),
    active: Type.Boolean({ description: "Whether events are sent to it.", examples: [true] }),
    createdAt: timestamp("When it was created."),
  },
  { $id: "Webhook", description: "A subscription of a URL to topics." },
);
export type Webhook = Static<typeof Webhook>;

export const WebhookDeleted = Type.Object({ ok: ok() }, { $id: "WebhookDeleted", description: "It was deleted." });

export const RotatedSecret = Type.Object(
  {
    id: webhookId(),
    secret: secret(),
    signatureHeader: header(),
    standardWebhooksSecret: standardWebhooksSecret(),
    previousSecretExpiresAt: timestamp(
      "Until then the previous secret signs too, with a `v1` of its own.",
      "2026-03-05T15:06:07.089Z",
    ),
  },
  { $id: "RotatedSecret", description: "The webhook's new secret." },
);
export type RotatedSecret = Static<typeof RotatedSecret>;

export const Delivery = Type.Object(
  {
    deliveryId: uuid("The delivery's id.", deliveryIdExample),
    webhookId: webhookId(),
    eventId: text(
      "The `id` of the body; de-duplicate by it.",
      "order.created:3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
    ),
    eventName: text("The topic.", "order.created"),
    state: oneOf(["pending", "delivered", "failed"], "`delivered` when your endpoint answered with a 2xx in time.", [
      "delivered",
    ]),
    attempts: Type.Integer({
      description: "One, or more when a crash left it open whether the first had arrived.",
      examples: [1],
    }),
    lastStatusCode: nullable(Type.Integer({ examples: [204] }), "What your endpoint answered; null for no answer."),
    durationMs: nullable(Type.Integer({ examples: [84] }), "How long your endpoint took, in milliseconds."),
    reason: nullable(Type.String(), `Null unless it failed; then why: ${failureReasons.join(", ")}.`),
    destinationUrl: url(),
    createdAt: timestamp("When the delivery was made."),
    completedAt: nullable(timestamp("When it was delivered or failed; null while it is pending.")),
    replayedFrom: nullable(Type.String({ format: "uuid" }), "The delivery that this one repeats; null for the first."),
  },
  { $id: "WebhookDelivery", description: "What became of one delivery. Bodies are not kept." },
);
export type Delivery = Static<typeof Delivery>;
const deliveries = { $ref: "WebhookDelivery#" };

export const DeliveryFeed = Type.Object(
  {
    deliveries: Type.Array(Type.Unsafe<Delivery>(deliveries), { maxItems: 100, description: "Newest first." }),
  },
  { $id: "WebhookDeliveryFeed", description: "The latest deliveries of one webhook." },
);
export type DeliveryFeed = Static<typeof DeliveryFeed>;

export const DeliveryList = Type.Object(
  {
    deliveries: Type.Array(Type.Unsafe<Delivery>(deliveries), { description: "Newest first." }),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "WebhookDeliveryList", description: "A page of deliveries." },
);

export const Replayed = Type.Object(
  {
    ok: ok(),
    deliveryId: uuid("The new delivery.", "5e8a13f0-7c42-4b9d-a6f1-30d9c28b7e45"),
    replayedFrom: uuid("The delivery that it repeats.", deliveryIdExample),
    requestId: requestId(),
  },
  { $id: "WebhookReplay", description: "The event is on its way again." },
);

export const TestSent = Type.Object(
  { ok: ok(), deliveryId: uuid("The delivery of the test event.", deliveryIdExample), requestId: requestId() },
  { $id: "WebhookTest", description: "The test event is on its way." },
);

export const SignatureExample = Type.Object(
  {
    signatureHeader: header(),
    eventHeader: text("The name of the header that carries the topic.", "Service-Event"),
    toleranceSeconds: Type.Integer({ description: "How old a signature may be, in seconds.", examples: [300] }),
    verification: Type.String({ description: "The scheme in words." }),
    secret: Type.String({ description: "The secret of this example alone." }),
    signingKey: Type.String({ description: "Lowercase hex of the secret's SHA-256: the HMAC key, as UTF-8." }),
    timestamp: Type.Integer({ description: "Unix seconds, as in the header's `t`." }),
    rawBody: Type.String({ description: "The body, byte for byte." }),
    signedString: Type.String({ description: "What is signed: the timestamp, a dot and the body." }),
    headers: Type.Record(Type.String(), Type.String(), { description: "The headers of such a delivery." }),
  },
  { $id: "WebhookSignatureExample", description: "A worked example to test a receiver against." },
);

export const NewPassportWebhook = Type.Object(
  { url: newUrl() },
  { $id: "NewPassportWebhook", description: "A webhook for `passport.sealed` to create." },
);

export const PassportWebhook = Type.Object(
  {
    webhookId: webhookId(),
    url: url(),
    signingSecret: secret(),
    signatureHeader: header(),
    standardWebhooksSecret: standardWebhooksSecret(),
    verification: Type.String({ description: "The signature scheme in words." }),
  },
  { $id: "PassportWebhook", description: "The new webhook, with its secret." },
);

export const PassportWebhookDeleted = Type.Object(
  {
    deleted: Type.Literal(true, { description: "Always true: a refusal has another status." }),
    webhookId: webhookId(),
  },
  { $id: "PassportWebhookDeleted", description: "It was deleted." },
);
