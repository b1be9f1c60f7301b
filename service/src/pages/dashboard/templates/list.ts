import type { TemplateVersion } from "../../../orders/templates/templates.ts";
import { card, emptyState, notice, pageHead } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { flagsOf, path, pdfField } from "./body.ts";

export type Match = { templateId: string; name: string; version: number; likeness: string };

export type TemplatesView = FormSubmission & {
  templates: readonly TemplateVersion[];
  nextCursor: string | null;
  isFirstPage: boolean;
  archived: boolean;
  /** The templates that match an uploaded PDF; null without an uploaded PDF. */
  matches: readonly Match[] | null;
  error?: string | undefined;
};

/** The firm's templates, and the form that finds the template of a PDF. */
export function templatesBody(view: TemplatesView): Html {
  const lead =
    "A template is a type of document: its form, its fields, the roles of those who sign it, and its services. An order from it needs only the people.";
  const actions = html`<p class="room-links"><a href="${path}/new">Make a template</a>${
    view.archived
      ? html`<a href="${path}">Templates in use</a>`
      : html`<a href="/dashboard/fills">Forms filled in online</a><a href="${path}?archived=true">Archived templates</a>`
  }</p>`;
  return html`${pageHead(view.archived ? "Archived templates" : "Templates", lead, actions)}
${errorSummary(view.error)}
<div class="panels">
${card("templates", view.archived ? "Archived" : "Your templates", list(view))}
${!view.archived && card("match", "Find the template of a PDF", matchPart(view))}
</div>`;
}

function list({ templates, nextCursor, isFirstPage, archived }: TemplatesView): Html {
  if (templates.length === 0)
    return archived
      ? emptyState("Nothing is archived", "An archived template places no orders, and can be restored.")
      : emptyState("No templates yet", "Make one of a PDF, or of an order on its page.");
  const query = archived ? "?archived=true" : "";
  return html`${records(
    "Your templates, newest first",
    [
      { label: "Template" },
      { label: "Roles" },
      { label: "Services" },
      { label: "Version", number: true },
      { label: "Last change", utc: true },
    ],
    templates.map((template) => [
      html`<a href="${path}/${template.templateId}">${template.name}</a>`,
      template.content.roles.map(({ name }) => name).join(", ") || html`<span class="quiet-text">None</span>`,
      flagsOf(template),
      String(template.version),
      shortTime(template.createdAt),
    ]),
  )}
${
  (nextCursor !== null || !isFirstPage) &&
  html`<nav class="pager" aria-label="More templates">${!isFirstPage && html`<a href="${path}${query}">Newest templates</a>`}${
    nextCursor !== null &&
    html`<a href="${path}?cursor=${nextCursor}${archived && "&archived=true"}" rel="next">Older templates</a>`
  }</nav>`
}`;
}

const likenessWords: Readonly<Record<string, string>> = {
  same_file: "the very same file",
  same_form: "the same words, with other entries",
};

const matchPart = (view: TemplatesView): Html =>
  html`${view.matches && matchesPart(view.matches)}
<form class="form" method="post" action="${path}/match" enctype="multipart/form-data">
${submissionFields(view)}
${pdfField("We compare its words with your templates, and keep nothing of it.", true)}
<div class="form-actions"><button type="submit">Find its template</button></div>
</form>`;

const matchesPart = (matches: readonly Match[]): Html =>
  matches.length === 0
    ? notice(
        "info",
        "No template has this form",
        "Its words are not those of any template. Scans have no words to compare.",
      )
    : html`<div class="notice done" role="status"><div><p class="notice-title">This PDF has a template</p><ul>${matches.map(
        ({ templateId, name, likeness }) =>
          html`<li><a href="${path}/${templateId}/order">Place an order from ${name}</a>: ${likenessWords[likeness] ?? ""}</li>`,
      )}</ul></div></div>`;
