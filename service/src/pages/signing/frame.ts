import type { Branding } from "../../firms/partners/partners.ts";
import { preferredLanguage } from "../../kernel/http/accept.ts";
import { languages, languageTags } from "../../kernel/platform/languages.ts";
import { maskEmail } from "../../kernel/platform/mail/mask-email.ts";
import { mixesAlphabets } from "../../kernel/platform/text.ts";
import type { SigningView } from "../../signing/envelopes/envelopes.ts";
import type { Meeting } from "../../signing/notaries/notaries.ts";
import { accentStripe, logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { facts, languageMenu } from "../ui/components.ts";
import { plainTime } from "../ui/format.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { sittingPath } from "../ui/page/sitting-cookie.ts";
import { type Html, html } from "../ui/render.ts";
import { frames } from "../ui/words/frames.ts";
import { frameData } from "./embed-data.ts";
import { sessionPart, signedSoFar } from "./steps/session.ts";
import type { Words } from "./words/en.ts";
import { wordsOf } from "./words/languages.ts";

/** Everything that is needed to render a page of a link. */
export type PageState = {
  readonly token: string;
  readonly view: SigningView;
  readonly branding: Branding | null;
  readonly words: Words;
  /**
   * The documents of the closing that the signer signs in front of a notary. Empty before the signer has entered a
   * code, and where other people see the page.
   */
  readonly meetings: readonly Meeting[];
  /** The action that succeeded, as the URL names it; null for none. */
  readonly done: keyof Words["done"] | null;
  /** The error of a rejected form; null for none. */
  readonly error: string | null;
  /** The typed values of the rejected form. */
  readonly typed: Readonly<Record<string, string>>;
};

/**
 * Renders a step of the signing inside the layout that all pages of a link share.
 * @param script null for a page without the script. On such a page, the script would delete the signature that the tab
 * stores.
 */
export function renderFrame(
  assets: Pick<Assets, "url">,
  state: PageState,
  step: Html,
  { script = "sign.js" }: { script?: "sign.js" | "signing-preview.js" | null } = {},
): string {
  const { view, words, branding } = state;
  return layout(assets, {
    unlisted: true,
    signing: true,
    // Link previews show the title, so it names no document.
    title: words.title,
    headerNav: languageForm(state),
    language: frames[view.signer.language],
    scripts: [...(script ? [script] : []), ...(view.frame ? (["embed.js"] as const) : [])],
    body: html`<div class="stack signing">
${view.frame && frameData({ origin: view.frame, signer: view.signer.n, state: view.state })}
${view.frame && closeForm(words)}
${view.environment === "test" && testBanner(state)}
${formResult(state)}
${handOnPart(state)}
<header class="signing-head">
${accentStripe(branding?.accentColor)}
${sender(state)}
<h1>${view.title}</h1>
<p class="quiet">${words.to(view.signer.name, maskEmail(view.signer.email))}</p>
</header>
${sessionPart(state)}
${step}
${about(state)}
</div>`,
  });
}

/** The banner of a test order. After the signer's first steps, it is folded to a strip with the word TEST. */
function testBanner({ view, words }: PageState): Html {
  const isFirst = view.state === "identify" || (view.state === "ready" && view.consent === null);
  return html`<details class="notice attention test-banner" id="test-banner"${isFirst && html` open`}><summary>${icon("attention")}<span class="notice-title">${words.test.title}</span></summary><p>${words.test.text}</p></details>`;
}

/** The button with which the signer closes the frame. It sends a message to the firm's page. */
const closeForm = ({ embed }: Words): Html =>
  html`<p class="with-script embed-close"><button type="button" class="quiet-button" id="embed-close">${embed.close}</button></p>`;

/**
 * Shown above each step on a member's device: who handed the device over, the number of signed documents, and the
 * buttons to go on or to pass the device on.
 */
function handOnPart({ view, words }: PageState): Html {
  if (view.host === null) return html``;
  const isMine = view.state === "ready" || view.state === "identify";
  const { device } = view;
  const next = device?.next ?? null;
  return html`<div class="card no-print"><p>${words.sitting.lead(view.host)}</p>
${device && html`<p><strong>${isMine ? words.session.title(device.n, device.of) : words.session.signed(device.signed, device.of)}</strong></p>`}
${next !== null && buttonForm(`${sittingPath}/next`, isMine ? words.sitting.later(next) : words.session.next(next), { fields: { after: device?.sitting ?? "" }, ...(isMine && { kind: "quiet-button" as const }) })}
${buttonForm(`${sittingPath}/done`, words.sitting.handOn, isMine || next !== null ? { kind: "quiet-button" } : {})}</div>`;
}

/** The result of the submitted form. An error is announced by screen readers, and focused. */
function formResult(state: PageState): Html | "" {
  const { done, error, view, words } = state;
  if (error !== null)
    return html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">${words.refused.title}</p><p>${error}</p></div>`;
  if (done === null) return "";
  return html`<div class="notice done flash" id="done" role="status">${icon("done")}<div><p>${done === "signed" && view.session ? signedSoFar(state) : words.done[done]}</p></div></div>`;
}

/** The sender's name, as the firm's branding shows it. */
function sender({ view, branding, words }: PageState): Html {
  const logo = logoOf(branding);
  return html`<p class="attribution">${
    logo && html`<img src="${logo.url}" alt="" height="32" referrerpolicy="no-referrer">`
  }<span>${words.from} <strong>${firmOf({ view, branding })}</strong></span></p>`;
}

export const firmOf = ({ view, branding }: Pick<PageState, "view" | "branding">): string =>
  branding?.brandName ?? view.partnerName;

/** The words of a page on which the signer can do nothing. */
export function endedWords(page: PageState, state: keyof Words["states"]): { title: string; text: string } {
  const { view, words } = page;
  if (view.isSimulated) return words.simulated;
  if (view.signedElsewhere) return words.signedElsewhere;
  return view.askedForPaper ? words.askedForPaper(firmOf(page)) : words.states[state];
}

function languageForm({ token, view, words }: PageState): Html {
  const menu = languageMenu(
    { language: view.signer.language, label: words.language },
    (other, name) =>
      html`<button type="submit" name="language" value="${other}" lang="${languageTags[other]}">${name}</button>`,
  );
  return html`<form method="post" action="/sign/${token}/language" class="language-form">${menu}</form>`;
}

function about({ view, words, branding }: PageState): Html {
  const { signers, signer, expiresAt, state, isSimulated, partnerContact } = view;
  const isOpen = state === "identify" || state === "ready" || state === "waiting";
  return html`<section class="card" aria-labelledby="signers-title"><h2 id="signers-title">${words.signers.title}</h2>
<ul class="signers">${signers.map(({ n, name, signed }) => {
    const mark = signed && !isSimulated ? "done" : "waiting";
    const status = words.signers[isSimulated ? "simulated" : signed ? "signed" : "waiting"];
    return html`<li class="${mark}">${icon(mark)}<span>${name}${
      n === signer.n && html` (${words.signers.you})`
    } <span class="quiet-text">${status}</span>${mixesAlphabets(name) && html` <span class="quiet-text">${words.signers.mixed}</span>`}</span></li>`;
  })}</ul>
${facts([
  [words.reference, view.reference === view.title ? null : view.reference],
  [words.until, isOpen ? plainTime(expiresAt, signer.language) : null],
  [
    words.contact,
    partnerContact === null
      ? words.noContact(firmOf({ view, branding }))
      : html`<a href="mailto:${encodeURIComponent(partnerContact).replace("%40", "@")}">${partnerContact}</a>`,
  ],
])}
</section>`;
}

/**
 * The page for an unknown link. The signer's language is unknown, so the page uses the browser's language, and English
 * and Spanish, which most readers in the United States know.
 */
export function renderBrokenLink(assets: Pick<Assets, "url">, acceptLanguage: string | undefined): string {
  const language = preferredLanguage(acceptLanguage, languages) ?? "en";
  const { title, text } = wordsOf(language).states.broken;
  const others = (["en", "es"] as const).filter((one) => one !== language);
  return layout(assets, {
    unlisted: true,
    signing: true,
    title,
    headerNav: html``,
    language: frames[language],
    scripts: ["sign.js"],
    body: html`<div class="message"><h1>${title}</h1><p>${text}</p>
${others.map((one) => {
  const { broken } = wordsOf(one).states;
  return html`<div lang="${one}"><h2>${broken.title}</h2><p>${broken.text}</p></div>`;
})}</div>`,
  });
}
