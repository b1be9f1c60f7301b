import type { VersionedPricing } from "../../../orders/pricing/pricing.ts";
import type { TemplateVersion } from "../../../orders/templates/templates.ts";
import { notice, pageHead } from "../../ui/components.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, helpText, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import { type Part, shippingPart } from "../orders/new/form-parts.ts";
import { placesElements, storedFilePath } from "../orders/new/places-part.ts";
import { isPriceFirst } from "../orders/new/shown-charge.ts";
import { chargeNote, labels, paidFirst } from "../orders/words.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { draftFields, draftNote, type FormDraft } from "./draft.ts";
import {
  acceptsFileWithForm,
  type ClosingDocument,
  documentsIn,
  fileText,
  maxDocuments,
  needsPageBox,
  sealsWhenDone,
} from "./fields.ts";
import { faultNote } from "./file.ts";
import { peoplePart, receiversPart, signersPart } from "./people.ts";
import type { RefusedFields } from "./place.ts";
import type { ClosingQuote } from "./quote.ts";
import { templateNote, type UsedTemplate, usedNote, waysNote } from "./templates.ts";

export const path = "/dashboard/closings/new";
/**
 * The URL that changes the form's rows, saves the form as a draft, and shows it again. It does not place the closing.
 */
export const rowsPath = `${path}/rows`;
/**
 * The URL of the button that adds a file in browsers without JavaScript. It receives the file and all other fields of
 * the form.
 */
export const addPath = `${path}/add`;
/** The URL to which our script uploads a single file. */
export const filePath = `${path}/file`;
export const quotePath = `${path}/quote`;

export type ClosingFormView = FormSubmission & {
  pricing: Pick<VersionedPricing, "notarizationBlocked">;
  values: FormValues;
  messages: readonly string[];
  quote: ClosingQuote;
  /** The URL of the folder with pdf.js, with which the script draws the pages. */
  pdfJs: string;
  /** The templates that were made from the same PDF forms as the documents, keyed by template id. */
  templates: ReadonlyMap<string, TemplateVersion>;
  /** The template that was just used for a document. */
  used: UsedTemplate | null;
  draft: FormDraft;
  /**
   * `note` is a sentence that names the time zone of the page's dates. `isChosen` is true if an owner chose that zone.
   */
  zone: { note: Html; isChosen: boolean };
  /** A text above the form. */
  note: Html;
  /** The reasons why placed fields were rejected, keyed by the document's number. */
  refusedFields: RefusedFields;
  /** The numbers of the documents that were rejected because at least one signer has no place to sign. */
  withoutPlace: readonly number[];
};

const serviceLabels = { sign: "Signed", notary: "Notarized online", ship: "Shipped on paper", fax: "Faxed" } as const;

/**
 * The form of a whole closing: its documents, its people (each named once), the destination of the documents, and the
 * payer.
 */
