import type { QueuePlace } from "../../signing/notaries/notaries.ts";
import { card } from "../ui/components.ts";
import { plainTime } from "../ui/format.ts";
import { type Html, html, render } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { queueWords } from "./queue-words.ts";

export const appointmentPath = (token: string): string => `/appointments/${token}`;

export type QueueView = { token: string; place: QueuePlace; reader: Reader };

/**
 * The form that requests a meeting with a notary at once, or the client's position in the queue. htmx refreshes this
 * part while people wait.
 */
export function queuePart(view: QueueView): Html {
  const { token, place, reader } = view;
  const words = queueWords[reader.words.language];
  const path = linkFor(reader, `${appointmentPath(token)}/now`);
  const seconds = secondsOf(place);
  const waits = seconds !== null;
  const title = place.state === "booked" || place.state === "open" ? words.room : words.title;
  return html`<div id="now"${waits && html` hx-get="${path}" hx-trigger="every ${seconds}s" hx-swap="outerHTML"`}>
${card("now", title, html`<div aria-live="polite">${linesOf(view)}</div>${actionOf(view)}${waits && html`<p class="without-script">${reader.words.reload}</p>`}`)}</div>`;
}

/**
 * The polling interval of the page, in seconds. Null for an offer, an open room or an expired request, because then the
 * reader must act next.
 */
function secondsOf(place: QueuePlace): number | null {
  if (place.state === "waiting" || place.state === "taken") return 5;
  if (place.state !== "booked") return null;
  return place.isSoon ? 5 : 60;
}

export const queueFragment = (view: QueueView): string => render(queuePart(view));

function linesOf({ place, reader }: QueueView): Html {
  const { language } = reader.words;
  const words = queueWords[language];
  if (place.state === "offered") return html`<p>${words.offer}</p>`;
  if (place.state === "taken") return html`<p><strong>${words.accepted(place.notary || words.aNotary)}</strong></p>`;
  if (place.state === "open") return html`<p><strong>${words.open}</strong></p>`;
  if (place.state === "expired") return html`<p>${words.expired}</p>`;
  if (place.state === "booked") return html`<p>${words.booked}</p>`;
  const [before = "", after = ""] = words.until("\u0000").split("\u0000");
  return html`<p><strong>${words.place(place.place)}</strong></p><p>${estimateText(place, reader)}</p>
<p class="quiet-text">${before}${plainTime(place.until, language)}${after}</p>`;
}

function estimateText({ estimate }: QueuePlace & { state: "waiting" }, reader: Reader): string {
  const words = queueWords[reader.words.language];
  return estimate.kind === "minutes" ? words.minutes(estimate.minutes, estimate.sessions) : words[estimate.kind];
}

function actionOf({ token, place, reader }: QueueView): Html {
  const words = queueWords[reader.words.language];
  const path = `${appointmentPath(token)}/now`;
  const button = (action: string, label: string, kind = "") =>
    html`<form method="post" action="${linkFor(reader, action)}"><div class="form-actions"><button type="submit" class="${kind}">${label}</button></div></form>`;
  if (place.state === "waiting") return button(`${path}/leave`, words.leave, "quiet-button");
  if (place.state === "open")
    return html`<p><a class="button" href="${linkFor(reader, place.room)}">${words.enter}</a></p>`;
  const mayAsk = place.state === "offered" || (place.state === "expired" && place.isOffered);
  return mayAsk ? button(path, words.ask) : html``;
}
