import type { RoomView } from "../../../closing/rooms/rooms.ts";
import { type Html, html } from "../render.ts";
import { en, type Words } from "../words/en/en.ts";

type Card = RoomView["orders"][number];

const endings: ReadonlySet<string> = new Set(["Cancelled", "RefundPending", "Refunded"]);

/** Whether the order has ended. */
const isOver = ({ status }: Card): boolean => endings.has(status);

/** The number of orders in the room. */
export const inThisRoom = ({ orders }: Pick<RoomView, "orders">, { room }: Pick<Words, "room"> = en): string =>
  room.inThisRoom(orders.length, orders.filter(isOver).length);

function meter(id: string, label: string, count: number, of: number, words: Words["room"]["meters"]): Html {
  const text = of === 0 ? words.none : words.of(count, of);
  return html`<li><span class="meter-label" id="${id}">${label}</span><span class="meter-count">${text}</span>${
    of > 0 && html`<progress value="${count}" max="${of}" aria-labelledby="${id}">${text}</progress>`
  }</li>`;
}

/** Meters that show how many of a room's orders have passed each step. Also counts orders that ended after the step. */
export function progressMeters(
  { progress, orders }: Pick<RoomView, "progress" | "orders">,
  { room: { meters } }: Pick<Words, "room"> = en,
): Html {
  if (progress.total === 0) return html``;
  const going = orders.filter((card) => !isOver(card));
  const toCome = {
    signed: going.filter(({ signers }) => signers.some(({ signed }) => !signed)).length,
    sealed: going.filter(({ evidenceBadge }) => evidenceBadge !== "sealed").length,
    delivered: going.length - progress.delivered,
  };
  const names = ["signed", "sealed", "delivered"] as const;
  return html`<ul class="meters">
${names.map((name) => meter(`meter-${name}`, meters[name], progress[name], progress[name] + toCome[name], meters))}
</ul>`;
}
