import type { RoomView } from "../../../rooms/rooms.ts";
import { type Html, html } from "../render.ts";
import { en } from "../words/en/en.ts";
import type { RoomWords, Words } from "../words/words.ts";

/** How many orders there are. */
export const orderCount = ({ total }: RoomView["progress"], { room }: Pick<Words, "room"> = en): string =>
  room.orderCount(total);

function meter(id: string, label: string, count: number, of: number, words: RoomWords["meters"]): Html {
  const text = of === 0 ? words.none : words.of(count, of);
  return html`<li><span class="meter-label" id="${id}">${label}</span><span class="meter-count">${text}</span>${
    of > 0 && html`<progress value="${count}" max="${of}" aria-labelledby="${id}">${text}</progress>`
  }</li>`;
}

/** How far the orders of a room have come. */
export function progressMeters(
  { progress, orders }: Pick<RoomView, "progress" | "orders">,
  { room: { meters } }: Pick<Words, "room"> = en,
): Html {
  if (progress.total === 0) return html``;
  const toSign = orders.filter(({ signers }) => signers.length > 0).length;
  return html`<ul class="meters">
${meter("meter-signed", meters.signed, progress.signed, toSign, meters)}
${meter("meter-sealed", meters.sealed, progress.sealed, progress.total, meters)}
${meter("meter-delivered", meters.delivered, progress.delivered, progress.total, meters)}
</ul>`;
}
