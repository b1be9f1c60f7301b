import { type FaxAttempt, type FaxState, reasonWords } from "../../../faxing/faxing.ts";
import type { OrderHistory } from "../../../fulfilment/fulfilment.ts";
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

/** What an order's record says of its faxes, and each attempt of Telnyx's. */
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
  const told = [
    pages !== null && `${pages} ${pages === 1 ? "page" : "pages"} confirmed`,
    seconds !== null && `${seconds} seconds`,
    state !== "delivered" && why,
  ].filter((each) => typeof each === "string");
  return html`<li>Attempt ${attempt} ${statusBadge(tone, label)} ${told.join(", ")}${state === "waiting" && html` due ${time(dueAt)}`}${endedAt && html` ${time(endedAt)}`}</li>`;
}
