import { type NoticesOf, noticeMessage } from "../../../orders/order/order.ts";
import {
  type Act,
  type ActMode,
  type Appointment,
  type Claimed,
  type Faults,
  factRules,
  type findDraft,
  type Guest,
  isOnPaper,
  type LiveSession,
  modeWords,
  principalField,
  refusalReasons,
  type SheetView,
  type Typed,
  termNames,
  whenText,
} from "../../../signing/notaries/notaries.ts";
import { card, facts, notice, pageHead } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { inPersonPart } from "../orders/in-person.ts";
import { actForm, actLabel } from "./act-form.ts";
import { type IdentityView, identityPart } from "./identity-part.ts";
import { localText } from "./local-times.ts";
import { documentWords, orderPath } from "./order-path.ts";
import { originWords, readAt, termLabels } from "./rule-words.ts";
import { livePart } from "./session-page.ts";
import { inPresencePart } from "./sheet-page.ts";
import { guestsPart } from "./third-persons-form.ts";
import { signPart, uploadForm } from "./upload-forms.ts";

type Draft = Awaited<ReturnType<typeof findDraft>>;

export type OrderView = {
  claimed: Claimed & { notices: ReturnType<NoticesOf> };
  draft: Draft;
  identity: IdentityView;
  /** The open act; null when there is none. */
  sheet: SheetView | null;
  /**
   * Null when the service has no audio and video. `session` is the order's session by audio and video. `obstacle` is
   * the reason why no session can be opened for this order; otherwise null.
   */
  meeting: { session: LiveSession | null; obstacle: string | null } | null;
  /** True if a trust service for signatures is configured. */
  hasRemote: boolean;
  /** True if the notary has a passkey. */
  hasPasskey: boolean;
  /** True if signers signed the order's document before any notarial act. */
  isSigned: boolean;
  /** The appointment that the client booked; null when there is none. */
  appointment: Appointment | null;
  /** The people who are expected at an appointment besides the signers. */
  guests: readonly Guest[];
  /** The values typed into the form for the act, and their faults. */
  act?: { typed: Typed; faults: Faults };
  /** The values that the notary typed into any other rejected form of the page. */
  typed?: Typed;
  /** The zone of the times that the notary types. */
  zone: string;
  problem?: string | undefined;
};

/** One sentence per error in the form for an act. */
const actProblem = (faults: Faults, zone: string): string =>
  Object.entries(faults)
    .map(([name, rule]) => `${actLabel(name, zone)} ${rule}.`)
    .join(" ");

/** The initial values of the act form. */
export function firstTyped({ notary, order, title, eligibility }: Claimed): Record<string, string> {
  return {
    mode: eligibility.modes[0] ?? "ron",
    document: title ?? order.reference ?? "",
    venue_state: notary.state,
    venue_county: notary.county,
    tool: notary.tool ?? "",
    ...Object.fromEntries(order.signers.map(({ name }, index) => [principalField(index + 1, "name"), name])),
  };
}

/** True if the act in the draft is signed electronically; other acts are on paper. */
function isElectronic(draft: Draft): boolean {
  const mode = (draft?.act as Pick<Act, "mode"> | null | undefined)?.mode;
  return mode === "ron" || mode === "ipen";
}

