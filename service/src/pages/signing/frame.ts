import type { SigningView } from "../../envelopes/envelopes.ts";
import type { Branding } from "../../partners/partners.ts";
import { maskEmail } from "../../platform/mail/mask-email.ts";
import { accentStripe, logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { facts, notice } from "../ui/components.ts";
import { plainTime } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";
import { frames } from "../ui/words/frames.ts";
import { wordsOf } from "./words/languages.ts";
import type { Words } from "./words/words.ts";

/** What every page of a link shows around its step. */
export type Shown = {
  readonly token: string;
  readonly view: SigningView;
  readonly branding: Branding | null;
  readonly words: Words;
  /** After a form was accepted. */
  readonly done: keyof Words["done"] | null;
  /** Why a form was not. */
  readonly error: string | null;
  /** What was typed into it. */
  readonly typed: Readonly<Record<string, string>>;
};

/**
 * The page of a link, with the step that its signer is at.
 * @param withScript false for a page beside the ceremony: the script shows the document, and without one forgets what it kept
 */
export function framed(
  assets: Pick<Assets, "url">,
  shown: Shown,
  step: Html,
  { withScript = true }: { withScript?: boolean } = {},
): string {
  const { view, words, branding } = shown;
  return layout(assets, {
    unlisted: true,
    // Previews of links show it: it names no document.
    title: words.title,
    headerNav: languageForm(shown),
    language: frames[view.signer.language],
    scripts: withScript ? ["sign.js"] : [],
    body: html`<div class="stack signing">
${view.environment === "test" && notice("attention", words.test.title, words.test.text)}
${said(shown)}
<header class="signing-head">
${accentStripe(branding?.accentColor)}
${sender(shown)}
<h1>${view.title}</h1>
<p class="quiet">${words.to(view.signer.name, maskEmail(view.signer.email))}</p>
</header>
${step}
${about(shown)}
</div>`,
  });
}

/** What came of the form before; its refusal is read out and gets the focus. */
function said({ done, error, words }: Shown): Html | "" {
  if (error !== null)
    return html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">${words.refused.title}</p><p>${error}</p></div>`;
  if (done === null) return "";
  return html`<div class="notice done flash" role="status">${icon("done")}<div><p>${words.done[done]}</p></div></div>`;
}

/** Whose document it is, as the firm calls itself. */
function sender({ view, branding, words }: Shown): Html {
  const logo = logoOf(branding);
  return html`<p class="attribution">${
    logo && html`<img src="${logo.url}" alt="" height="32" referrerpolicy="no-referrer">`
  }<span>${words.from} <strong>${firmOf({ view, branding })}</strong></span></p>`;
}

export const firmOf = ({ view, branding }: Pick<Shown, "view" | "branding">): string =>
  branding?.brandName ?? view.partnerName;

function languageForm({ token, view, words }: Shown): Html {
  const other = view.signer.language === "en" ? "es" : "en";
  return html`<form method="post" action="/sign/${token}/language" class="language-form"><input type="hidden" name="language" value="${other}"><button type="submit" lang="${other}">${words.otherLanguage}</button></form>`;
}

function about({ view, words }: Shown): Html {
  const { signers, signer, expiresAt, state, partnerContact } = view;
  const isOpen = state === "identify" || state === "ready" || state === "waiting";
  return html`<section class="card" aria-labelledby="signers-title"><h2 id="signers-title">${words.signers.title}</h2>
<ul class="signers">${signers.map(({ n, name, signed }) => {
    const status = signed ? words.signers.signed : words.signers.waiting;
    return html`<li class="${signed ? "done" : "waiting"}">${icon(signed ? "done" : "waiting")}<span>${name}${
      n === signer.n && html` (${words.signers.you})`
    } <span class="quiet-text">${status}</span></span></li>`;
  })}</ul>
${
  (isOpen || partnerContact !== null || view.reference !== null) &&
  facts([
    [words.reference, view.reference === view.title ? null : view.reference],
    [words.until, isOpen ? plainTime(expiresAt, signer.language) : null],
    [
      words.contact,
      partnerContact &&
        html`<a href="mailto:${encodeURIComponent(partnerContact).replace("%40", "@")}">${partnerContact}</a>`,
    ],
  ])
}
</section>`;
}

/** A link that is none: nobody knows the reader's language, so it speaks all. */
export const brokenLinkPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    unlisted: true,
    title: wordsOf("en").states.broken.title,
    headerNav: html``,
    scripts: ["sign.js"],
    body: html`<div class="message"><h1>${wordsOf("en").states.broken.title}</h1><p>${wordsOf("en").states.broken.text}</p>
<div lang="es"><h2>${wordsOf("es").states.broken.title}</h2><p>${wordsOf("es").states.broken.text}</p></div></div>`,
  });
