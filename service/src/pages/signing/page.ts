import { raw } from "hono/html";
import { maskEmail } from "../../kernel/platform/mail/mask-email.ts";
import {
  type ConsentText,
  type ConsentTexts,
  initialsOf,
  newestText,
  type SigningView,
} from "../../signing/envelopes/envelopes.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { plainTime } from "../ui/format.ts";
import { hiddenFields } from "../ui/forms/button-form.ts";
import { checkbox, field } from "../ui/forms/fields.ts";
import type { Previewed } from "../ui/previewed.ts";
import { type Html, html } from "../ui/render.ts";
import type { FieldOnPage, SigningConfig } from "./browser/config.ts";
import { endedWords, firmOf, type PageState, renderFrame } from "./frame.ts";
import { filledIn, inputIdOf, labelOf, senderValuesPart } from "./steps/fields.ts";
import { noticesPart } from "./steps/notices.ts";
import { otherChoices } from "./steps/other-choices.ts";
import { hasMoreToSign, wholeLink } from "./steps/session.ts";
import { signStep } from "./steps/sign.ts";
import { sizeIn, wordsOf } from "./words/languages.ts";

type PageDeps = { assets: Pick<Assets, "url" | "pdfJs">; consentTexts: ConsentTexts };

/** Renders the signer's current step. */
export function renderSteps({ assets, consentTexts }: PageDeps, state: PageState): string {
  const { view } = state;
  if (view.state === "identify") return renderFrame(assets, state, identifyStep(state));
  if (view.state !== "ready") return renderFrame(assets, state, endedStep(state, view.state));
  const step = !view.consent
    ? consentStep(state, newestText(consentTexts, view)(view.signer.language))
    : view.room && !view.room.maySign
      ? handBack(state)
      : signStep(state);
  return renderFrame(assets, state, withDocument(state, step, assets));
}

const withDocument = (state: PageState, step: Html, assets: PageDeps["assets"]): Html =>
  html`${state.done === "consent" && toFirstField(state)}<div class="signing-columns">${documentPart(state, configOf(state, assets))}
<div class="stack">${state.view.room && inPresence(state)}
${step}
${!state.view.room && otherChoices(state)}</div></div>`;

const backLink = ({ room }: PageState["words"]): Html =>
  html`<p class="no-print"><a class="button quiet-button" href="/handed-over">${room.back}</a></p>`;

const roomWords = ({ view, words }: PageState) => (view.room?.isRemote ? words.room.remote : words.room);

/** The note above each step while the signer signs in front of a notary. It says that the notary answers questions. */
const inPresence = (state: PageState): Html =>
  html`<div class="card"><p>${roomWords(state).lead}</p>${!state.view.room?.isRemote && backLink(state.words)}</div>`;

/**
 * The page that a signer sees while the notary has to act, or while an audio and video session is on hold. In such a
 * session, the script polls for the signing form, and shows it in this page. `typed`: the values of a form that was
 * rejected because of the hold.
 */
function handBack(state: PageState): Html {
  const { view, words, typed, token } = state;
  const { back, read } = roomWords(state);
  const text = html`<h2 id="state-title">${back}</h2>
<p class="lead">${read}</p>`;
  if (!view.room?.isRemote) return html`<section class="card" aria-labelledby="state-title">${text}</section>`;
  const isRefused = typed["revision"] !== undefined;
  return html`<p class="visually-hidden" id="turn-said" role="status" data-turn="${words.room.remote.turn}"></p>
<section class="card" id="notary-step" data-page="/sign/${token}" aria-labelledby="state-title">${text}
${isRefused && html`<template>${signStep(state)}</template>`}</section>`;
}

/** A link to the first field, for browsers without JavaScript. The script scrolls there itself. */
function toFirstField({ view: { fields }, words }: PageState): Html {
  const [first] = filledIn(fields);
  const id = first ? inputIdOf(first, fields) : "field-name";
  return html`<p class="without-script"><a href="#${id}">${words.consent.toFields}</a></p>`;
}

/** The data for the page's script; null when the page shows no document. */
function configOf({ token, view, words, done }: PageState, { pdfJs, url }: PageDeps["assets"]): SigningConfig | null {
  const { document } = view;
  const fields = view.consent && view.room?.maySign !== false ? fieldsOnPages(view, words) : [];
  return (
    document && {
      document: documentUrl(token, document.revision),
      bytes: document.bytes,
      sha256: document.sha256,
      pages: document.pages,
      pdfjs: pdfJs.folder,
      check: url("act-check.js"),
      text: url("document-text.js"),
      rules: fields.some(hasRules) ? url("field-rules.js") : null,
      opened: `/sign/${token}/opened`,
      prepare: `/sign/${token}/prepare`,
      complete: `/sign/${token}/complete`,
      signed: `/sign/${wholeLink(token)}?done=signed`,
      fields,
      referenced: view.referenced,
      initials: initialsOf(view.signer.name),
      toFirstField: done === "consent",
      words: words.viewer,
    }
  );
}

const hasRules = ({ kind, showWhen, formula }: FieldOnPage) => kind === "number" || showWhen || formula !== undefined;

