import type { OrderRecord } from "../../../console/console.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";

type Letter = OrderRecord["letters"][number];

const words: Readonly<Record<Letter["stage"], string>> = {
  accepted: "to be printed",
  mailed: "mailed",
  delivered: "delivered",
  returned: "returned to its sender",
  failed: "not printed or mailed",
  cancelled: "canceled",
};

/** What Lob printed and mailed for an order. */
export const letterList = (letters: readonly Letter[]): Html =>
  html`<ul class="plain-list">${letters.map(letterItem)}</ul>`;

function letterItem({ className, letterId, stage, trackingNumber, acceptedAt, ...letter }: Letter): Html {
  const { mailedAt, endedAt, expectedDelivery, pages, doubleSided } = letter;
  const isUnderWay = stage === "accepted" || stage === "mailed";
  return html`<li><strong>${className}</strong>: ${words[stage]}${endedAt && html` ${time(endedAt)}`}
<p class="quiet">${trackingNumber !== null && html`Tracking <span class="breakable">${trackingNumber}</span>. `}At Lob <span class="breakable">${letterId}</span>, accepted ${time(acceptedAt)}${mailedAt && html`, mailed ${time(mailedAt)}`}${isUnderWay && expectedDelivery !== null && html`, expected on ${expectedDelivery}`}. ${pages} ${pages === 1 ? "page" : "pages"} in color, printed on ${doubleSided ? "both sides" : "one side"}.</p></li>`;
}
