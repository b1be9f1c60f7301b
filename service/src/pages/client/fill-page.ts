import type { ShownFirm } from "../../firms/partners/partners.ts";
import { zonedText } from "../../kernel/platform/languages.ts";
import { type Fault, type Fill, type Question, questionsAt, stepsOf } from "../../orders/fills/fills.ts";
import { accentStripe, attribution } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { notice } from "../ui/components.ts";
import { checkbox, field, radios, select, textArea } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";
import type { Words } from "../ui/words/en/en.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";

export type FillPageView = {
  fill: Fill;
  firm: ShownFirm;
  /** The firm's time zone; the default one if the record of the firm's zone was altered. */
  zone: string;
  /** The URL of the form, without a step. */
  path: string;
  faults: readonly Fault[];
  /**
   * True if this window's form was refused because another window had saved answers in the meantime. A step shows the
   * refused answers again, and the next attempt saves them.
   */
  isStale: boolean;
  /** Returns a question's answer from the rejected form. If absent, the questions show their saved answers. */
  typed?: ((index: number, question: Question) => readonly string[]) | undefined;
};

/** The name of a question's input; with `option`, the name of one checkbox of a list. */
export const inputName = (index: number, option?: number): string =>
  option === undefined ? `q${index}` : `q${index}_${option}`;

/** One step of the form: the questions of one page of the document. */
export function fillStepPage(assets: Pick<Assets, "url">, view: FillPageView, step: number, reader: Reader): string {
  const { fill, path } = view;
  const { words } = reader;
  const text = words.fill;
  const count = stepsOf(fill).length;
  const at = (where: string) => linkFor(reader, `${path}/${where}`);
  const body = html`${head(view, reader)}
<div>${step === 1 && html`<p class="lead">${text.lead(view.firm.name)}</p>`}
<p class="quiet">${text.until(zonedText(fill.expiresAt, view.zone, words.language))}</p></div>
${count > 1 && html`<p class="eyebrow">${text.step(step, count)}</p>`}
${problems(view, words)}
<form class="form card" method="post" action="${at(String(step))}" id="fill-form"
data-save="${path}/${step}/save" data-saving="${text.saving}" data-saved="${text.saved}" data-refused="${text.refused}" data-unsaved="${text.unsaved}" data-stale="${text.stale}">
<input type="hidden" name="revision" value="${fill.revision}">
${questionsAt(fill, step).map(({ question, index }) => input(view, question, index, words))}
<p class="hint" id="fill-said" role="status"></p>
<div class="form-actions"><button type="submit">${step === count ? text.review : text.next}</button>${
    step > 1 && html`<a class="button quiet-button" href="${at(String(step - 1))}">${text.back}</a>`
  }</div>
</form>
<form class="form" method="post" action="${at("forget")}">
<div class="form-actions"><button type="submit" class="quiet-button" aria-describedby="forget-hint">${text.forget}</button></div>
<p class="form-note" id="forget-hint">${text.forgetHint}</p></form>`;
  return page(assets, view, reader, body, ["fill.js"]);
}

/** Shows all answers before they are written into the document. */
export function fillReviewPage(assets: Pick<Assets, "url">, view: FillPageView, reader: Reader): string {
  const { fill, path, faults } = view;
  const { words } = reader;
  const text = words.fill;
  const at = (where: string) => linkFor(reader, `${path}/${where}`);
  const steps = stepsOf(fill).map((_, index) => index + 1);
  const body = html`${head(view, reader)}
<div><h2>${text.reviewTitle}</h2>
<p class="lead">${text.reviewLead}</p></div>
${problems(view, words)}
${steps.map(
  (
    step,
  ) => html`<section class="card stack" aria-labelledby="step-${step}"><h3 id="step-${step}">${text.step(step, steps.length)}</h3>
<dl class="facts">${questionsAt(fill, step).map(
    ({ question }) =>
      html`<div><dt>${question.label}</dt><dd class="breakable">${shown(fill, question, words)}</dd></div>`,
  )}</dl>
<p><a href="${at(String(step))}">${text.change}<span class="visually-hidden">: ${text.step(step, steps.length)}</span></a></p></section>`,
)}
${faults.length === 0 && html`<p><a href="${at("preview")}">${text.preview} (PDF)</a></p>`}
<form class="form" method="post" action="${at("finish")}"><input type="hidden" name="revision" value="${fill.revision}">
<div class="form-actions"><button type="submit"${faults.length > 0 && html` disabled`}>${text.finish}</button></div></form>`;
  return page(assets, view, reader, body);
}

/** The last page: the form was completed, or it ended without that, for example because it expired. */
export function fillEndPage(
  assets: Pick<Assets, "url">,
  view: FillPageView,
  hasDocument: boolean,
  reader: Reader,
): string {
  const { fill, path } = view;
  const text = reader.words.fill;
  const isDone = fill.state === "completed";
  const { title, text: explanation } = isDone ? text.done : text.over;
  const body = html`${head(view, reader)}
<div class="message"><h2>${title}</h2><p>${explanation}</p>
${isDone && hasDocument && html`<p><a href="${linkFor(reader, `${path}/document`)}">${text.download} (PDF)</a></p>`}
${isDone && fill.returnUrl !== null && html`<p><a class="button" href="${fill.returnUrl}" rel="noreferrer">${text.goOn}</a></p>`}</div>`;
  return page(assets, view, reader, body);
}