export function closingFormBody(view: ClosingFormView): Html {
  const { environment, values, messages, pricing } = view;
  const isTest = environment === "test";
  const usual = isTest ? "Place the test closing" : "Place the closing";
  const documents = documentsIn(values);
  const part: Part = (name) => ({ name, label: labels[name], value: values[name], error: undefined });
  return html`${pageHead(isTest ? "New test closing" : "New closing", html`Several documents, the same people, one room. <a href="/docs/closing-agents">How a closing goes</a>`)}
${!isTest && notice("attention", "A real closing", "Its documents will be priced, signed, notarized, and sent for real.")}
${view.note}
${errorSummary([...messages.map(withTarget), ...withoutPlaceWords(view, documents)])}
<form class="form order-form closing-form card" id="closing-form" method="post" action="${path}" data-rows="${rowsPath}" data-file="${filePath}" data-quote="${quotePath}" data-max="${maxDocuments}" data-pdf-js="${view.pdfJs}">
<button type="submit" hidden></button>
${submissionFields(view)}${draftFields(view.draft)}
${draftNote(view.draft)}
<fieldset><legend>Closing</legend>
${field({ name: "closing_name", label: "Name", value: values["closing_name"], required: true, maxLength: 200, autocomplete: "off", hint: "For example: “Ortega, 12 Elm Street”." })}
<div class="form-pair">${field({ name: "file_number", label: "File number", value: values["file_number"], maxLength: 120, autocomplete: "off" })}
${field({ name: "closes_on", label: "Closes on", type: "date", value: values["closes_on"] })}</div>
${!view.zone.isChosen && view.zone.note}
${helpText(
  "the closing",
  html`<p>Everyone in the closing’s room sees its name and file number. The file number is part of the names of finished files.</p>
<p>Your list of closings is sorted by the day on which they close. Only your firm sees it.</p>${view.zone.isChosen && view.zone.note}`,
)}
</fieldset>
<fieldset id="closing-documents"><legend>Documents</legend>
${dropZone(documents, values)}
${documents.map((document) => documentRow(document, view))}
</fieldset>
${peoplePart(part, { values, pricing, isNotarized: documents.some(({ services }) => services.notary), rowsPath })}
${documents.length > 0 && signersPart(documents, values)}
${documents.length > 0 && placesPart(documents, values)}
${documents.length > 0 && receiversPart(documents, values)}
${destinationPart(part)}
<fieldset><legend>Payment</legend>
${select({ ...part("pay_by"), value: values["pay_by"] ?? "client", required: true, options: payers })}
${
  (isPriceFirst(values) || messages.some(asksToPriceFirst)) &&
  checkbox({
    name: "price_first",
    label: labels.price_first,
    checked: isPriceFirst(values),
    hint: "Nothing is charged when it is placed. We mail you each price that we set, and somebody of your firm charges it on the room’s page, or cancels the order, which costs nothing.",
  })
}
${helpText(
  "payment",
  html`<p>${paidFirst} One payment covers all documents.</p>
<p>${chargeNote} The client then gets no mail about money and sees no prices.</p>`,
)}
</fieldset>
${certificatePart(values)}
${checkbox({ name: "byod_confirmed", label: "These are the client’s own documents, complete except for the fields that the signers fill in while they sign.", required: true, checked: values["byod_confirmed"] === "on" })}
<input type="hidden" id="asks-before-page" name="asks_before_page" value="on" disabled>
<noscript><p class="hint">This browser runs no script: press “Update the price” before you place the closing. Your firm is charged at once only what the form shows.</p></noscript>
<section id="closing-quote" aria-live="polite" aria-label="Price">${view.quote.shown}</section>
<div class="form-actions"><button type="submit" id="place-closing" data-usual="${usual}">${view.quote.button ?? usual}</button>
<button type="submit" class="quiet-button" formaction="${rowsPath}#closing-quote" formnovalidate>Update the price</button></div>
</form>`;
}

/**
 * The fields for the shipping address and the fax number. The style sheet shows them while a ticked service needs them.
 */
const destinationPart = (part: Part): Html =>
  html`<fieldset class="closing-destination"><legend>Where it goes</legend>
${shippingPart(part, "Address")}
${field({ ...part("fax_to"), required: "sometimes", type: "tel", maxLength: 40, hint: "10 US digits, or start with + and the country code." })}
</fieldset>`;

const certificatePart = (values: FormValues): Html =>
  html`<details${!sealsWhenDone(values) && html` open`}><summary>Closing certificate: ${sealsWhenDone(values) ? "sealed at the end" : "sealed by you"}</summary>
${checkbox({ name: "seals_when_done", label: "Seal it when every order has ended", checked: sealsWhenDone(values), hint: "It lists all documents, and anyone can check it. Nothing is sealed while a document is stuck." })}</details>`;

