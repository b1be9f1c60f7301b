import { aKind, serviceFlags } from "../../../orders/order/order.ts";
import type { TemplateVersion } from "../../../orders/templates/templates.ts";
import { card, facts, notice, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, select, textArea } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { placesElements } from "../orders/new/places-part.ts";
import { authChoices, languageChoices } from "../orders/signer-choices.ts";
import { fieldRefusal } from "../orders/words.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { pageWords, type RoleValues, roleField } from "./form-fields.ts";

export const path = "/dashboard/templates";

/** The reason why a form was rejected, in the words of the API, and its typed values. */
type Problem = { error: string; typed: FormValues };

export const flagsOf = ({ content: { services } }: TemplateVersion): string =>
  serviceFlags({
    sign: services.svc_sign !== undefined,
    notarize: services.svc_notary !== undefined,
    ship: services.svc_ship !== undefined,
    fax: false,
  }) || "None";

export const pdfField = (hint: string, required: boolean): Html =>
  html`<div class="form-field"><label for="field-document">PDF${!required && html` <span class="optional">(optional)</span>`}</label>
<p class="hint" id="field-document-hint">${hint} At most 35 MB.</p>
<input type="file" id="field-document" name="document" accept="application/pdf,.pdf"${required && html` required`} aria-describedby="field-document-hint"></div>`;

/** A row of inputs for each role. A row without a name is ignored. */
function rolesPart(rows: readonly RoleValues[], textCodes: boolean): Html {
  return html`${rows.map((row, index) => {
    const at = (member: "name" | "auth" | "language" | "routing") => roleField(index + 1, member);
    return html`<fieldset class="signer-row"><legend>Role ${index + 1}</legend>
${field({ name: at("name"), label: "Name of the role", value: row.name, maxLength: 60, hint: index === 0 ? "For example: Buyer. Orders give it to a person." : undefined, required: "sometimes" })}
<div class="form-pair">${field({ name: at("routing"), label: "Turn", value: row.routing, maxLength: 2, inputMode: "numeric", required: "sometimes" })}
${select({ name: at("language"), label: "Language", value: row.language, options: languageChoices, required: "sometimes" })}</div>
${select({ name: at("auth"), label: "Identified by", value: row.auth, options: authChoices(textCodes), required: "sometimes" })}
</fieldset>`;
  })}`;
}

type PlacesView = {
  /** The placed fields as text, in the API's format. */
  written: string | undefined;
  /** The URL of the template's document, for a new version. Empty when a document must be chosen. */
  fileUrl: string;
  /** The reason why the form was rejected, in the words of the API. */
  error: string | undefined;
};

/**
 * The part of the form in which our script allows the firm to place fields on the document's pages. Without JavaScript
 * the fields stay unchanged.
 */
function placesPart({ written, fileUrl, error }: PlacesView): Html {
  const refused = error?.startsWith("fields[") ? [fieldRefusal(error)] : [];
  return placesElements(
    {
      id: "places",
      name: "fields",
      value: written,
      fileUrl,
      refusals: refused.map(({ index, rule }) => ({ index, text: rule })),
      text: "Choose a PDF above. Then you can say on its pages where each role signs and fills in.",
    },
    { title: html`<h2>Fields on the pages</h2>` },
  );
}

export type TemplateFormView = FormSubmission & {
  /** The URL of the folder with pdf.js. */
  pdfJs: string;
  rows: readonly RoleValues[];
  textCodes: boolean;
  values: FormValues;
  error?: string | undefined;
  /** The order from which the template is created. Null if the template is created from a PDF. */
  order: { code: string; name: string } | null;
};

/** The form that creates a template from a PDF, or from an order. */
export function newTemplateBody(view: TemplateFormView): Html {
  const { values, order, rows, textCodes, pdfJs, error } = view;
  const lead = order
    ? html`From <a href="/dashboard/orders/${order.code}">${order.name}</a>: its document, its fields and its services. Its people become roles. The template keeps a copy of the document, with all that is written in it.`
    : "From a PDF. Its own signature fields and tags say where people sign; where it has none, a page is added to its end.";
  return html`${pageHead("Make a template", lead)}
${errorSummary(error && pageWords(error))}
<form class="form card" id="template-form" method="post" action="${path}/new" enctype="multipart/form-data" data-pdf-js="${pdfJs}">
${submissionFields(view)}
${order ? html`<input type="hidden" name="order" value="${order.code}">` : pdfField("The form, empty or as you use it.", true)}
${field({ name: "name", label: "Name", value: values["name"], required: true, maxLength: 120, hint: "For example: Purchase agreement." })}
${
  !order &&
  html`<fieldset><legend>Services</legend>
${checkbox({ name: "svc_sign", label: "Signing", checked: values["svc_sign"] === "on" || values["name"] === undefined })}
${checkbox({ name: "svc_notary", label: "Online notarization", checked: values["svc_notary"] === "on" })}
${checkbox({ name: "svc_ship", label: "Shipping", checked: values["svc_ship"] === "on" })}</fieldset>`
}
${rolesPart(rows, textCodes)}
${!order && placesPart({ written: values["fields"], fileUrl: "", error })}
${messageField(values["message"])}
<div class="form-actions"><button type="submit">Make the template</button></div>
</form>`;
}

