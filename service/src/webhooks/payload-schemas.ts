import { type TProperties, type TSchema, Type } from "typebox";
import { environment, hexCode, sha256, timestamp, uuid, verifyCode } from "../http/schema-parts.ts";
import { eventHeader, signatureHeader, verification } from "./signing.ts";
import { orderTopics, testTopic } from "./topics.ts";

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const orderCode = hexCode("3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d");
const roomCode = hexCode("9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4b");
const closed = { additionalProperties: false };

const orderData = {
  orderCode,
  status: text("The order's status when this was sent.", "QuoteReady"),
  environment: environment(),
  occurredAtUtc: timestamp("When it happened."),
  externalReference: Type.Optional(text("The reference sent with the order; left out when none was.", "FILE-2207")),
};

const roomData = (topic: string, about: TProperties) => ({
  roomCode,
  roomName: text("The room's name.", "12 Elm Street"),
  event: Type.Literal(topic),
  ...about,
  occurredAtUtc: timestamp("When it happened."),
});

function envelope(topic: string, id: string, data: TProperties): TSchema {
  const members = { type: Type.Literal(topic), id: Type.String({ description: id }), data: Type.Object(data, closed) };
  return Type.Object(members, { ...closed, description: "Members that do not apply are left out." });
}

const orderWords: Readonly<Record<(typeof orderTopics)[number], string>> = {
  "order.created": "An order was placed",
  "payment.cleared": "An order was paid in full",
  "signature.completed": "All have signed, and the document is sealed",
  "shipment.delivered": "The carrier has delivered",
};

type Payload = { summary: string; schema: TSchema };

/** Every body that a subscription may be sent (contract, Events), by topic. */
export const payloads: Readonly<Record<string, Payload>> = {
  "passport.sealed": {
    summary: "A proof passport was sealed",
    schema: envelope("passport.sealed", "The passport's id.", {
      passportId: uuid(),
      verifyCode: verifyCode(),
      verifyUrl: Type.String({ format: "uri" }),
      docSha256: sha256("SHA-256 of the uploaded bytes, hex."),
      sealedSha256: sha256("SHA-256 of the sealed PDF, hex."),
      status: Type.Literal("sealed"),
      sealedAtUtc: timestamp("When it was sealed."),
      environment: environment(),
    }),
  },
  "room.order_attached": {
    summary: "An order was attached to a room",
    schema: envelope(
      "room.order_attached",
      "`{event}:{roomCode}:{orderCode}`, with the code that the room had then.",
      roomData("room.order_attached", { orderCode }),
    ),
  },
  "room.passport_sealed": {
    summary: "A closing passport version was sealed",
    schema: envelope(
      "room.passport_sealed",
      "`{event}:{roomCode}:{passportVerifyCode}`, with the code that the room had then.",
      roomData("room.passport_sealed", { passportVerifyCode: verifyCode() }),
    ),
  },
  ...Object.fromEntries(
    orderTopics.map((topic) => [
      topic,
      { summary: orderWords[topic], schema: envelope(topic, "`{topic}:{orderCode}`.", orderData) },
    ]),
  ),
  [testTopic]: {
    summary: "A test that you asked for",
    schema: envelope(testTopic, "`webhook.test:{uuid}`.", {
      webhookId: uuid(),
      environment: environment(),
      occurredAtUtc: timestamp("When you asked."),
    }),
  },
};

const headerParameter = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

/** The `webhooks` section of the published description (OpenAPI 3.1). */
export const webhooksSection: Record<string, object> = Object.fromEntries(
  Object.entries(payloads).map(([topic, { summary, schema }]) => {
    const post = {
      operationId: `on.${topic}`,
      summary,
      tags: ["Webhooks"],
      security: [],
      parameters: [headerParameter(signatureHeader, verification), headerParameter(eventHeader, "The topic.")],
      requestBody: { required: true, content: { "application/json": { schema } } },
      responses: {
        "2XX": { description: "Received. Anything else counts as failed; it is not sent again unless you replay it." },
        "4XX": { description: "Failed." },
      },
    };
    return [topic, { post }];
  }),
);
