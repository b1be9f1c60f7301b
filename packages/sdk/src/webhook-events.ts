/**
 * The properties that the events of all order topics have in common. `externalReference` is absent when the order has
 * none.
 */
export type OrderEventData = {
  orderCode: string;
  status: string;
  environment: "live" | "test";
  occurredAtUtc: string;
  externalReference?: string;
};

/** The properties that the events of all topics about a signer have in common. */
export type SignerEventData = OrderEventData & {
  /** The signer's number in the order, from 1. */
  signer: number;
  /**
   * How the signer reached the signing page: `mail_link`, `embedded` (in your site), `in_person` (on a device of your
   * firm), `in_presence` or `by_audio_and_video` (with a notary). Absent in `signature.requested` and in older events;
   * the list may grow.
   */
  channel?: string;
};

/** The properties that the events of all recording topics have in common. */
export type RecordingEventData = Omit<OrderEventData, "status"> & { startedAtUtc: string };

type RecordingEnd = RecordingEventData & {
  endedAtUtc: string;
  /** SHA-256 of the recording's manifest, in hex. */
  recordingSha256: string;
};

type Envelope<Type extends string, Data> = { type: Type; id: string; data: Data };
type OrderTopic = "order.created" | "payment.cleared" | "signature.completed" | "shipment.delivered";
type SignerTopic = "signature.requested" | "signature.viewed" | "signature.signed" | "signature.declined";
type RoomData<Event extends string> = { roomCode: string; roomName: string; event: Event; occurredAtUtc: string };

/** The body of a delivery, after `verifyWebhook` accepted it. Deduplicate by `id`; more types may be added. */
export type WebhookEvent =
  | Envelope<OrderTopic, OrderEventData>
  | Envelope<SignerTopic, SignerEventData>
  | Envelope<"recording.started", RecordingEventData>
  | Envelope<"recording.completed", RecordingEnd>
  | Envelope<"recording.interrupted", RecordingEventData & { cause: string }>
  | Envelope<"recording.deleted", RecordingEnd & { reason: string }>
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