function head({ fill, firm }: FillPageView, { words }: Reader): Html {
  const { test } = words.fill;
  return html`<div>${accentStripe(firm.branding?.accentColor)}
${attribution(firm.name, firm.branding, words.preparedBy)}
<h1>${fill.title}</h1></div>
${fill.owner.environment === "test" && notice("attention", test.title, test.text)}`;
}

function page(
  assets: Pick<Assets, "url">,
  { fill }: FillPageView,
  { words }: Reader,
  body: Html,
  scripts: readonly "fill.js"[] = [],
): string {
  return layout(assets, {
    ...clientFrame(words),
    title: fill.title,
    scripts,
    body: html`<div class="stack">${body}</div>`,
  });
}

const faultText = ({ rule, limit }: Fault, { fill }: Words): string =>
  rule === "long" ? fill.faults.long(limit) : fill.faults[rule];

/** The list of problems. Each links to its question in the step that asks it. */
function problems({ fill, faults, isStale, path }: FillPageView, words: Words): Html {
  if (faults.length === 0 && !isStale) return html``;
  const pages = stepsOf(fill);
  const items = faults.flatMap((fault) => {
    const index = fill.questions.findIndex(({ name }) => name === fault.name);
    const question = fill.questions[index];
    if (!question) return [];
    const href = `${path}/${pages.indexOf(question.page) + 1}#${idOf(question, index)}`;
    return [html`<li><a href="${href}">${question.label}</a> ${faultText(fault, words)}</li>`];
  });
  return html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">${words.fill.check}</p>${isStale && html`<p>${words.fill.stale}</p>`}${items.length > 0 && html`<ul>${items}</ul>`}</div>`;
}

const idOf = ({ kind }: Question, index: number): string =>
  kind === "radio" ? `field-${inputName(index)}-1` : kind === "list" ? `list-${index}` : `field-${inputName(index)}`;

function input(view: FillPageView, question: Question, index: number, words: Words): Html {
  const { fill, faults, typed } = view;
  const { kind, label: asked, required, options, lines, maxLength } = question;
  const values = typed?.(index, question) ?? fill.answers.get(question.name) ?? [];
  const text = words.fill;
  const fault = faults.find(({ name }) => name === question.name);
  const error = fault && `${asked}: ${faultText(fault, words)}`;
  const label = required || kind === "checkbox" ? asked : `${asked} (${text.optional})`;
  const common = { name: inputName(index), label, error, required: "sometimes" as const };
  const [value = ""] = values;
  switch (kind) {
    case "checkbox":
      return checkbox({ name: common.name, label, error, checked: values.length > 0 });
    case "radio":
      return radios({
        ...common,
        value,
        options: [...options, ...(required ? [] : [{ value: "", label: text.none }])],
      });
    case "dropdown":
      return select({ ...common, value, options: [{ value: "", label: text.choose }, ...options] });
    case "list":
      return html`<fieldset class="form-field" id="list-${index}" tabindex="-1"><legend>${label}</legend>${error && html`<p class="field-error">${error}</p>`}${options.map(
        (option, at) =>
          checkbox({ name: inputName(index, at), label: option.label, checked: values.includes(option.value) }),
      )}</fieldset>`;
    case "text": {
      const most = maxLength === null ? {} : { maxLength, hint: text.atMost(maxLength) };
      return lines
        ? textArea({ ...common, value, rows: 4, ...most })
        : field({ ...common, value, ...most, ...completion(asked) });
    }
  }
}

/** The `autocomplete` values of questions that certainly ask for the reader's own data (WCAG 2.2, 1.3.5). */
function completion(label: string): { autocomplete?: string; inputMode?: "email" | "tel" | "numeric" } {
  if (/^(?:your )?e-?mail(?: address)?$/i.test(label)) return { autocomplete: "email", inputMode: "email" };
  if (/^(?:your )?(?:phone|telephone|mobile)(?: number)?$/i.test(label))
    return { autocomplete: "tel", inputMode: "tel" };
  if (/^(?:your )?(?:full )?name$/i.test(label)) return { autocomplete: "name" };
  if (/^zip(?: code)?$/i.test(label)) return { autocomplete: "postal-code", inputMode: "numeric" };
  if (/^(?:street )?address$/i.test(label)) return { autocomplete: "street-address" };
  if (/^city$/i.test(label)) return { autocomplete: "address-level2" };
  return {};
}

function shown({ answers }: Fill, { name, kind, options }: Question, { fill }: Words): Html | string {
  const values = answers.get(name) ?? [];
  if (values.length === 0) return html`<span class="quiet-text">${fill.none}</span>`;
  if (kind === "checkbox") return fill.yes;
  if (kind === "text")
    return html`${(values[0] ?? "").split("\n").map((line, at) => html`${at > 0 && html`<br>`}${line}`)}`;
  return values.map((value) => options.find((option) => option.value === value)?.label ?? value).join(", ");
}
