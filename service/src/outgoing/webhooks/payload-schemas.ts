import { type TProperties, type TSchema, Type } from "typebox";
import {
  environment,
  orderCode,
  orderCodeExample,
  roomCode,
  roomCodeExample,
  sha256,
  text,
  timestamp,
  uuid,
  verifyCode,
  verifyCodeExample,
} from "../../kernel/http/schema-parts.ts";
import { webhookIdExample } from "./schemas.ts";
import { chainHeader, eventHeader, signatureHeader, verification } from "./signing.ts";
import { standardHeaders } from "./standard-signature.ts";
import { orderTopics, recordingTopics, signerTopics, testTopic } from "./topics.ts";

const closed = { additionalProperties: false };

const externalReference = Type.Optional(
  text("The reference sent with the order; left out when none was.", "FILE-2207"),
);

const orderData = (status: string) => ({
  orderCode: orderCode(),
  status: text("The order's status when this was sent.", status),
  environment: environment(),
  occurredAtUtc: timestamp("When it happened."),
  externalReference,
});

const roomData = (topic: string, about: TProperties) => ({
  roomCode: roomCode("The code that the room had when this was sent."),
  roomName: text("The room's name.", "12 Elm Street"),
  event: Type.Literal(topic, { description: "The topic, as in `type`." }),
  ...about,
  occurredAtUtc: timestamp("When it happened."),
});

type Id = { description: string; example: string };

function envelope(topic: string, id: Id, data: TProperties): TSchema {
  const members = {
    type: Type.Literal(topic, { description: "The topic, as in the header `Service-Event`." }),
    id: text(`${id.description} An event that is sent again has the same id: de-duplicate by it.`, id.example),
    data: Type.Object(data, { ...closed, description: "What the event is about. It holds no personal data." }),
  };
  return Type.Object(members, { ...closed, description: "Members that do not apply are left out." });
}

type OrderWords = { description: string; status: string };

/** The description of each order event, and an example of the order's status at that time. */
const orderWords: Readonly<Record<(typeof orderTopics)[number], OrderWords>> = {
  "order.created": { description: "An order was placed.", status: "QuoteReady" },
  "payment.cleared": { description: "An order was paid in full.", status: "EsignPending" },
  "signature.completed": {
    description: "The signed document is sealed.",
    status: "EsignComplete",
  },
  "shipment.delivered": { description: "The carrier has delivered the document.", status: "Delivered" },
};

const signerWords: Readonly<Record<(typeof signerTopics)[number], OrderWords>> = {
  "signature.requested": {
    description: "A signer was given a link to sign by. A new link, also of the same signer, is a new event.",
    status: "EsignPending",
  },
  "signature.viewed": { description: "A signer opened the document for the first time.", status: "EsignPending" },
  "signature.signed": { description: "A signer signed.", status: "EsignPending" },
  "signature.declined": {
    description: "A signer declined to sign, or asked to sign on paper.",
    status: "EsignDeclined",
  },
};

type RecordingWords = { description: string; data: TProperties };

const recordingHash = sha256(
  "SHA-256 of the recording's manifest, hex. The notary's journal and the transparency log name it, too.",
);
const recordingEnd = { endedAtUtc: timestamp("When the recording ended."), recordingSha256: recordingHash };

const recordingWords: Readonly<Record<(typeof recordingTopics)[number], RecordingWords>> = {
  "recording.started": { description: "The recording of a session with a notary started.", data: {} },
  "recording.completed": { description: "The recording ended, and its manifest is made.", data: recordingEnd },
  "recording.interrupted": {
    description: "Somebody's line was lost, or the recording process stopped. The recording went on in a new take.",
    data: { cause: text("`failed`: a line was lost. `stopped`: the recording process. The list may grow.", "failed") },
  },
  "recording.deleted": {
    description: "The recording was deleted. Hashes and manifest stay.",
    data: {
      ...recordingEnd,
      reason: text("`retention`: the years of the notary's state are over. The list may grow.", "retention"),
    },
  },
};

type Payload = { description: string; schema: TSchema };

const passportId = "8a4c2f10-9b7e-4d35-a1c6-5f0e3d2b7a91";

const channel = Type.Optional(
  text(
    "How the signer came to the signing page: `mail_link`, `embedded` (in your site), `in_person` (on a device of your firm), `in_presence` or `by_audio_and_video` (with a notary). Absent in `signature.requested`, and in events from before this member existed. The list may grow.",
    "mail_link",
  ),
);

