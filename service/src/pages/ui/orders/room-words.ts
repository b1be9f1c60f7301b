import type { ActivityItem, OrderCard } from "../../../closing/rooms/rooms.ts";
import type { Titled, TitleOf } from "../../../orders/order/order.ts";
import { shortCode } from "../format.ts";
import { en, type Words } from "../words/en/en.ts";
import { statusWords } from "./status-words.ts";

/** The name of an order in its room. */
export const nameOf = (
  { label, orderCode }: Pick<OrderCard, "label" | "orderCode">,
  { orders }: Pick<Words, "orders"> = en,
): string => label ?? orders.unnamed(shortCode(orderCode));

/**
 * The name of a document whose record may have been altered. A title that somebody altered can't be decrypted, so the
 * name then contains the order's short code instead.
 */
export function nameOfAltered(titleOf: TitleOf, document: Titled & { label: string | null }): string {
  const { label, code: orderCode } = document;
  try {
    return label ?? titleOf(document) ?? nameOf({ label, orderCode });
  } catch {
    return nameOf({ label, orderCode });
  }
}

const services = ["sign", "notarize", "ship", "fax"] as const;

/** The services of an order, such as `Sign, notarize, ship`. If it has none yet, a text says so. */
export function servicesText(bought: OrderCard["services"], { room }: Pick<Words, "room"> = en): string {
  const names = services.filter((service) => bought[service]).map((service) => room.services[service]);
  return names.length === 0 ? room.services.none : names.map((name, i) => (i ? name.toLowerCase() : name)).join(", ");
}

/** The text of a timeline entry: what happened to its order. */
export function activityText({ action, toStatus }: ActivityItem, words: Words = en): string {
  const { actions, changed } = words.room.activity;
  if (action === "order.transition") return toStatus === null ? changed : statusWords(toStatus, words).label;
  return Object.entries(actions).find(([name]) => name === action)?.[1] ?? action;
}