function fieldsOnPages(view: PageState["view"], words: PageState["words"]): FieldOnPage[] {
  const inputs = new Set(filledIn(view.fields));
  return view.fields.map((field) => {
    const { name, kind, page, left, top, width, height, option, label, value, format, ...more } = field;
    const { id, showWhen, formula, choices, group, options, required } = more;
    const own = inputs.has(field) ? inputIdOf(field, view.fields) : "field-name";
    const input = kind === "date" ? null : own;
    const around = label ?? words.sign.kinds[kind];
    const asks = option === undefined ? labelOf(field, words) : `${around}: ${option}`;
    return {
      name,
      kind,
      page,
      left,
      top,
      width,
      height,
      label: asks,
      input,
      ...(option !== undefined && { option }),
      ...(kind === "radio" && { radio: around }),
      ...(kind === "date" && value !== undefined && { value }),
      ...(kind !== "date" && format !== undefined && { format }),
      ...(options && { options }),
      ...(id !== undefined && { id }),
      ...(showWhen && { showWhen, required }),
      ...(formula !== undefined && { formula }),
      ...(choices && group !== undefined && { choices, group }),
    };
  });
}

/**
 * The consent. The document is on the same page, which proves that the signer can open it (15 USC 7001(c)(1)(C)(ii)).
 */
const consentStep = ({ token, words }: PageState, text: ConsentText): Html =>
  html`<section class="card" id="consent" aria-labelledby="consent-title"><h2 id="consent-title">${words.consent.title}</h2>
<div class="consent-text">${consentHtml(text.markdown)}</div>
<p class="quiet-text">${words.consent.version(text.version)}</p>
<form class="form" method="post" action="/sign/${token}/consent">
${hiddenFields({ version: text.version, language: text.language })}
${checkbox({ name: "can_read", label: words.consent.canRead, required: true })}
<div class="form-actions"><button type="submit">${words.consent.agree}</button></div>
</form>
</section>`;

/**
 * Renders the Markdown of consent texts: headings, lists, paragraphs and bold words. Omits the first heading, which the
 * page already has.
 */
function consentHtml(markdown: string): Html {
  const blocks = markdown.trim().split(/\n{2,}/);
  return html`${blocks.map(blockHtml)}`;
}

function blockHtml(block: string): Html | "" {
  if (block.startsWith("# ")) return "";
  if (block.startsWith("## ")) return html`<h3>${block.slice(3)}</h3>`;
  if (!block.startsWith("- ")) return html`<p>${bold(block)}</p>`;
  return html`<ul>${block
    .slice(2)
    .split("\n- ")
    .map((item) => html`<li>${bold(item)}</li>`)}</ul>`;
}

/** Text between two `**` is bold, so after splitting, every second piece is bold. */
const bold = (text: string): Html =>
  html`${text.split("**").map((part, index) => (index % 2 === 1 ? html`<strong>${part}</strong>` : part))}`;

type Ended = Exclude<PageState["view"]["state"], "identify" | "ready">;

/**
 * True if the page of a completed document must not say that more will come. Either the notarized document is already
 * there, or the page leads to the signer's next document.
 */
const expectsNothing = (view: PageState["view"]): boolean =>
  hasMoreToSign(view) || view.copies.some(({ kind }) => kind === "notarized");

/** The page for a signer who can't do anything now, or ever. */
function endedStep(page: PageState, state: Ended): Html {
  const { token, view, words } = page;
  const { title, text } = endedWords(page, state);
  const { signedAt, signer, document, verifyCode } = view;
  return html`<section class="card" aria-labelledby="state-title"><h2 id="state-title">${title}</h2>
<p class="lead">${view.room && state === "signed" ? roomWords(page).signed : state === "completed" && expectsNothing(view) ? words.session.copy : text}</p>
${view.environment === "test" && state === "completed" && !view.isSimulated && !expectsNothing(view) && html`<p>${words.test.completed}</p>`}
${view.room && !view.room.isRemote && backLink(words)}
${state === "locked" && view.canSendWayIn && lockedHelp(token, words, view.step === "text_code")}
${signedAt && !view.isSimulated && html`<p>${words.signedAt} ${plainTime(signedAt, signer.language)}.</p>`}
${document && documentLinks(documentUrl(token, document.revision), words)}
${view.copies.map(({ kind, isSimulated }) => html`<p class="no-print"><a href="/sign/${token}/${kind}.pdf?save=1">${words.copies[isSimulated ? "simulated" : kind]}</a></p>`)}
${verifyCode && html`<p><a href="/v/envelope/${verifyCode}"${view.frame && html` target="_blank" rel="noopener"`}>${words.verify}</a></p>`}
</section>`;
}

/**
 * Asks for the code. A code is mailed or texted only when the signer presses a button, so that a mail scanner that
 * opens the link doesn't request one. Access codes are never sent.
 */