/** The notary's page of a claimed order. */
export function orderBody(view: OrderView, actTyped: Typed): Html {
  const { claimed, draft, identity, appointment, act, typed = {}, zone, problem } = view;
  const { order } = claimed;
  const message = problem ?? (act && Object.keys(act.faults).length > 0 ? actProblem(act.faults, zone) : undefined);
  const actValues = {
    typed: actTyped,
    faults: act?.faults ?? {},
    zone,
    rules: factRules(claimed.eligibility.rules),
    mayBeAgain: view.isSigned && view.sheet === null && claimed.eligibility.modes.some(isOnPaper),
  };
  return html`${pageHead(`Order ${shortCode(order.code)}`, documentWords(claimed) ?? "A document to notarize")}
${errorSummary(message)}
<div class="panels">
${card("order", "Order", orderFacts(claimed))}
${card("document", "Document", documentPart(order.code, claimed.notices))}
${view.meeting?.obstacle === null && card("how", "How it goes", howPart)}
${card("appointment", "Appointment", html`${bookedPart(order.code, appointment, view.meeting)}${appointmentPart(order.code, draft, typed, zone)}${view.meeting?.session === null && guestsPart(claimed, view.guests, typed)}`)}
${card("identity", "Identity", identityPart(claimed, identity))}
${view.meeting && claimed.eligibility.rules.modes.value.includes("ron") && card("session", "By audio and video, here", livePart(claimed, view.meeting.session, view.meeting.obstacle, view.isSigned))}
${claimed.eligibility.modes.includes("ipen") && view.sheet?.sheet.script.mode !== "ron" && card("in-presence", "In person, on this device", inPresencePart(claimed, view.sheet, view.hasPasskey, view.isSigned))}
${claimed.eligibility.modes.includes("ink") && card("in-person", "In person, in ink", inPersonPart(orderPath(order.code, "/in-person"), claimed.inPerson, typed["words"] === undefined ? typed["reason"] : ""))}
${card("act", "The act: your journal’s entry", actForm(orderPath(order.code, "/act"), actValues, order.signers.length))}
${isElectronic(draft) && card("sign", "Sign in this page", signPart(order.code, view.hasRemote))}
${card("upload", "Upload", draft?.act ? uploadForm(order.code) : html`<p>Note the act first. Then sign the document in your own software, with your own certificate, and upload it here.</p>`)}
${card("refusal", "No act", refusalPart(order.code, typed))}
${card("release", "Give it back", html`<p>Somebody else may take the order then. What you noted is not kept for them.</p>${buttonForm(orderPath(order.code, "/release"), "Give the order back", { kind: "secondary" })}`)}
</div>`;
}

function orderFacts({ order, notary, eligibility }: Claimed): Html {
  const { modes, obstacles, rules, attribution } = eligibility;
  return html`${facts([
    ["Firm", order.firmName],
    ["Who is to appear", order.signers.map(({ name, email }) => `${name} (${email})`).join(", ")],
    ["Due", time(order.dueAt)],
    [
      "You may act",
      html`${modes.map((mode: ActMode) => modeWords[mode]).join("; ") || "in no way now"} ${readAt(rules.modes)}`,
    ],
    [`Acts in ${notary.state}`, html`${rules.acts.value.join(", ")} ${readAt(rules.acts)}`],
    ["Not by audio and video", rules.excluded && html`${rules.excluded.value.join(", ")} ${readAt(rules.excluded)}`],
    ...termNames.map((name): [string, Html | null] => {
      const term = rules.terms[name];
      return [termLabels[name], term ? html`${term.value} ${readAt(term)}` : null];
    }),
    ["Rules of the state", originWords(rules)],
    ["Not now", obstacles.join(" ")],
  ])}${attribution && html`<p class="hint">Data: <a href="${attribution.url}" rel="noreferrer">${attribution.title}</a>, ${attribution.license}.</p>`}
<p class="hint">These rules are data that the operator of this service keeps, and no legal advice.</p>`;
}

const documentPart = (code: string, notices: OrderView["claimed"]["notices"]): Html =>
  html`${notices.length > 0 && html`${notice("attention", "Look at these before you sign", "Your view of this document may not show all of it:")}<ul>${notices.map((one) => html`<li>${noticeMessage(one)}</li>`)}</ul>`}
<p>The order’s document as it is now, with the signatures that it has. Save it, sign it, and add only fields, notes and your signature.</p>
<p><a class="button" href="${orderPath(code, "/document")}" download>Download the document</a></p>
<p class="hint">That you read it is logged.</p>`;