const messageField = (value: string | undefined): Html =>
  textArea({
    name: "message",
    label: "Your words to the signers",
    value,
    maxLength: 500,
    rows: 3,
    hint: "In the email that asks them to sign. No web or email addresses.",
  });

export type TemplateDetailView = FormSubmission & {
  pdfJs: string;
  template: TemplateVersion;
  /** The rejected values and the reason; shown instead of the version's values. */
  problem?: Problem | undefined;
  rows: readonly RoleValues[];
  textCodes: boolean;
  latest: number;
};

/** One template: its content, links to the pages that use it, and the forms that change it. */
export function templateBody(view: TemplateDetailView): Html {
  const { template, latest } = view;
  const { templateId, name, version, archivedAt, content } = template;
  const at = `${path}/${templateId}`;
  const isLatest = version === latest;
  const actions = html`<p class="room-links"><a href="${path}">All templates</a>${
    archivedAt === null &&
    html`<a href="${at}/order">Place an order from it</a><a href="${at}/bulk">Many orders from a list</a><a href="${at}/fill">Have it filled in online</a>`
  }</p>`;
  return html`${pageHead(name, `Version ${version} of ${latest}`, actions)}
${errorSummary(view.problem && pageWords(view.problem.error))}
${archivedAt !== null && notice("attention", "This template is archived", "It places no orders until it is restored.")}
${!isLatest && notice("info", "An earlier version", html`Orders use <a href="${at}">version ${latest}</a> now.`)}
<div class="panels">
${card(
  "details",
  "What it keeps",
  html`${facts([
    ["Services", flagsOf(template)],
    [
      "Document",
      html`<a href="${at}/versions/${version}/document">${name}.pdf</a>, ${template.pages === 1 ? "1 page" : `${template.pages} pages`}`,
    ],
    ["Words to the signers", content.message],
    ["This version", plainTime(template.createdAt)],
    ["Template id", html`<code>${templateId}</code>`],
  ])}${latest > 1 && versionLinks(at, version, latest)}`,
)}
${card("fields", "Where people sign and fill in", fieldsPart(template))}
${isLatest && archivedAt === null && card("edit", "Change it", editPart(view))}
${isLatest && card("archive", archivedAt === null ? "Archive it" : "Restore it", archivePart(view))}
</div>`;
}

const maxLinks = 20;

const versionLinks = (at: string, version: number, latest: number): Html =>
  html`<p>Versions: ${Array.from({ length: Math.min(latest, maxLinks) }, (_, index) => latest - index).map((each) =>
    each === version
      ? html`<strong aria-current="page">${each}</strong> `
      : html`<a href="${at}/versions/${each}">${each}</a> `,
  )}</p>`;

function fieldsPart({ content: { fields, roles } }: TemplateVersion): Html {
  if (fields === null)
    return html`<p>The document’s own signature fields or tags decide. Where it has none, a page is added to its end.</p>`;
  const kindOf = (kind: unknown): string =>
    (aKind as Readonly<Record<string, string>>)[String(kind)]?.replace(/^a /, "") ?? String(kind);
  return records(
    "The fields of the template",
    [{ label: "Field" }, { label: "Role" }, { label: "Page", number: true }, { label: "Label" }],
    fields.map((each) => [
      kindOf(each["kind"]),
      roles[Number(each["signer"]) - 1]?.name ?? "",
      String(each["page"]),
      typeof each["label"] === "string" ? each["label"] : html`<span class="quiet-text">None</span>`,
    ]),
  );
}

function editPart(view: TemplateDetailView): Html {
  const { template, problem, rows, textCodes, pdfJs } = view;
  const { templateId, version, content } = template;
  const values = problem?.typed ?? {};
  const written = values["fields"] ?? (content.fields ? JSON.stringify(content.fields) : "");
  const documentUrl = `${path}/${templateId}/versions/${version}/document`;
  const signs = content.services.svc_sign !== undefined;
  return html`<p>This makes version ${version + 1}. Orders that were placed keep theirs.</p>
<form class="form" id="template-form" method="post" action="${path}/${templateId}" enctype="multipart/form-data" data-pdf-js="${pdfJs}">
${submissionFields(view)}
<input type="hidden" name="from_version" value="${version}">
${field({ name: "name", label: "Name", value: values["name"] ?? template.name, required: true, maxLength: 120 })}
${signs && rolesPart(rows, textCodes)}
${signs && placesPart({ written, fileUrl: documentUrl, error: problem?.error })}
${signs && messageField(values["message"] ?? template.content.message ?? "")}
${pdfField("Choose one only to replace the form. The fields stay where they are on the page.", false)}
<div class="form-actions"><button type="submit">Save as version ${version + 1}</button></div>
</form>`;
}

function archivePart(view: TemplateDetailView): Html {
  const { templateId, archivedAt } = view.template;
  const at = `${path}/${templateId}`;
  const fields = { submission: view.submission };
  return archivedAt === null
    ? html`<p>An archived template places no more orders. Orders that were placed from it go on.</p>${buttonForm(`${at}/archive`, "Archive the template", { fields, kind: "quiet-button" })}`
    : html`<p>It places orders again.</p>${buttonForm(`${at}/restore`, "Restore the template", { fields, kind: "quiet-button" })}`;
}
