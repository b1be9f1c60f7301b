import { Type } from "typebox";
import { nullable, requestId, text, timestamp, uuid } from "../../../kernel/http/schema-parts.ts";
import { deliveryIdExample } from "../schemas.ts";

const headers = (description: string, example: Record<string, string>) =>
  Type.Record(Type.String(), Type.String(), { description, examples: [example] });

const response = Type.Object(
  {
    statusCode: Type.Integer({ description: "The status of the answer.", examples: [500] }),
    headers: headers("Its first headers: at most 50, of at most 4 KiB in all.", { "content-type": "text/plain" }),
    body: text("The first 4 KiB of its body, as UTF-8.", "database is away"),
    isCut: Type.Boolean({ description: "Whether there was more of the body.", examples: [false] }),
  },
  { description: "What your endpoint answered; null when no answer came, or it is no longer kept." },
);

const payload = Type.Object(
  {
    text: text("The body, rebuilt from the records: bodies are not stored.", '{"type":"order.created"}'),
    isAsSent: nullable(
      Type.Boolean({ examples: [true] }),
      "True when its SHA-256 is that of the body that was sent; false when the records have changed since; null when nothing was sent, or its hash is no longer kept.",
    ),
  },
  {
    description:
      "The body; null when the record that it was about is gone, or the event is not what the service wrote.",
  },
);

export const DeliveryExchange = Type.Object(
  {
    deliveryId: uuid("The delivery's id.", deliveryIdExample),
    failure: nullable(Type.String({ examples: ["Answered 500"] }), "Why it failed, in words; null unless it did."),
    request: Type.Object(
      {
        headers: headers("The headers that were sent; empty when nothing was sent, or they are no longer kept.", {
          "Service-Event": "order.created",
        }),
        payload: nullable(payload),
      },
      { description: "What was sent." },
    ),
    response: nullable(response),
    requestId: requestId(),
  },
  { $id: "WebhookExchange", description: "What was sent in one delivery, and what was answered." },
);

export const ReplayFailed = Type.Object(
  {
    since: Type.String({
      format: "date-time",
      description: "Events that were first sent from then on.",
      examples: ["2026-03-04T00:00:00Z"],
    }),
    until: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "Events that were first sent, and failed, before then. Left out: now. With the next call send the `until` of the answer.",
        examples: ["2026-03-05T00:00:00.000Z"],
      }),
    ),
  },
  { $id: "ReplayFailed", description: "What to send again." },
);

export const FailedReplayed = Type.Object(
  {
    replayed: Type.Integer({ description: "How many events are on their way again.", examples: [17] }),
    left: Type.Integer({ description: "How many are left for another call.", examples: [0] }),
    until: timestamp("The end of the period: send it with the next call."),
    requestId: requestId(),
  },
  { $id: "FailedReplayed", description: "What was sent again." },
);