/** For each topic, its description and the schema of its body (contract, Events). */
export const payloads: Readonly<Record<string, Payload>> = {
  "passport.sealed": {
    description: "A proof passport was sealed.",
    schema: envelope(
      "passport.sealed",
      { description: "The passport's id.", example: passportId },
      {
        passportId: uuid("The passport's id.", passportId),
        verifyCode: verifyCode(),
        verifyUrl: Type.String({
          format: "uri",
          description: "Where anyone can verify the passport.",
          examples: [`https://sign.example.com/api/passport/verify/${verifyCodeExample}`],
        }),
        docSha256: sha256("SHA-256 of the uploaded bytes, hex."),
        sealedSha256: sha256("SHA-256 of the sealed PDF, hex."),
        status: Type.Literal("sealed", { description: "Always `sealed`." }),
        sealedAtUtc: timestamp("When it was sealed."),
        environment: environment(),
      },
    ),
  },
  "room.order_attached": {
    description: "An order was attached to one of your rooms.",
    schema: envelope(
      "room.order_attached",
      {
        description: "`{event}:{roomCode}:{orderCode}`, with the code that the room had then.",
        example: `room.order_attached:${roomCodeExample}:${orderCodeExample}`,
      },
      roomData("room.order_attached", { orderCode: orderCode("The order that was attached.") }),
    ),
  },
  "room.passport_sealed": {
    description: "A version of a closing passport was sealed.",
    schema: envelope(
      "room.passport_sealed",
      {
        description: "`{event}:{roomCode}:{passportVerifyCode}`, with the code that the room had then.",
        example: `room.passport_sealed:${roomCodeExample}:${verifyCodeExample}`,
      },
      roomData("room.passport_sealed", {
        passportVerifyCode: verifyCode("The code of the room's latest closing passport."),
      }),
    ),
  },
  ...Object.fromEntries(
    orderTopics.map((topic) => [
      topic,
      {
        description: orderWords[topic].description,
        schema: envelope(
          topic,
          { description: "`{topic}:{orderCode}`.", example: `${topic}:${orderCodeExample}` },
          orderData(orderWords[topic].status),
        ),
      },
    ]),
  ),
  ...Object.fromEntries(
    signerTopics.map((topic) => [
      topic,
      {
        description: signerWords[topic].description,
        schema: envelope(
          topic,
          {
            description:
              "`{topic}:{orderCode}:{signer}:{attempt}-{position}`, where the last part names the record of the evidence trail.",
            example: `${topic}:${orderCodeExample}:1:1-2`,
          },
          {
            signer: Type.Integer({
              minimum: 1,
              description: "The signer's number in the order, from 1.",
              examples: [1],
            }),
            channel,
            ...orderData(signerWords[topic].status),
          },
        ),
      },
    ]),
  ),
  ...Object.fromEntries(
    recordingTopics.map((topic) => [
      topic,
      {
        description: recordingWords[topic].description,
        schema: envelope(
          topic,
          {
            description: "`{topic}:{orderCode}:{n}`, where `n` counts the order's events of the topic.",
            example: `${topic}:${orderCodeExample}:1`,
          },
          {
            orderCode: orderCode(),
            environment: environment(),
            occurredAtUtc: timestamp("When it happened."),
            startedAtUtc: timestamp("When the recording started."),
            ...recordingWords[topic].data,
            externalReference,
          },
        ),
      },
    ]),
  ),
  [testTopic]: {
    description: "A test that you asked for.",
    schema: envelope(
      testTopic,
      { description: "`webhook.test:{uuid}`.", example: `${testTopic}:${passportId}` },
      {
        webhookId: uuid("The webhook that was tested.", webhookIdExample),
        environment: environment(),
        occurredAtUtc: timestamp("When you asked."),
      },
    ),
  },
};

const headerParameter = (name: string, description: string, required = true) => ({
  name,
  in: "header",
  required,
  description,
  schema: { type: "string" },
});

/** Text in angle brackets would be read as HTML, so it is marked as code. */
const asMarkdown = (words: string) => words.replace(/t=<.*?>,v1=<.*?>/, "`$&`");

const parameters = [
  headerParameter(signatureHeader, asMarkdown(verification)),
  headerParameter(eventHeader, "The topic."),
  headerParameter(
    chainHeader,
    "`n=<position>; head=<hex>`: the event's place among all events of your firm in this environment, as in `GET /api/partner/events`. " +
      "A replay has the number of its event.",
    false,
  ),
  headerParameter(standardHeaders.id, "Standard Webhooks: the `id` of the body."),
  headerParameter(standardHeaders.timestamp, "Standard Webhooks: unix seconds."),
  headerParameter(
    standardHeaders.signature,
    "Standard Webhooks: `v1,<base64>` for each secret in use and, once you have asked for your public key, `v1a,<base64>`. The key of " +
      "`v1` is `whsec_` and the base64 of the SHA-256 of your signing secret.",
  ),
];

/** The `webhooks` section of the published description (OpenAPI 3.1). */
export const webhooksSection: Record<string, object> = Object.fromEntries(
  Object.entries(payloads).map(([topic, { description, schema }]) => {
    const post = {
      operationId: `on.${topic}`,
      // Developers look for a topic, and the published reference lists operations by their summary. So the summary is
      // the topic.
      summary: topic,
      description: `${description} The [webhooks guide](/docs/webhooks) shows how to verify it.`,
      tags: ["Events"],
      security: [],
      parameters,
      requestBody: { required: true, content: { "application/json": { schema } } },
      responses: {
        "2XX": { description: "Received. Anything else counts as failed, and is not sent again unless you replay it." },
        "4XX": { description: "Refused: the delivery failed." },
      },
    };
    return [topic, { post }];
  }),
);
