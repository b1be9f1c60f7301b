/** Topics of orders; their payloads share one shape (contract, Events). */
export const orderTopics = ["order.created", "payment.cleared", "signature.completed", "shipment.delivered"] as const;

/** Topics about one of an order's signers. */
export const signerTopics = [
  "signature.requested",
  "signature.viewed",
  "signature.signed",
  "signature.declined",
] as const;

/**
 * Topics about the recordings of an order's sessions with a notary. The contract reserves this family of topics; their
 * names and payloads are this service's own.
 */
export const recordingTopics = [
  "recording.started",
  "recording.completed",
  "recording.interrupted",
  "recording.deleted",
] as const;

/** The topics that a subscription may choose (contract, Events). */
export const topics = [
  "passport.sealed",
  "room.order_attached",
  "room.passport_sealed",
  ...orderTopics,
  ...signerTopics,
  ...recordingTopics,
] as const;

export type Topic = (typeof topics)[number];

/** The topic of a test event, which is sent only on request and to one subscription. */
export const testTopic = "webhook.test";

export const isTopic = (value: unknown): value is Topic => topics.some((topic) => topic === value);

export const isSignerTopic = (topic: string): boolean => signerTopics.some((each) => each === topic);

export const isRecordingTopic = (topic: string): boolean => recordingTopics.some((each) => each === topic);

/** True if payloads of the topic contain an order's status. */
export const isOrderTopic = (topic: string): boolean =>
  orderTopics.some((each) => each === topic) || isSignerTopic(topic);