const howPart: Html = html`<ol>
<li>Ask for <a href="#identity">identity checks</a> in time, unless you know the people, or a credible witness does. They have to be passed within 24 hours before the act.</li>
<li>People book a time by the link under <a href="#appointment">Appointment</a>, or you agree on one otherwise.</li>
<li><a href="#session">Open the session</a>: everybody is mailed a link. Try your device there. Begin once all agree to the recording, and let people in one by one.</li>
<li>Say the words of each step, and mark it. Signers sign in turn, when you give them the document.</li>
<li><a href="#act">Note the act</a>: its form is filled from the session. Sign in this page, with your certificate file and its password.</li>
<li>Look at what the verifier says, and enter the act. It is in your <a href="/operator/notary/journal">journal</a> then, and the recording ends.</li></ol>
<p class="hint">Signing by a token or a smart card: download the document in the session, sign it in your own software, and upload it here, while everybody is there.</p>`;

const roomWords = html`In a room of this service. <a href="#session">Open the session</a> when the time has come.`;
const noRoomWords = "In a room of this service, which has no rooms any more. Mail them a link of your tool.";

function bookedPart(code: string, appointment: Appointment | null, meeting: OrderView["meeting"]): Html {
  if (!appointment)
    return html`<p>Those who must appear book a time in <a href="/operator/notary/hours">your hours</a>, by a link of their own.</p>
${buttonForm(orderPath(code, "/invite"), "Mail them the link to book")}
${meeting?.obstacle === null && html`<p>By audio and video they meet you in a room of this service. <a href="#session">Open the session</a> when the time has come.</p>`}
<p>Or mail them a link of your tool:</p>`;
  const { startsAt, zone, mode, meetingPoint } = appointment;
  const end = (outcome: "no_show" | "technical", label: string) =>
    buttonForm(orderPath(code, "/appointment-ended"), label, { fields: { outcome }, kind: "quiet-button" });
  return html`${facts([
    ["Booked", whenText(startsAt, zone, "en")],
    ["How", modeWords[mode]],
    ["Where", meetingPoint ?? (meeting ? roomWords : noRoomWords)],
  ])}
<div class="form-actions">${end("no_show", "Nobody came")}${end("technical", "It failed for technical reasons")}</div>
<p class="hint">The first time people choose another time, the second time the order fails. Giving the order back cancels the appointment.</p>`;
}

function appointmentPart(code: string, draft: Draft, typed: Typed, zone: string): Html {
  const last = draft?.appointmentUrl;
  const when = draft?.appointmentAt ? localText(draft.appointmentAt, zone) : "";
  return html`<form class="form" method="post" action="${orderPath(code, "/appointment")}">
${field({ form: "appointment", name: "url", label: "Link of your tool", type: "url", required: true, maxLength: 1000, value: typed["url"] ?? last ?? "", hint: "It is mailed to everybody who is to appear." })}
${field({ form: "appointment", name: "when", label: `When (${zone})`, value: typed["when"] ?? when, hint: "Like 2026-01-31T14:05." })}
<div class="form-actions"><button type="submit" class="secondary">${last ? "Mail it again" : "Mail the link"}</button></div></form>`;
}

const refusalPart = (code: string, typed: Typed): Html =>
  html`<p>The journal has refusals, too. The order fails then, or is locked when an identity could not be established for good; an agent can open it again.</p>
<form class="form" method="post" action="${orderPath(code, "/refuse")}">
${select({ form: "refusal", name: "reason", label: "Why", required: true, value: typed["reason"], options: Object.entries(refusalReasons).map(([value, label]) => ({ value, label })) })}
${textArea({ form: "refusal", name: "words", label: "In your words", required: true, rows: 3, maxLength: 1000, value: typed["words"] ?? "", hint: "For your journal alone." })}
<div class="form-actions"><button type="submit" class="danger">Refuse the act</button></div></form>`;
