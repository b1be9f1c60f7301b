import type { OrderStatus, PeopleEvent } from "../../../orders/order/order.ts";

/** EasyPost's statuses of a parcel (docs.easypost.com, Tracker). */
export const trackingStatuses = [
  "unknown",
  "pre_transit",
  "in_transit",
  "out_for_delivery",
  "available_for_pickup",
  "delivered",
  "return_to_sender",
  "failure",
  "cancelled",
  "error",
] as const;

export type TrackingStatus = (typeof trackingStatuses)[number];

export const isTrackingStatus = (text: string): text is TrackingStatus =>
  trackingStatuses.some((each) => each === text);

/** All statuses that were reported about a parcel. A set, because order and repetition don't matter. */
export type Seen = ReadonlySet<TrackingStatus>;

const byCarrier: readonly TrackingStatus[] = [
  "in_transit",
  "out_for_delivery",
  "available_for_pickup",
  "delivered",
  "return_to_sender",
];

/** True if the carrier has received the parcel. */
export const isHandedOver = (seen: Seen): boolean => byCarrier.some((status) => seen.has(status));

/**
 * True if the parcel was delivered, or goes back to the sender. A failed delivery is not final, because a later attempt
 * may succeed.
 */
export const isFinal = (seen: Seen): boolean => seen.has("return_to_sender") || seen.has("delivered");

/**
 * The outcome of a parcel. For a returned parcel, the carrier's last report is a delivery to the sender. The outcome of
 * such a parcel is still `failed`.
 */
export function parcelOutcome(seen: Seen): "delivered" | "failed" | "on_its_way" | "waiting" {
  if (seen.has("return_to_sender")) return "failed";
  if (seen.has("delivered")) return "delivered";
  if (seen.has("failure")) return "failed";
  return isHandedOver(seen) ? "on_its_way" : "waiting";
}

type ShippingEvent = Extract<PeopleEvent, "shipped" | "delivered" | "shipping_failed" | "shipping_retried">;

/**
 * The events, in sequence, that move an order to the status that fits its parcel. Empty when the order already has that
 * status, or is not being shipped.
 */
export function eventsToFollow(orderStatus: OrderStatus, seen: Seen): ShippingEvent[] {
  const outcome = parcelOutcome(seen);
  if (orderStatus === "ShippingPending") {
    const shipped: ShippingEvent[] = isHandedOver(seen) ? ["shipped"] : [];
    if (outcome === "delivered") return ["shipped", "delivered"];
    return outcome === "failed" ? [...shipped, "shipping_failed"] : shipped;
  }
  if (orderStatus === "Shipped") {
    if (outcome === "delivered") return ["delivered"];
    return outcome === "failed" ? ["shipping_failed"] : [];
  }
  // The carrier delivered the parcel after the order's shipping was recorded as failed.
  if (orderStatus === "ShippingFailed" && outcome === "delivered") return ["shipping_retried", "shipped", "delivered"];
  return [];
}

const reasons: Readonly<Partial<Record<TrackingStatus, string>>> = {
  return_to_sender: "The carrier returns the parcel to the sender.",
  failure: "The carrier could not deliver the parcel.",
};

/** The reason why shipping failed, in plain words. */
export const failureReason = (seen: Seen): string =>
  (seen.has("return_to_sender") ? reasons.return_to_sender : reasons.failure) ?? "";

/**
 * The reason why staff must look into the new reports. Null without such a reason, and when the order's status already
 * shows the reason.
 * @param newReports the reports that were not known before
 * @param seen all reports, including the new ones
 * @param orderStatus the order's status after the reports moved it
 * @param isReturned whether a refund of the label was requested
 */
export function followUpOf(newReports: Seen, seen: Seen, orderStatus: OrderStatus, isReturned: boolean): string | null {
  if (newReports.has("return_to_sender") && orderStatus !== "ShippingFailed")
    return seen.has("delivered") ? "The parcel came back after it was delivered." : failureReason(newReports);
  if (newReports.has("error")) return "The carrier’s records of the parcel can’t be had.";
  if (newReports.has("cancelled") && !isReturned) return "The carrier says that the label was cancelled.";
  return null;
}
