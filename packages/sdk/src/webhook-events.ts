/** What every order topic tells. `externalReference` is left out when none was sent with the order. */
export type OrderEventData = {
  orderCode: string;
  status: string;
  environment: "live" | "test";
  occurredAtUtc: string;
  externalReference?: string;
};

type Envelope<Type extends string, Data> = { type: Type; id: string; data: Data };
type OrderTopic = "order.created" | "payment.cleared" | "signature.completed" | "shipment.delivered";
type RoomData<Event extends string> = { roomCode: string; roomName: string; event: Event; occurredAtUtc: string };

/** The body of a delivery, once `verifyWebhook` has accepted it. De-duplicate by `id`; expect further types. */
export type WebhookEvent =
  | Envelope<OrderTopic, OrderEventData>
  | Envelope<
      "passport.sealed",
      {
        passportId: string;
        verifyCode: string;
        verifyUrl: string;
        docSha256: string;
        sealedSha256: string;
        status: "sealed";
        sealedAtUtc: string;
        environment: "live" | "test";
      }
    >
  | Envelope<"room.order_attached", RoomData<"room.order_attached"> & { orderCode: string }>
  | Envelope<"room.passport_sealed", RoomData<"room.passport_sealed"> & { passportVerifyCode: string }>
  | Envelope<"webhook.test", { webhookId: string; environment: "live" | "test"; occurredAtUtc: string }>;