/** The names of the shared fields to which an error message can be a link. */
const linkable = [
  "email",
  "name",
  "signer_state",
  "ship_name",
  "ship_line1",
  "ship_line2",
  "ship_city",
  "ship_state",
  "ship_postal",
  "fax_to",
  "pay_by",
  "byod_confirmed",
] as const;

/** The labels with which the error messages about the room's own fields begin. */
const roomLabels = [
  { name: "closing_name", label: "“Name” of the closing" },
  { name: "file_number", label: `“${labels.external_reference}”` },
  { name: "closes_on", label: "“Closes on”" },
] as const;

/** An error message as a link to its field, because the form is several screens long. */
function withTarget(message: string): Html | string {
  const [, kind, n, member] = /^(Document|Person) (\d+)(: “Email”)?/.exec(message) ?? [];
  const ofRoom = roomLabels.find(({ label }) => message.startsWith(label))?.name;
  const shared = ofRoom ?? linkable.find((name) => message.startsWith(`“${labels[name]}”`));
  const ofPerson = member === undefined ? `person${n}_name` : `person${n}_email`;
  const name = kind === "Document" ? `doc${n}_name` : kind === "Person" ? ofPerson : shared;
  return name === undefined ? message : html`<a href="#field-${name}">${message}</a>`;
}

const asksToPriceFirst = (message: string): boolean => message.startsWith(`“${labels.price_first}”`);

/**
 * A sentence that names all documents in which a signer has no place to sign. It links to both solutions: place fields,
 * or permit an added page.
 */
function withoutPlaceWords(
  { withoutPlace }: Pick<ClosingFormView, "withoutPlace">,
  documents: readonly ClosingDocument[],
): Html[] {
  const links = documents
    .filter(({ n }) => withoutPlace.includes(n))
    .map(({ n, name }, index) => html`${index > 0 && ", "}<a href="#places-${n}-open">${n}. ${name || "File"}</a>`);
  if (links.length === 0) return [];
  const those = links.length === 1 ? "This document lacks" : "These documents lack";
  return [
    html`${those} a place to sign for at least one signer: ${links}. Place fields on the pages, or <a href="#field-page_added">let a page be added</a>.`,
  ];
}

/** The area that accepts files: several at once with JavaScript, otherwise one at a time. */
function dropZone(documents: readonly ClosingDocument[], values: FormValues): Html {
  if (documents.length >= maxDocuments)
    return html`<p class="hint">A closing begins with at most ${maxDocuments} documents. Add more from its room.</p>`;
  return html`<div class="drop order-drop" id="document-drop"><label for="field-document">Add files<span class="visually-hidden">: PDFs</span></label>
<p class="hint" id="field-document-hint"><span class="by-mouse with-script">Drop all PDFs here, or choose them.</span> Each PDF has at most 35 MB.</p>
<input type="file" id="field-document" name="document" accept="application/pdf,.pdf" aria-describedby="field-document-hint">
<p id="document-said" class="hint" role="status"></p>
<noscript>${
    acceptsFileWithForm(values, documents)
      ? html`<button type="submit" class="quiet-button" formaction="${addPath}#closing-documents" formenctype="multipart/form-data" formnovalidate>Add this file</button>`
      : html`<p class="hint">Place the closing with these documents, then add the others from its room.</p>`
  }</noscript></div>`;
}

