import { type FaxAttempt, type FaxState, reasonWords } from "../../../delivery/faxing/faxing.ts";
import type { OrderHistory } from "../../../orders/fulfilment/fulfilment.ts";
import type { OrderRecord } from "../../../upkeep/console/console.ts";
import { statusBadge, type Tone } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";

const states: Readonly<Record<FaxState, readonly [Tone, string]>> = {
  waiting: ["waiting", "Not sent yet"],
  withdrawn: ["waiting", "Not sent"],
  refused: ["attention", "Not taken"],
  queued: ["waiting", "At Telnyx"],
  "media.processed": ["waiting", "At Telnyx"],
  originated: ["waiting", "Calling"],
  sending: ["waiting", "Sending"],
  failed: ["attention", "Failed"],
  delivered: ["done", "Delivered"],
};

/** The faxes of an order, and each attempt by Telnyx. */
export const faxList = (faxes: OrderHistory["faxes"], attempts: readonly FaxAttempt[]): Html =>
  html`${
    faxes.length > 0 &&
    html`<ul class="plain-list">${faxes.map(
      ({ status, faxTo, sentAt, deliveredAt }) =>
        html`<li>${faxTo}: ${status}, sent ${time(new Date(sentAt))}${deliveredAt !== null && html`, delivered ${time(new Date(deliveredAt))}`}</li>`,
    )}</ul>`
  }${attempts.length > 0 && html`<h3>Attempts by Telnyx</h3><ol class="plain-list">${attempts.map(attemptLine)}</ol>`}`;

function attemptLine({ attempt, state, reason, pages, seconds, dueAt, endedAt }: FaxAttempt): Html {
  const [tone, label] = states[state];
  const why = state === "failed" ? reasonWords(reason) : reason;
  const lines = [
    pages !== null && `${pages} ${pages === 1 ? "page" : "pages"} confirmed`,
    seconds !== null && `${seconds} seconds`,
    state !== "delivered" && why,
  ].filter((each) => typeof each === "string");
  return html`<li>Attempt ${attempt} ${statusBadge(tone, label)} ${lines.join(", ")}${state === "waiting" && html` due ${time(dueAt)}`}${endedAt && html` ${time(endedAt)}`}</li>`;
}

type Letter = OrderRecord["letters"][number];

const words: Readonly<Record<Letter["stage"], string>> = {
  accepted: "to be printed",
  mailed: "mailed",
  delivered: "delivered",
  returned: "returned to its sender",
  failed: "not printed or mailed",
  cancelled: "canceled",
};

/** The letters of an order that Lob accepted, in all their states. */
export const letterList = (letters: readonly Letter[]): Html =>
  html`<ul class="plain-list">${letters.map(letterItem)}</ul>`;

function letterItem({ className, letterId, stage, trackingNumber, acceptedAt, ...letter }: Letter): Html {
  const { mailedAt, endedAt, expectedDelivery, pages, doubleSided } = letter;
  const isUnderWay = stage === "accepted" || stage === "mailed";
  const tracking = trackingNumber !== null && html`Tracking <span class="breakable">${trackingNumber}</span>. `;
  const mailed = mailedAt && html`, mailed ${time(mailedAt)}`;
  const expected = isUnderWay && expectedDelivery !== null && `, expected on ${expectedDelivery}`;
  const print = `${pages} ${pages === 1 ? "page" : "pages"} in color, printed on ${doubleSided ? "both sides" : "one side"}.`;
  return html`<li><strong>${className}</strong>: ${words[stage]}${endedAt && html` ${time(endedAt)}`}
<p class="quiet">${tracking}At Lob <span class="breakable">${letterId}</span>, accepted ${time(acceptedAt)}${mailed}${expected}. ${print}</p></li>`;
}
