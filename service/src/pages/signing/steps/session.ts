import type { SigningView } from "../../../signing/envelopes/envelopes.ts";
import { icon } from "../../ui/icons.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Words } from "../words/en.ts";

type Shown = { readonly view: SigningView; readonly words: Words };

/**
 * The token of the link to all documents, without the number of one document. @param token the part of an address after
 * `/sign/`
 */
export const wholeLink = (token: string): string => token.split("/", 1)[0] ?? token;

const toSign = new Set(["ready", "waiting", "on_hold"]);

/** Whether the person has to sign another document of the link, now or later. */
export const hasMoreToSign = ({ session }: SigningView): boolean =>
  session?.documents.some(({ n, state }) => n !== session.n && toSign.has(state)) ?? false;

export function signedSoFar({ view: { session }, words }: Shown): string {
  const documents = session?.documents ?? [];
  return words.session.signed(documents.filter(({ hasSigned }) => hasSigned).length, documents.length);
}

/** The documents of a link that opens several, each with its state and its page; empty for a link to one document. */
export function sessionPart({ token, view, words }: Shown & { readonly token: string }): Html | "" {
  const { session, state } = view;
  if (!session) return "";
  const { documents, n: own } = session;
  const link = wholeLink(token);
  const place = documents.findIndex(({ n }) => n === own) + 1;
  const next = state === "ready" ? undefined : documents.find((one) => one.n !== own && one.state === "ready");
  const isOpen = state !== "identify" && state !== "locked";
  return html`<nav class="card no-print" id="documents" aria-labelledby="documents-title"><h2 id="documents-title">${words.session.title(place, documents.length)}</h2>
${isOpen && html`<p class="quiet-text">${signedSoFar({ view, words })}</p>`}
${
  isOpen &&
  html`<ol class="signers">${documents.map(({ n, title, state: one, hasSigned }) => {
    const name =
      n === own ? html`<strong aria-current="page">${title}</strong>` : html`<a href="/sign/${link}/${n}">${title}</a>`;
    return html`<li class="${hasSigned ? "done" : "waiting"}">${icon(hasSigned ? "done" : "waiting")}<span>${name} <span class="quiet-text">${words.session.states[one]}</span></span></li>`;
  })}</ol>`
}
${next && html`<p><a class="button" href="/sign/${link}/${next.n}">${words.session.next(next.title ?? "")}</a></p>`}
</nav>`;
}