function documentRow(
  document: ClosingDocument,
  { values, templates, used, refusedFields, withoutPlace }: ClosingFormView,
): Html {
  const { n, fileName, pages, name, services, own, token } = document;
  const template = templates.get(document.template);
  const hasWays = services.sign && document.ways !== "";
  const about = `document ${n}: ${name}`;
  const destinationButton = own
    ? rowButton("shared", n, "Use the closing’s address and fax number", about)
    : rowButton("own", n, "Another address or fax number", about);
  const removeButton = html`<button type="submit" class="quiet-button" name="remove" value="${n}" formaction="${rowsPath}#closing-documents" formnovalidate aria-label="Remove ${about}">Remove</button>`;
  return html`<fieldset class="signer-row" id="document-row-${n}"><legend class="breakable">${n}. ${fileName === "" ? "File" : fileName} (${pages === 1 ? "1 page" : `${pages} pages`})</legend>
${hiddenFields({
  [`doc${n}`]: fileText(document),
  ...(template && { [`doc${n}_template`]: document.template }),
  ...(document.ways !== "" && { [`doc${n}_ways`]: document.ways }),
  ...(document.fault !== "" && { [`doc${n}_fault`]: document.fault }),
})}
${template && !hasWays && templateNote(document, template, rowsPath)}
${used?.n === n && usedNote(used)}
${hasWays && used?.n !== n && waysNote(values, document, { hasTemplate: template !== undefined, rowsPath })}
${field({ name: `doc${n}_name`, label: "Name", value: name, required: true, maxLength: 120, autocomplete: "off" })}
<div class="form-pair" role="group" aria-label="Services for document ${n}">${Object.entries(serviceLabels).map(
    ([service, label]) =>
      checkbox({ name: `doc${n}_${service}`, label, checked: services[service as keyof typeof services] }),
  )}</div>
${isOften(document) && html`<p class="hint often-notarized">Often notarized.</p>`}
${faultNote(document)}
${own && ownPart(n, own)}
${placesElements({
  id: `places-${n}`,
  name: `doc${n}_fields`,
  value: document.fields,
  refusals: refusedFields.get(n) ?? [],
  fileUrl: `${storedFilePath}/${token}`,
  text: "",
  about,
})}
${withoutPlace.includes(n) && html`<p class="field-error">It lacks a place to sign for at least one signer.</p>`}
<div class="form-actions">${destinationButton}${removeButton}</div>
</fieldset>`;
}

const rowButton = (button: "own" | "shared", n: number, label: string, about: string): Html =>
  html`<button type="submit" class="quiet-button" name="${button}" value="${n}" formaction="${rowsPath}#document-row-${n}" formnovalidate aria-label="${label}, ${about}">${label}</button>`;

/** The fields for a document that goes somewhere else than the closing's other documents. */
function ownPart(n: number, own: FormValues): Html {
  const part: Part = (name) => ({ name: `doc${n}_${name}`, label: labels[name], value: own[name], error: undefined });
  return html`<div class="own-destination">${hiddenFields({ [`doc${n}_own`]: "on" })}
<p class="hint">An address or a number that is empty here is that of the closing.</p>
${shippingPart(part, `Where document ${n} goes`)}
${field({ ...part("fax_to"), type: "tel", maxLength: 40 })}</div>`;
}

/**
 * Matches names of documents that are usually notarized. For these, the form suggests notarization, but never ticks it.
 */
const oftenNotarized = /\b(?:deed|mortgage|affidavit|power of attorney)\b/i;

const isOften = ({ name, fault }: ClosingDocument): boolean => fault === "" && oftenNotarized.test(name);

/** Our script lists here the places found in the documents ticked for signing. One click places fields there. */
const placesPart = (documents: readonly ClosingDocument[], values: FormValues): Html =>
  html`<fieldset class="with-script-block" id="closing-places" tabindex="-1" hidden><legend>Where they sign</legend>
<ul id="closing-places-list"></ul>
<div class="form-actions"><button type="button" id="closing-places-all" hidden></button><button type="button" class="quiet-button" id="closing-places-none" hidden></button></div>
<p class="form-note" id="closing-places-said" role="status"></p>
<div id="page-added"${!needsPageBox(documents) && html` hidden`}>${checkbox({
    name: "page_added",
    label: "Where a document has no place for somebody to sign, add a page for signatures at its end.",
    checked: values["page_added"] === "on",
  })}</div>
</fieldset>`;

const payers = [
  { value: "client", label: "The client" },
  { value: "firm", label: "Your firm" },
];
