import type { ActivityItem, OrderCard } from "../../../rooms/rooms.ts";
import { statusWords } from "./status-words.ts";

/** What an order is called in its room. */
export const nameOf = ({ label, orderCode }: Pick<OrderCard, "label" | "orderCode">): string =>
  label ?? `Order ${orderCode.slice(0, 6).toUpperCase()}`;

const serviceNames = { sign: "Sign", notarize: "Notarize", ship: "Ship", fax: "Fax" } as const;

/** `Sign, notarize, ship`, or that nothing was bought yet. */
export function servicesText(services: OrderCard["services"]): string {
  const names = Object.entries(serviceNames).flatMap(([key, name]) =>
    services[key as keyof typeof serviceNames] ? [name] : [],
  );
  return names.length === 0 ? "Document workflow" : names.map((name, i) => (i ? name.toLowerCase() : name)).join(", ");
}

/** What a line of the timeline says of its order. */
export function activityText({ action, toStatus }: ActivityItem): string {
  switch (action) {
    case "order.created":
      return "Order placed";
    case "order.transition":
      return toStatus === null ? "Status changed" : statusWords(toStatus).label;
    case "order.claimed":
      return "Claimed by the client";
    case "order.cancelled":
      return "Order cancelled";
    case "signing_link.issued":
      return "Signing link sent";
    case "room.order_attached":
      return "Added to this room";
    default:
      return action;
  }
}
