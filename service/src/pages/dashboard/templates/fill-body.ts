import type { FillView, Question } from "../../../orders/fills/fills.ts";
import { card, codeText, emptyState, facts, pageHead, statusBadge, type Tone } from "../../ui/components.ts";
import { plainTime, shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { languageChoices } from "../orders/signer-choices.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { path } from "./body.ts";

export const fillsPath = "/dashboard/fills";

export const catalogFillPath = <Slug extends string>(slug: Slug) => `/dashboard/catalog/${slug}/fill` as const;

export const labelField = (index: number): string => `label${index}`;

const states: Readonly<Record<FillView["state"], { tone: Tone; label: string }>> = {
  open: { tone: "waiting", label: "Waits for answers" },
  completed: { tone: "done", label: "Filled in" },
  used: { tone: "done", label: "Ordered" },
  gone: { tone: "stopped", label: "Deleted, not ordered in time" },
  canceled: { tone: "stopped", label: "Canceled" },
  expired: { tone: "stopped", label: "Expired" },
};

const badge = ({ state }: FillView): Html => statusBadge(states[state].tone, states[state].label);

export type NewFillView = FormSubmission & {
  name: string;
  /** The URL of this page, to which its form is sent. */
  action: string;
  /** The link back to the page of the template or document. */
  back: Html;
  questions: readonly Question[];
  values: FormValues;
  error: string | undefined;
};

/**
 * The form with which a member requests that somebody fills in a template or a catalog document online. It asks for
 * that person, and for the wording of questions for which the PDF has none.
 */
export function newFillBody(view: NewFillView): Html {
  const { name, action, back, questions, values, error } = view;
  const lead = html`A person answers the form’s own fields on a web page. The answers are then printed into the document, and you order it. ${back}`;
  const guessed = questions
    .map((question, index) => ({ question, index }))
    .filter(({ question }) => question.isGuessed);
  return html`${pageHead(`Have ${name} filled in`, lead)}
${errorSummary(error)}
${
  questions.length > 0 &&
  html`<form class="form card" method="post" action="${action}">
${submissionFields(view)}
${field({ name: "name", label: "Name", value: values["name"], maxLength: 200, hint: "Of the person who fills it in." })}
${field({ name: "email", label: "Email", type: "email", value: values["email"], maxLength: 254, required: "sometimes", hint: "Needed only to mail the link." })}
<div class="form-pair">${select({ name: "language", label: "Language", value: values["language"] ?? "en", options: languageChoices, required: true })}
${field({ name: "days", label: "Days that the link works", value: values["days"] ?? "30", maxLength: 2, inputMode: "numeric", required: true })}</div>
${checkbox({ name: "send", label: "Mail the link now", hint: "Otherwise you get a link to pass on.", checked: values["send"] === "on" })}
${
  guessed.length > 0 &&
  html`<fieldset><legend>Questions without words</legend><p class="hint">The PDF does not say what these fields ask for. Write a question for each, so that people understand it.</p>
${guessed.map(({ question, index }) =>
  field({
    name: labelField(index),
    label: `${question.label} (field ${question.name}, page ${question.page})`,
    value: values[labelField(index)],
    maxLength: 200,
    required: "sometimes",
  }),
)}</fieldset>`
}
<div class="form-actions"><button type="submit">Make the form</button></div>
</form>
${card(
  "questions",
  `${questions.length === 1 ? "1 question" : `${questions.length} questions`}`,
  records(
    "The questions of the form",
    [{ label: "Question" }, { label: "Needed" }, { label: "Page", number: true }],
    questions.map(({ label, required, page }) => [label, required ? "Yes" : "No", String(page)]),
  ),
)}`
}`;
}

export type FillDetailView = FormSubmission & { fill: FillView; error: string | undefined };

/** One request to fill in a document online: its state, its link, and the order that was placed with it. */
export function fillBody({ fill, error, submission }: FillDetailView): Html {
  const { id, title, use, isCatalogForm, person, state, url, createdAt, expiresAt, endedAt, usableUntil, orderCode } =
    fill;
  const orderPath = isCatalogForm ? "/dashboard/orders/new" : `${path}/${use.templateId}/order`;
  const isOpen = state === "open";
  const fields = { submission };
  return html`${pageHead(title, badge(fill), html`<p class="room-links"><a href="${fillsPath}">All forms</a>${!isCatalogForm && html`<a href="${path}/${use.templateId}">The template</a>`}</p>`)}
${errorSummary(error)}
<div class="panels">
${card(
  "fill",
  "The form",
  html`${facts([
    ["Person", person.name],
    ["Email", person.email],
    ["Made", plainTime(createdAt)],
    ["The link works until", isOpen ? plainTime(expiresAt) : null],
    ["Ended", endedAt && plainTime(endedAt)],
    ["Order it by", usableUntil && plainTime(usableUntil)],
  ])}
${state === "completed" && html`<p><a class="button" href="${orderPath}?fill=${id}">Place an order with it</a></p>`}
${orderCode !== null && html`<p><a class="button" href="/dashboard/orders/${orderCode}">The order with this document</a></p>`}`,
)}
${
  isOpen &&
  card(
    "link",
    "Its link",
    html`<p>Anyone who has it sees and changes the answers. Give it to the person alone.</p><p>${codeText(url ?? "", "link")}</p>
${person.email !== null && buttonForm(`${fillsPath}/${id}/send`, "Mail the link", { fields, kind: "quiet-button" })}
${buttonForm(`${fillsPath}/${id}/cancel`, "Cancel the form", { fields, kind: "quiet-button" })}`,
  )
}
</div>`;
}

type FillsView = {
  items: readonly FillView[];
  nextCursor: string | null;
  isFirstPage: boolean;
  /** The catalog documents whose form every firm can use. */
  documents: readonly { slug: string; name: string }[];
};

/** The firm's requests to fill in documents online, newest first. */
export function fillsBody({ items, nextCursor, isFirstPage, documents }: FillsView): Html {
  const lead = "Clients answer a form online, and you order the document.";
  const list =
    items.length === 0
      ? emptyState(
          "No forms yet",
          documents.length > 0
            ? "Choose a document above, or make one on a template’s page."
            : "Make one on a template’s page.",
        )
      : records(
          "Your forms, newest first",
          [{ label: "Form" }, { label: "Person" }, { label: "State" }, { label: "Made", utc: true }],
          items.map((fill) => [
            html`<a href="${fillsPath}/${fill.id}">${fill.title}</a>`,
            fill.person.name ?? fill.person.email ?? html`<span class="quiet-text">Nobody named</span>`,
            badge(fill),
            shortTime(fill.createdAt),
          ]),
        );
  return html`${pageHead("Forms filled in online", lead, html`<p class="room-links"><a href="${path}">Templates</a></p>`)}
${
  isFirstPage &&
  documents.length > 0 &&
  card(
    "documents",
    "Documents of the catalog",
    html`<p>They have a form already, so that you need no template. A template of your own for one of them comes first if it has form fields.</p>
<ul>${documents.map(({ slug, name }) => html`<li><a href="${catalogFillPath(slug)}">Have ${name} filled in</a></li>`)}</ul>`,
  )
}
${list}
${
  (nextCursor !== null || !isFirstPage) &&
  html`<nav class="pager" aria-label="More forms">${!isFirstPage && html`<a href="${fillsPath}">Newest forms</a>`}${
    nextCursor !== null && html`<a href="${fillsPath}?cursor=${nextCursor}" rel="next">Older forms</a>`
  }</nav>`
}`;
}
