import {
  type Appointment,
  type appointmentOf,
  bookingWords,
  guestWords,
  type QueuePlace,
  slotText,
  whenText,
} from "../../signing/notaries/notaries.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, facts, notice, pageHead } from "../ui/components.ts";
import { select } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { ownDeviceCheck } from "../ui/live/parts.ts";
import { liveWords } from "../ui/live/words/languages.ts";
import { type Html, html } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { type AppointmentWords, appointmentWords } from "./appointment-words.ts";
import { devicePath } from "./device-routes.ts";
import { appointmentPath, queuePart } from "./queue-part.ts";

export type AppointmentView = {
  token: string;
  found: Awaited<ReturnType<typeof appointmentOf>>;
  /**
   * The person's place in the queue, or the offer to join it, or the room that is open. Null when the page shows none
   * of these.
   */
  now: QueuePlace | null;
  /** True if the page offers the device check. */
  hasDeviceCheck: boolean;
  reader: Reader;
  error?: string | null;
};

/**
 * The appointment page of an order. A person who must appear before the notary can book, move and cancel the
 * appointment here. Guests, such as witnesses, see only the appointment and the way into the open room. People who send
 * media can also check their device.
 */
export function appointmentPage(assets: Pick<Assets, "url">, view: AppointmentView): string {
  const { token, found, now, hasDeviceCheck, reader, error } = view;
  const { language } = reader.words;
  const words = appointmentWords[language];
  const { appointment, offers, guest } = found;
  const body = html`<div class="stack">
${pageHead(words.title, words.lead)}
${guest && card("guest", guestWords[language].title, html`<p>${guestWords[language].roles[guest.role]}</p>${!appointment && html`<p>${guestWords[language].none}</p>`}<p>${guestWords[language].change}</p>`)}
${error && html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">${words.refused}</p><p>${error}</p></div>`}
${now && queuePart({ token, place: now, reader })}
${appointment && card("booked", words.booked, bookedPart(view, words))}
${hasDeviceCheck && ownDeviceCheck(devicePath(token), liveWords[language])}
${!found.isFixed && card("times", appointment ? words.move : words.choose, offers.length === 0 ? html`<p>${words.none}</p>` : form(view, words))}
</div>`;
  const isAnswer = error !== undefined && error !== null;
  return layout(assets, {
    ...clientFrame(reader.words),
    // The page that shows a rejected form has no links to other languages, because following such a link would lose the
    // error.
    ...(isAnswer && { headerNav: html`` }),
    unlisted: true,
    title: words.title,
    scripts: [...(now ? (["htmx.js"] as const) : []), ...(hasDeviceCheck ? (["own-device.js"] as const) : [])],
    body,
  });
}

function bookedPart(
  { token, found: { appointment, isFixed, guest }, reader }: AppointmentView,
  words: AppointmentWords,
): Html {
  if (!appointment) return html``;
  const { language } = reader.words;
  const { modes, when } = bookingWords[language];
  const about = facts([
    [when, whenText(appointment.startsAt, appointment.zone, language)],
    [modes[appointment.mode], pointOf(appointment, words)],
  ]);
  if (guest) return about;
  if (isFixed) return html`${about}${notice("info", words.fixed, "")}`;
  return html`${about}
<form method="post" action="${linkFor(reader, `${appointmentPath(token)}/cancel`)}"><div class="form-actions"><button type="submit" class="quiet-button">${words.cancel}</button></div></form>`;
}

/**
 * The text that says where an appointment takes place. For the notary's own video tool, it says that the link was
 * mailed.
 */
const pointOf = ({ mode, meetingPoint }: Appointment, words: AppointmentWords): string =>
  mode === "ipen" ? (meetingPoint ?? "") : meetingPoint === null ? words.here : words.byMail;

function form({ token, found: { offers, appointment }, reader }: AppointmentView, words: AppointmentWords): Html {
  const { language } = reader.words;
  const { modes } = bookingWords[language];
  const options = offers.map((offer) => ({
    value: slotText(offer),
    label: `${whenText(offer.startsAt, offer.zone, language)} · ${modes[offer.mode]}`,
  }));
  return html`<form class="form" method="post" action="${linkFor(reader, appointmentPath(token))}">
${select({ name: "slot", label: words.time, required: true, options })}
<div class="form-actions"><button type="submit">${appointment ? words.moveIt : words.book}</button></div></form>`;
}

/**
 * The appointment page that the order's link opens. Anyone may have that link, so the page shows only the time. Its
 * button mails a separate link to each person who must appear before the notary.
 */
export function invitationPage(
  assets: Pick<Assets, "url">,
  { code, when, isSent, error, reader }: InvitationView,
): string {
  const words = appointmentWords[reader.words.language];
  const body = html`<div class="stack">
${pageHead(words.title, when ?? words.invite, html`<a href="${linkFor(reader, `/orders/${code}`)}">${reader.words.payment.back}</a>`)}
${error && html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">${words.refused}</p><p>${error}</p></div>`}
${isSent ? html`<p role="status">${words.sent}</p>` : html`<form method="post" action="${linkFor(reader, `/orders/${code}/appointment`)}"><button type="submit">${words.mail}</button></form>`}
</div>`;
  return layout(assets, { ...clientFrame(reader.words), unlisted: true, title: words.title, body });
}

export type InvitationView = {
  code: string;
  when: string | null;
  isSent: boolean;
  error: string | null;
  reader: Reader;
};
