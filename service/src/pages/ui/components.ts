import { type Language, languageNames, languages } from "../../kernel/platform/languages.ts";
import { money, plainTime } from "./format.ts";
import { type IconName, icon } from "./icons.ts";
import { type Html, html } from "./render.ts";
import { components as english } from "./words/en/components.ts";

/** How good or urgent a status is for the reader. Each tone has its own color and shape. */
export type Tone = "waiting" | "progress" | "done" | "attention" | "stopped";

/** A short status in words, with a shape. */
export const statusBadge = (tone: Tone, label: string): Html =>
  html`<span class="badge ${tone}">${icon(tone)}${label}</span>`;

export type StepState = "done" | "current" | "attention" | "stopped" | "upcoming";

/** One step of an order's progress. `note` adds a few words about the step's state. */
export type Step = { label: string; state: StepState; note?: string };

const stepIcons: Readonly<Record<StepState, IconName>> = {
  done: "done",
  current: "progress",
  attention: "attention",
  stopped: "stopped",
  upcoming: "upcoming",
};

/** Progress as an ordered list; the current step has `aria-current`. */
export function progressSteps(steps: readonly Step[], words = english.steps): Html {
  return html`<ol class="steps">${steps.map(({ label, state, note }) => {
    const current = state === "current" || state === "attention";
    return html`<li class="${state}"${current ? html` aria-current="step"` : ""}>${icon(stepIcons[state])}<div><span class="step-label">${label}</span><span class="step-note">${note ?? words[state]}</span></div></li>`;
  })}</ol>`;
}

/** Facts as a definition list; a fact without a value is left out. */
export function facts(entries: readonly (readonly [term: string, value: Html | string | null])[]): Html {
  const present = entries.filter(([, value]) => value !== null && value !== "");
  return html`<dl class="facts">${present.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/**
 * The members of an order line that the money table shows. The line's type is not used, so a line of unknown type is
 * shown like any other.
 */
type MoneyLine = { label: string; amountCents: number };

export type MoneyTable = {
  lines: readonly MoneyLine[];
  subtotalCents: number;
  discountCents: number;
  totalCents: number;
};

/**
 * An itemized quote: lines, then the subtotal and the tier discount if there is one, and the total in the table's
 * footer.
 */
export function moneyTable(caption: string, quote: MoneyTable, totalLabel?: string, words = english.money): Html {
  const row = (label: string, cents: number, kind = "") =>
    html`<tr class="${kind}"><th scope="row">${label}</th><td>${money(cents)}</td></tr>`;
  const discounted =
    quote.discountCents !== 0 &&
    html`${row(words.subtotal, quote.subtotalCents)}${row(words.discount, -quote.discountCents)}`;
  return html`<table class="money">
<caption>${caption}</caption>
<thead class="visually-hidden"><tr><th scope="col">${words.item}</th><th scope="col">${words.amount}</th></tr></thead>
<tbody>${quote.lines.map(({ label, amountCents }) => row(label, amountCents))}</tbody>
<tfoot>${discounted}${row(totalLabel ?? words.total, quote.totalCents, "total")}</tfoot>
</table>`;
}

/** A table of names, each with a price or a percentage. */
export const moneyRows = (caption: string, rows: readonly (readonly [name: string, value: string])[]): Html =>
  html`<table class="money"><caption>${caption}</caption>
<tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table>`;

/**
 * A complete hash or code with a button that copies it. The text wraps, so it is never cut off. `what` names the text
 * in the button's label.
 */
export const codeText = (text: string, what: string, words = english.copy): Html =>
  html`<span class="code"><code>${text}</code><button type="button" class="copy" data-copy="${words.done}" aria-label="${words.what(what)}">${words.go}</button></span>`;

/** Information for the reader. With the tone `attention`, the reader should do something. */
export const notice = (
  tone: "info" | "attention" | "stopped",
  title: string,
  text: Html | string,
  below?: Html,
): Html =>
  html`<div class="notice ${tone}">${icon(tone)}<div><p class="notice-title">${title}</p><p>${text}</p>${below}</div></div>`;

/** A list of events with their times, in the given order. */
export const timeline = (entries: readonly { at: Date; text: Html | string }[]): Html =>
  html`<ol class="timeline">${entries.map(({ at, text }) => html`<li><span>${text}</span>${plainTime(at)}</li>`)}</ol>`;

/** Shown in place of an empty list. */
export const emptyState = (title: string, text: string): Html =>
  html`<div class="empty"><p class="empty-title">${title}</p><p>${text}</p></div>`;

/** A titled part of a page. `id` is unique on the page. */
export const card = (id: string, title: string, body: Html): Html =>
  html`<section class="card" id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${body}</section>`;

/** The head of a page: its title, its purpose, and links or buttons (`actions`). */
export const pageHead = (title: string, lead: Html | string = "", actions: Html | "" = ""): Html =>
  html`<div class="page-head"><div><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>${actions}</div>`;

/** Links to the other languages, each by its own name. The list is folded, so that the header stays one line. */
export const languageMenu = (
  { language, label }: { language: Language; label: string },
  choice: (language: Language, name: string) => Html,
): Html =>
  html`<details class="language-menu no-print"><summary><span class="visually-hidden">${label}: </span>${languageNames[language]}</summary><ul>${languages
    .filter((one) => one !== language)
    .map((one) => html`<li>${choice(one, languageNames[one])}</li>`)}</ul></details>`;
