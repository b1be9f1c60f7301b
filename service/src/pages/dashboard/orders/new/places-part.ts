import { maxSize, minSize, requestedKinds } from "../../../../orders/order/order.ts";
import { checkbox } from "../../../ui/forms/fields.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { type Html, html } from "../../../ui/render.ts";
import { fieldRefusal } from "../words.ts";
import type { Part } from "./form-parts.ts";

/**
 * The URL of the form's stored file, which was sent with a rejected form or completed online. Our script renders the
 * pages of this file.
 */
export const storedFilePath = "/dashboard/orders/new/file";

/** The URL from which our script of the field editor requests a preview. */
export const previewPath = "/dashboard/places/preview";

/** The elements with which our script places fields on the pages of one document. */
export type PlacesElements = {
  /** The id of this part of the page. The ids of its status line, pictures and buttons begin with this id. */
  id: string;
  /** The name of the hidden input that contains the placed fields as text. */
  name: string;
  value: string | undefined;
  /** The reasons why placed fields were rejected, each with the field's index. */
  refusals: readonly { index: number; text: string }[];
  /** The URL of the stored file; empty when the form has none. */
  fileUrl: string;
  /** The text that is shown until the script has loaded the document. */
  text: string;
  /** In a form with several documents: words for the document, used in the buttons' labels for screen readers. */
  about?: string;
};

export const placesElements = (
  { id, name, value = "", refusals, fileUrl, text, about }: PlacesElements,
  more: { title?: Html; ask?: Html; below?: Html | undefined | "" | false } = {},
): Html => html`<div class="places-part" id="${id}" data-sizes="${sizes}" data-refused="${JSON.stringify(refusals)}" data-kept="${fileUrl}" data-preview="${previewPath}">
<input type="hidden" id="field-${name}" name="${name}" value="${value}">
${more.ask}
<div class="with-script-block">${more.title}
<p class="form-note" id="${id}-said" role="status" tabindex="-1">${text}</p>
<div class="places-pictures" id="${id}-pictures" aria-hidden="true"></div>
<div class="form-actions">${placesButtons(id, about)}</div></div>
${more.below}
</div>`;

const placesButtons = (id: string, about: string | undefined): Html =>
  about === undefined
    ? html`<button type="button" class="quiet-button" id="${id}-open" disabled>Place fields on the pages</button>
<button type="button" class="quiet-button" id="${id}-clear" hidden>Remove all fields</button>`
    : html`<button type="button" class="quiet-button" id="${id}-open" disabled data-about="${about}">Place fields</button>
<button type="button" class="quiet-button" id="${id}-clear" hidden aria-label="Remove all fields, ${about}">Remove all fields</button>`;

/**
 * The part of the form in which our script shows the pages of the chosen document, and the sender places fields on
 * them. Without JavaScript, the document's own fields and tags define where people sign.
 * @param messages why the form was rejected, in the API's words
 */
export function placesPart(part: Part, values: FormValues, messages: readonly string[]): Html {
  const { error } = part("fields");
  const refused = messages.filter((each) => each.startsWith("fields[")).map(fieldRefusal);
  const refusals = refused.map(({ index, rule }) => ({ index, text: rule }));
  const isAsked = values["page_added"] === "on" || messages.some((each) => /^fields is required/.test(each));
  const fileUrl = values["fill_token"] ? `${storedFilePath}/${values["fill_token"]}` : "";
  const text = "Choose a PDF above. Then you can say on its pages where each person signs and fills in.";
  return placesElements(
    { id: "places", name: "fields", value: values["fields"], refusals, fileUrl, text },
    {
      title: html`<h2>Fields on the pages</h2>`,
      ask: html`<input type="hidden" id="places-ask" name="page_added" value="ask" disabled>`,
      below: html`${error && html`<p class="field-error" id="field-fields-error">${error}</p>`}
${isAsked && checkbox({ name: "page_added", label: "Add a page for signatures at the end, where the document has no place for a signer.", checked: values["page_added"] === "on" })}`,
    },
  );
}

const sizes = JSON.stringify(
  Object.fromEntries(requestedKinds.map((kind) => [kind, { min: minSize[kind], max: maxSize[kind] }])),
);
