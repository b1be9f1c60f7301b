import type { PeopleEvent } from "../../orders/orders.ts";

/** What EasyPost says of a parcel (docs.easypost.com, Tracker). */
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

/** All that was ever said of a parcel. A set: it is the same in whatever order, and however often, its members came. */
export type Seen = ReadonlySet<TrackingStatus>;

const byCarrier: readonly TrackingStatus[] = [
  "in_transit",
  "out_for_delivery",
  "available_for_pickup",
  "delivered",
  "return_to_sender",
];

/** Whether the carrier has had the parcel. */
export const isHandedOver = (seen: Seen): boolean => byCarrier.some((status) => seen.has(status));

/** Whether nothing more will be said of the parcel that matters. What failed may still be delivered. */
export const isFinal = (seen: Seen): boolean => seen.has("return_to_sender") || seen.has("delivered");

/** What became of the parcel. One that came back was not delivered: the last scan of it is at the sender's door. */
export function parcelOutcome(seen: Seen): "delivered" | "failed" | "on_its_way" | "waiting" {
  if (seen.has("return_to_sender")) return "failed";
  if (seen.has("delivered")) return "delivered";
  if (seen.has("failure")) return "failed";
  return isHandedOver(seen) ? "on_its_way" : "waiting";
}

type ShippingEvent = Extract<PeopleEvent, "shipped" | "delivered" | "shipping_failed" | "shipping_retried">;

/** The events that bring an order to where its parcel is. None where the order stands elsewhere, or is there already. */
export function eventsToFollow(orderStatus: string, seen: Seen): ShippingEvent[] {
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
  // A delivery that failed once, or was thought to, and then came about.
  if (orderStatus === "ShippingFailed" && outcome === "delivered") return ["shipping_retried", "shipped", "delivered"];
  return [];
}

const reasons: Readonly<Partial<Record<TrackingStatus, string>>> = {
  return_to_sender: "The carrier returns the parcel to the sender.",
  failure: "The carrier could not deliver the parcel.",
};

/** Why shipping failed, in words for people. */
export const failureReason = (seen: Seen): string =>
  (seen.has("return_to_sender") ? reasons.return_to_sender : reasons.failure) ?? "";

/**
 * What a person has to look after that the order's way does not show, of what was said for the first time; null for nothing.
 * @param seen all that was said, the news among it
 * @param orderStatus after the order followed
 */
export function followUpOf(news: Seen, seen: Seen, orderStatus: string, isGivenBack: boolean): string | null {
  if (news.has("return_to_sender") && orderStatus !== "ShippingFailed")
    return seen.has("delivered") ? "The parcel came back after it was delivered." : failureReason(news);
  if (news.has("error")) return "The carrier’s records of the parcel can’t be had.";
  if (news.has("cancelled") && !isGivenBack) return "The carrier says that the label was cancelled.";
  return null;
}
