import { leastSize, mostSize, requestedKinds } from "../../../../orders/order/order.ts";
import { checkbox } from "../../../ui/forms/fields.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { type Html, html } from "../../../ui/render.ts";
import { fieldRefusal } from "../words.ts";
import type { Part } from "./form-parts.ts";

/** The address of the file of a refused form, for our own script, which shows its pages. */
export const keptFilePath = "/dashboard/orders/new/file";

/**
 * The part of the form that opens the pages of the chosen document. Our script lets the sender place fields on them.
 * Without a script, the document's own marks decide where people sign.
 * @param messages why the form was refused, in the words of the API
 */
export function placesPart(part: Part, values: FormValues, messages: readonly string[]): Html {
  const { error } = part("fields");
  const refused = messages.filter((each) => each.startsWith("fields[")).map(fieldRefusal);
  const refusals = refused.map(({ index, rule }) => ({ index, text: rule }));
  const isAsked = values["page_added"] === "on" || messages.some((each) => /^fields is required/.test(each));
  const kept = values["fill_token"] ? `${keptFilePath}/${values["fill_token"]}` : "";
  return html`<div class="places-part" id="places" data-sizes="${sizes}" data-refused="${JSON.stringify(refusals)}" data-kept="${kept}">
<input type="hidden" id="field-fields" name="fields" value="${values["fields"] ?? ""}">
<input type="hidden" id="places-ask" name="page_added" value="ask" disabled>
<div class="with-script-block"><h2>Fields on the pages</h2>
<p class="form-note" id="places-said" role="status">Choose a PDF above. Then you can say on its pages where each person signs and fills in.</p>
<div class="places-pictures" id="places-pictures" aria-hidden="true"></div>
<div class="form-actions"><button type="button" class="quiet-button" id="places-open" disabled>Place fields on the pages</button></div></div>
${error && html`<p class="field-error" id="field-fields-error">${error}</p>`}
${isAsked && checkbox({ name: "page_added", label: "Add a page for signatures at the end, where the document has no place for a signer.", checked: values["page_added"] === "on" })}
</div>`;
}

const sizes = JSON.stringify(
  Object.fromEntries(requestedKinds.map((kind) => [kind, { least: leastSize[kind], most: mostSize[kind] }])),
);
