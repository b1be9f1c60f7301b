import type { ActivityItem, RoomView } from "../../rooms/rooms.ts";
import { emptyState } from "../ui/components.ts";
import { activityText, nameOf } from "../ui/orders/room-words.ts";
import { type Html, html } from "../ui/render.ts";
import { dayIn, timeIn } from "../ui/words/dates.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import type { Words } from "../ui/words/words.ts";

/** What happened to an order on one day (UTC): the latest, and how much before it. */
type Fold = { latest: ActivityItem; earlier: number };

/** By day and by order, in the order of the list: the newest first. */
function folded(activity: readonly ActivityItem[], { language }: Words): Map<string, Fold[]> {
  const days = new Map<string, Fold[]>();
  for (const item of activity) {
    const name = dayIn(language, new Date(item.occurredAt));
    const folds = days.get(name) ?? [];
    const fold = folds.find(({ latest }) => latest.orderCode === item.orderCode);
    if (fold) fold.earlier += 1;
    else folds.push({ latest: item, earlier: 0 });
    days.set(name, folds);
  }
  return days;
}

/** What happened in a room: the latest of each day and order, or every step of it. */
export function roomActivity({ activity, orders, roomCode }: RoomView, every: boolean, reader: Reader): Html {
  const { words } = reader;
  const said = words.room.activity;
  if (activity.length === 0) return emptyState(said.none.title, said.none.text);
  const names = new Map(orders.map((order) => [order.orderCode, nameOf(order, words)]));
  const line = (item: ActivityItem, more = "") =>
    html`<li><span>${activityText(item, words)}<span class="timeline-of">${names.get(item.orderCode) ?? ""}${more}</span></span>${timeIn(words.language, new Date(item.occurredAt))}</li>`;
  const other = (query: string, text: string) =>
    html`<p class="no-print"><a href="${linkFor(reader, `/rooms/${roomCode}${query}`)}">${text}</a></p>`;
  if (every) return html`<ol class="timeline">${activity.map((item) => line(item))}</ol>${other("", said.latest)}`;
  const days = [...folded(activity, words)];
  const isFolded = days.some(([, folds]) => folds.some(({ earlier }) => earlier > 0));
  return html`${days.map(
    ([name, folds]) =>
      html`<h3 class="timeline-day">${name}</h3><ol class="timeline">${folds.map(({ latest, earlier }) => line(latest, earlier > 0 ? `, ${said.earlier(earlier)}` : ""))}</ol>`,
  )}${isFolded && other("?activity=all", said.every)}`;
}
