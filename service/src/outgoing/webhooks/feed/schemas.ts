import { type Static, Type } from "typebox";
import { nullable, orderCodeExample, requestId, sha256, text, timestamp } from "../../../kernel/http/schema-parts.ts";

const payloadExample = {
  type: "order.created",
  id: `order.created:${orderCodeExample}`,
  data: {
    orderCode: orderCodeExample,
    status: "QuoteReady",
    environment: "test",
    occurredAtUtc: "2026-03-04T15:06:07.089Z",
  },
};

const payload = Type.Record(Type.String(), Type.Unknown(), {
  description:
    "The body that a webhook is sent, made from today's records. Null when the record that it was about is gone.",
  examples: [payloadExample],
});

export const FeedEvent = Type.Object(
  {
    position: Type.Integer({
      description: "Its place among all events of your firm in this environment: 1, 2, 3, without a gap.",
      examples: [1],
    }),
    head: sha256(
      "The head of the chain at this event, as in the header `Service-Chain`: it covers this event and all before it.",
    ),
    type: text("The topic.", "order.created"),
    id: text("The `id` of the payload. De-duplicate by it.", payloadExample.id),
    occurredAtUtc: timestamp("When it happened."),
    payload: nullable(payload),
  },
  { $id: "WebhookEvent", description: "An event, with what a webhook is sent of it." },
);
export type FeedEvent = Static<typeof FeedEvent>;

export const EventFeed = Type.Object(
  {
    events: Type.Array(Type.Unsafe<FeedEvent>({ $ref: "WebhookEvent#" }), {
      maxItems: 100,
      description: "The events after the cursor, oldest first.",
    }),
    cursor: text("Send it as `cursor` with the next call. There always is one.", "1"),
    requestId: requestId(),
  },
  { $id: "WebhookEventFeed", description: "A part of your events." },
);
