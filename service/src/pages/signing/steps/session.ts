import type { Language } from "../../../kernel/platform/languages.ts";
import type { SessionDocument, SigningView } from "../../../signing/envelopes/envelopes.ts";
import type { Meeting } from "../../../signing/notaries/notaries.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { icon } from "../../ui/icons.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Words } from "../words/en.ts";
import { meetingWords } from "../words/meetings.ts";

type Shown = { readonly view: SigningView; readonly words: Words; readonly meetings: readonly Meeting[] };

/**
 * The token of a link without the number of a document, so that it opens all documents.
 * @param token the part of a URL after `/sign/`
 */
export const wholeLink = (token: string): string => token.split("/", 1)[0] ?? token;

const toSign = new Set(["ready", "waiting", "on_hold"]);

/** True if the person has to sign another document of the link, now or later. */
export const hasMoreToSign = ({ session }: SigningView): boolean =>
  session?.documents.some(({ n, state }) => n !== session.n && toSign.has(state)) ?? false;

/** The documents that the link opens: those of `session`, or a single one without a session. */
const documentsOf = ({ session, orderCode, title, state, signer, signers }: SigningView): readonly SessionDocument[] =>
  session?.documents ?? [
    { n: 1, orderCode, title, state, hasSigned: signers.some(({ n, signed }) => n === signer.n && signed) },
  ];

/** The documents that the person signs only in front of the notary. This link doesn't open them. */
const apartFrom = (documents: readonly SessionDocument[], meetings: readonly Meeting[]): Meeting[] =>
  meetings.filter(({ orderCode }) => documents.every((document) => document.orderCode !== orderCode));

export function signedSoFar({ view, words, meetings }: Shown): string {
  const documents = documentsOf(view);
  const all = documents.length + apartFrom(documents, meetings).length;
  return words.session.signed(documents.filter(({ hasSigned }) => hasSigned).length, all);
}

/**
 * Lists all documents that the person signs in the closing, with their states. The other documents of the link lead to
 * their pages. A document for a notary has a button that opens the appointment page. While the signer must still enter
 * a code, or is locked out, no documents are listed. Empty for a signer with a single document.
 */
export function sessionPart({ token, view, words, meetings }: Shown & { readonly token: string }): Html | "" {
  const { session, state } = view;
  if (!session && meetings.length === 0) return "";
  const documents = documentsOf(view);
  const own = session?.n ?? 1;
  const link = wholeLink(token);
  const place = documents.findIndex(({ n }) => n === own) + 1;
  const next = state === "ready" ? undefined : documents.find((one) => one.n !== own && one.state === "ready");
  const isOpen = state !== "identify" && state !== "locked";
  const apart = apartFrom(documents, meetings);
  const stateOf = ({ orderCode, state: one }: SessionDocument) => {
    const meeting = one === "completed" && meetings.find((each) => each.orderCode === orderCode);
    return meeting ? meetingText(meeting, view.signer.language) : words.session.states[one];
  };
  return html`<section class="card no-print" id="documents" aria-labelledby="documents-title"><h2 id="documents-title">${words.session.title(place, documents.length + apart.length)}</h2>
${isOpen && html`<p class="quiet-text">${signedSoFar({ view, words, meetings })}</p>`}
${
  isOpen &&
  html`<ol class="signers">${documents.map((document) => {
    const { n, title, hasSigned } = document;
    const name =
      n === own ? html`<strong aria-current="page">${title}</strong>` : html`<a href="/sign/${link}/${n}">${title}</a>`;
    return html`<li class="${hasSigned ? "done" : "waiting"}">${icon(hasSigned ? "done" : "waiting")}<span>${name} <span class="quiet-text">${stateOf(document)}</span></span></li>`;
  })}${apart.map((meeting) => html`<li class="waiting">${icon("waiting")}<span>${meeting.title} <span class="quiet-text">${meetingText(meeting, view.signer.language)}</span></span></li>`)}</ol>`
}
${next && html`<p><a class="button" href="/sign/${link}/${next.n}">${words.session.next(next.title ?? "")}</a></p>`}
${isOpen && meetings.map((meeting, index) => meetForm({ meeting, n: index + 1, token, language: view.signer.language, isNext: state !== "ready" && !next }))}
</section>`;
}

function meetingText({ when }: Meeting, language: Language): string {
  const { none, at } = meetingWords[language];
  return when === null ? none : at(when);
}

type MeetForm = { meeting: Meeting; n: number; token: string; language: Language; isNext: boolean };

/** The form that opens the person's own appointment page for one document. */
function meetForm({ meeting: { title, when }, n, token, language, isNext }: MeetForm): Html {
  const { choose, see } = meetingWords[language];
  const label = when === null ? choose : see;
  return html`<form method="post" action="/sign/${token}/meet">${hiddenFields({ n: String(n) })}<button type="submit"${!isNext && html` class="quiet-button"`}>${title === null ? label : `${label}: ${title}`}</button></form>`;
}