function identifyStep(state: PageState): Html {
  const { token, view, words } = state;
  const { phoneEnding } = view.signer;
  const byText = view.step === "text_code" && phoneEnding !== null;
  const isSent = view.step !== "access_code";
  const { identify } = words;
  return html`<section class="card" aria-labelledby="identify-title"><h2 id="identify-title">${identify.title}</h2>
<p>${byText ? identify.text(phoneEnding) : isSent ? identify.mail(maskEmail(view.signer.mailedTo)) : identify.access(firmOf(state))}</p>
${isSent && sendForm(token, byText ? identify.sendText : identify.send)}
<form class="form" method="post" action="/sign/${token}/identify">
${field({ name: "code", label: identify.code, required: true, maxLength: 64, autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit" class="${isSent ? "quiet-button" : ""}">${identify.go}</button></div>
</form>
</section>`;
}

const sendForm = (token: string, label: string): Html =>
  html`<form class="form-actions" method="post" action="/sign/${token}/code"><button type="submit">${label}</button></form>`;

/**
 * The help for a signer who entered too many wrong codes, and may not enter another. A stranger may have entered the
 * wrong ones. So the signer can request a mailed link that opens the document, or a longer code by text message.
 */
function lockedHelp(token: string, { states, identify }: PageState["words"], byText: boolean): Html {
  if (!byText) return html`<p>${states.locked.here}</p>${sendForm(token, identify.sendLink)}`;
  return html`<p>${states.locked.byText}</p>${sendForm(token, identify.sendLong)}
<form class="form" method="post" action="/sign/${token}/enter">
${field({ name: "entry", label: identify.code, required: true, maxLength: 64, autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit" class="quiet-button">${identify.go}</button></div>
</form>`;
}

/** The URL of one revision. This URL never returns another revision. */
const documentUrl = (token: string, revision: number): string => `/sign/${token}/document.pdf?revision=${revision}`;

const documentLinks = (url: string, { document }: PageState["words"]): Html =>
  html`<p class="document-links no-print"><a href="${url}" target="_blank" rel="noopener">${document.open}</a> <a href="${url}&amp;save=1">${document.save}</a></p>`;

/** The document: a link to the file, and a viewer in browsers with scripts. */
function documentPart({ token, view, words }: PageState, config: SigningConfig | null): Html | "" {
  const { document } = view;
  if (!document) return "";
  const { pages, hasSignaturePage, bytes, revision } = document;
  const own = hasSignaturePage ? pages - 1 : pages;
  const url = documentUrl(token, revision);
  const size = words.document.size(own, hasSignaturePage, sizeIn(view.signer.language, bytes));
  return html`<section class="card document" aria-labelledby="document-title"><h2 id="document-title">${words.document.title}</h2>
${noticesPart({ view, words })}
${senderValuesPart(view, words)}
<p class="document-links no-print"><a href="${url}" target="_blank" rel="noopener">${words.document.open}</a> <span class="quiet-text">(${size})</span>
<a href="${url}&amp;save=1">${words.document.save}</a> <a id="as-text" href="/sign/${token}/text">${words.text.open}</a></p>
<p class="quiet without-script">${words.document.note}</p>
${config && html`<div id="viewer" hidden></div>${configScript(config)}`}
</section>`;
}

const configScript = (config: SigningConfig): Html =>
  html`<script type="module" src="${config.pdfjs}build/pdf.min.mjs" async></script><script type="application/json" id="signing-config">${raw(JSON.stringify(config).replaceAll("<", "\\u003c"))}</script>`;

/**
 * For each signer: a preview of that signer's page, as if the signer had just consented. The sender looks at it before
 * the document is sent. The page's script gets the document from the surrounding page, and sends nothing.
 * @param previewed `ownOrigin`: the origin of the service. The page around the preview allows no pictures from
 * elsewhere.
 */
export function previewPages(
  assets: PageDeps["assets"],
  previewed: Previewed & { readonly ownOrigin: string },
): string[] {
  const { firm, title, signers, views, at, ownOrigin } = previewed;
  const isOwnLogo = logoOf(previewed.branding)?.origin === ownOrigin;
  const branding = previewed.branding && {
    ...previewed.branding,
    ...(!isOwnLogo && { logoUrl: null }),
  };
  return views.map((view, index) => {
    const { name = "", email = "", language = "en", routing = 1 } = signers[index] ?? {};
    const shown: SigningView = {
      ...view,
      state: "ready",
      isSimulated: false,
      environment: firm.environment,
      orderCode: "",
      title,
      reference: null,
      partnerId: firm.partnerId,
      partnerName: firm.firmName,
      partnerContact: previewed.contactEmail,
      signer: { n: index + 1, name, email, mailedTo: email, phoneEnding: null, language },
      signers: signers.map((other, at) => ({ n: at + 1, name: other.name, signed: other.routing < routing })),
      frame: null,
      host: null,
      device: null,
      room: null,
      session: null,
      step: null,
      canSendWayIn: false,
      notices: [],
      consent: { version: "", at },
      signedAt: null,
      askedForPaper: false,
      signedElsewhere: false,
      copies: [],
      verifyCode: null,
    };
    const words = wordsOf(language);
    const state = { token: "preview", view: shown, branding, words, meetings: [], done: null, error: null, typed: {} };
    const body = withDocument(state, signStep(state), assets);
    return renderFrame(assets, state, body, { script: "signing-preview.js" });
  });
}
