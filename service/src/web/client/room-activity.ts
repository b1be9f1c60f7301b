import type { ActivityItem, RoomView } from "../../rooms/rooms.ts";
import { emptyState } from "../ui/components.ts";
import { day, time } from "../ui/format.ts";
import { activityText, nameOf } from "../ui/orders/room-words.ts";
import { type Html, html } from "../ui/render.ts";

/** What happened to an order on one day (UTC): the latest, and how much before it. */
type Fold = { latest: ActivityItem; earlier: number };

/** By day and by order, in the order of the list: the newest first. */
export function folded(activity: readonly ActivityItem[]): Map<string, Fold[]> {
  const days = new Map<string, Fold[]>();
  for (const item of activity) {
    const name = day(new Date(item.occurredAt));
    const folds = days.get(name) ?? [];
    const fold = folds.find(({ latest }) => latest.orderCode === item.orderCode);
    if (fold) fold.earlier += 1;
    else folds.push({ latest: item, earlier: 0 });
    days.set(name, folds);
  }
  return days;
}

/** What happened in a room: the latest of each day and order, or every step of it. */
export function roomActivity({ activity, orders, roomCode }: RoomView, every: boolean): Html {
  if (activity.length === 0) return emptyState("No activity yet", "Changes to the orders are listed here.");
  const names = new Map(orders.map((order) => [order.orderCode, nameOf(order)]));
  const line = (item: ActivityItem, more: Html | "" = "") =>
    html`<li><span>${activityText(item)}<span class="timeline-of">${names.get(item.orderCode) ?? ""}${more}</span></span>${time(new Date(item.occurredAt))}</li>`;
  if (every)
    return html`<ol class="timeline">${activity.map((item) => line(item))}</ol><p class="no-print"><a href="/rooms/${roomCode}">Show the latest of each day</a></p>`;
  const days = [...folded(activity)];
  const isFolded = days.some(([, folds]) => folds.some(({ earlier }) => earlier > 0));
  return html`${days.map(
    ([name, folds]) =>
      html`<h3 class="timeline-day">${name}</h3><ol class="timeline">${folds.map(({ latest, earlier }) => line(latest, earlier > 0 ? html`, after ${earlier === 1 ? "1 earlier step" : `${earlier} earlier steps`}` : ""))}</ol>`,
  )}${isFolded && html`<p class="no-print"><a href="/rooms/${roomCode}?activity=all">Show every step</a></p>`}`;
}
