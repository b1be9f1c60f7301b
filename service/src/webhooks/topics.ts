/** Topics of orders; their payloads share one shape (contract, Events). */
export const orderTopics = ["order.created", "payment.cleared", "signature.completed", "shipment.delivered"] as const;

/** The topics that a subscription may choose (contract, Events). */
export const topics = ["passport.sealed", "room.order_attached", "room.passport_sealed", ...orderTopics] as const;

export type Topic = (typeof topics)[number];

/** Sent on request alone, to one subscription. */
export const testTopic = "webhook.test";

export const isTopic = (value: unknown): value is Topic => topics.some((topic) => topic === value);

export const isOrderTopic = (topic: string): boolean => orderTopics.some((each) => each === topic);
