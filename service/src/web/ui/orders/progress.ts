import type { RoomView } from "../../../rooms/rooms.ts";
import { type Html, html } from "../render.ts";

/** How many orders there are. */
export const orderCount = ({ total }: RoomView["progress"]): string => (total === 1 ? "1 order" : `${total} orders`);

function meter(id: string, label: string, count: number, of: number): Html {
  const text = of === 0 ? "None needed" : `${count} of ${of}`;
  return html`<li><span class="meter-label" id="${id}">${label}</span><span class="meter-count">${text}</span>${
    of > 0 && html`<progress value="${count}" max="${of}" aria-labelledby="${id}">${text}</progress>`
  }</li>`;
}

/** How far the orders of a room have come. */
export function progressMeters({ progress, orders }: Pick<RoomView, "progress" | "orders">): Html {
  if (progress.total === 0) return html``;
  const toSign = orders.filter(({ signers }) => signers.length > 0).length;
  return html`<ul class="meters">
${meter("meter-signed", "Signed", progress.signed, toSign)}
${meter("meter-sealed", "Sealed", progress.sealed, progress.total)}
${meter("meter-delivered", "Delivered or complete", progress.delivered, progress.total)}
</ul>`;
}
