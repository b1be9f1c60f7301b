import type { VersionedPricing } from "../../../orders/pricing/pricing.ts";
import { usStates } from "../../../orders/pricing/pricing.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, field, helpText, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Part } from "../orders/new/form-parts.ts";
import { type ClosingDocument, clientSigns, peopleIn, peopleRows } from "./fields.ts";
import { maxPeople, personLabel } from "./person-label.ts";

type Pricing = Pick<VersionedPricing, "notarizationBlocked">;

/**
 * The people of the closing, each named once. The field for the U.S. state of the signer is collapsed until it has a
 * value, or a document is ticked for notarization.
 * @param rowsPath the URL of the button that adds a row
 */
export function peoplePart(
  part: Part,
  {
    values,
    pricing,
    isNotarized,
    rowsPath,
  }: { values: FormValues; pricing: Pricing; isNotarized: boolean; rowsPath: string },
): Html {
  const rows = peopleRows(values);
  const isStateOpen = isNotarized || (values["signer_state"] ?? "") !== "";
  return html`<fieldset id="closing-people"><legend>People</legend>
<div class="form-pair">${field({ ...part("email"), type: "email", required: true, maxLength: 254 })}
${field({ ...part("name"), maxLength: 200 })}</div>
${checkbox({ name: "client_signs", label: "The client signs", checked: clientSigns(values) })}
<details id="closing-state"${isStateOpen && html` open`}><summary>${part("signer_state").label}, for a notary</summary>${select({ ...part("signer_state"), options: states(pricing) })}</details>
${Array.from({ length: rows }, (_, index) => personRow(index + 1, values))}
${hiddenFields({ people_rows: String(rows) })}
${rows < maxPeople && html`<div class="form-actions"><button type="submit" class="quiet-button" name="more_people" value="1" formaction="${rowsPath}#closing-people" formnovalidate>Add another person</button></div>`}
${helpText(
  "people",
  html`<p>The client gets updates about the closing, and pays unless your firm does.</p>
<p>Somebody who does not sign gets the link of the closing’s room. It shows how far each document is, and contains none. A lender gets documents under “Who receives what”.</p>`,
)}
</fieldset>`;
}

/** A row for each document with a box for each person. Our script hides the boxes that have no effect. */
export function signersPart(documents: readonly ClosingDocument[], values: FormValues): Html {
  const named = peopleIn(values);
  const people = [
    { row: "client", name: values["name"] ?? "", signs: clientSigns(values) },
    ...Array.from({ length: peopleRows(values) }, (_, index) => {
      const row = String(index + 1);
      const signs = values[`person${row}_role`] !== "follows";
      return { row, name: named.find((each) => String(each.row) === row)?.name ?? "", signs };
    }),
  ];
  return html`<fieldset id="closing-signers"><legend>Who signs what</legend>
<noscript><p class="hint">To a document without such fields or tags, a page for the signatures is added.</p></noscript>
${documents.map(
  ({ n, name, signers }) =>
    html`<div class="closing-signers" id="signers-row-${n}" role="group" aria-labelledby="signers-name-${n}"><p class="breakable" id="signers-name-${n}">${n}. ${name || "File"}</p>
${people.map(({ row, ...person }) => checkbox({ name: `doc${n}_signs_${row}`, label: personLabel(row, person), checked: signers.has(row) }))}</div>`,
)}
${helpText(
  "who signs what",
  html`<p>For the documents that are signed or notarized. Everybody who signs a document gets a copy of it; a person who signs several has one link for all of them. Signatures go where you place them, else where a PDF has fields or tags for them.</p>`,
)}
</fieldset>`;
}

/** A row for each document with a box for each person who can receive the final document. */
export const receiversPart = (documents: readonly ClosingDocument[], values: FormValues): Html =>
  html`<details id="closing-receivers"${documents.some(({ receivers }) => receivers.size > 0) && html` open`}><summary id="receivers-title">Who receives what <span class="optional">(optional: for a lender or others)</span></summary>
<p class="hint">For a lender, or anybody else who needs the documents. The final document is sent to them once it is done:
by a link that ends after 14 days, and asks for a code that is mailed to them.
Its custody certificate comes with it, which names the signers with their addresses and the order’s code, which opens the order’s page.
The client, and those who sign by a link, get their copies anyway.
To send all documents together instead, as one zip, leave the boxes empty and use “Send to the lender” in the closing’s room.</p>
${documents.map(
  ({ n, name, receivers }) =>
    html`<div class="closing-signers" role="group" aria-labelledby="receivers-title receivers-name-${n}"><p class="breakable" id="receivers-name-${n}">${n}. ${name || "File"}</p>
${Array.from({ length: peopleRows(values) }, (_, index) => {
  const row = String(index + 1);
  const named = peopleIn(values).find((each) => String(each.row) === row)?.name ?? "";
  return checkbox({
    name: `doc${n}_gets_${row}`,
    label: personLabel(row, { name: named, signs: true }),
    checked: receivers.has(row),
  });
})}</div>`,
)}
</details>`;

const roles = [
  { value: "signs", label: "Signs" },
  { value: "follows", label: "Does not sign: follows the closing in its room" },
];

const personRow = (
  row: number,
  values: FormValues,
): Html => html`<fieldset class="signer-row" id="person-row-${row}"><legend>Person ${row}</legend>
<div class="form-pair">${field({ name: `person${row}_name`, label: "Name", value: values[`person${row}_name`], required: "sometimes", maxLength: 200 })}
${field({ name: `person${row}_email`, label: "Email", value: values[`person${row}_email`], required: "sometimes", type: "email", maxLength: 254 })}
${select({ name: `person${row}_role`, label: "Role", value: values[`person${row}_role`], required: "sometimes", options: roles })}</div>
</fieldset>`;

const states = ({ notarizationBlocked }: Pricing) => [
  { value: "", label: "Not known yet" },
  ...[...usStates].map(([value, { name }]) => ({
    value,
    label: notarizationBlocked(value) ? `${name} (no online notarization)` : name,
  })),
];
