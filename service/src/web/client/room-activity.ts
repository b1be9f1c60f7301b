import type { ActivityItem, RoomView } from "../../rooms/rooms.ts";
import { emptyState } from "../ui/components.ts";
import { day, plainTime } from "../ui/format.ts";
import { activityText, nameOf } from "../ui/orders/room-words.ts";
import { type Html, html } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";

/** What happened to an order on one day (UTC): the latest, and how much before it. */
type Fold = { latest: ActivityItem; earlier: number };

/** In the order of the list: the newest first. */
function folded(activity: readonly ActivityItem[]): Fold[] {
  const folds = new Map<string, Fold>();
  for (const item of activity) {
    const key = `${day(new Date(item.occurredAt))} ${item.orderCode}`;
    const fold = folds.get(key);
    if (fold) fold.earlier += 1;
    else folds.set(key, { latest: item, earlier: 0 });
  }
  return [...folds.values()];
}

/** What happened in a room: the latest of each day and order, or every step of it. */
export function roomActivity({ activity, orders, roomCode }: RoomView, every: boolean, reader: Reader): Html {
  const { words } = reader;
  const said = words.room.activity;
  if (activity.length === 0) return emptyState(said.none.title, said.none.text);
  const names = new Map(orders.map((order) => [order.orderCode, nameOf(order, words)]));
  const line = (item: ActivityItem, more = "") =>
    html`<li><span>${activityText(item, words)}<span class="timeline-of">${names.get(item.orderCode) ?? ""}${more}</span></span>${plainTime(new Date(item.occurredAt), words.language)}</li>`;
  const other = (query: string, text: string) =>
    html`<p class="no-print"><a href="${linkFor(reader, `/rooms/${roomCode}${query}`)}">${text}</a></p>`;
  if (every) return html`<ol class="timeline">${activity.map((item) => line(item))}</ol>${other("", said.latest)}`;
  const folds = folded(activity);
  return html`<ol class="timeline">${folds.map(({ latest, earlier }) => line(latest, earlier > 0 ? `, ${said.earlier(earlier)}` : ""))}</ol>${
    folds.some(({ earlier }) => earlier > 0) && other("?activity=all", said.every)
  }`;
}
