import { hiddenFields } from "../../../ui/forms/button-form.ts";
import { type Choice, field, select } from "../../../ui/forms/fields.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { type Html, html } from "../../../ui/render.ts";
import { authChoices, languageChoices } from "../signer-choices.ts";
import { type RefusalWords, rowLabels } from "../words.ts";
import type { Part } from "./form-parts.ts";
import { maxRows, namedRows, type RowMember, rowCount, rowField } from "./signer-rows.ts";

export const moreSignersPath = "/dashboard/orders/new/signers";

/**
 * The rows for the people who sign, needed if the client is not the only signer. They are collapsed until something is
 * entered.
 */
export function signerRowsPart(
  part: Part,
  values: FormValues,
  problems: readonly RefusalWords[],
  textCodes: boolean,
): Html {
  const rows = rowCount(values);
  const auth = part("signer_auth");
  const hasSigners =
    rows > rowCount({}) ||
    namedRows(values).length > 0 ||
    [auth.value, auth.error, part("signers").error].some(Boolean);
  const addSigner = html`<button type="submit" class="quiet-button" id="add-signer" formaction="${moreSignersPath}#signer-row-${rows + 1}" formenctype="application/x-www-form-urlencoded" formnovalidate>Add another signer</button>`;
  return html`<details class="signer-rows" id="signer-rows"${hasSigners && html` open`}><summary>Add signers</summary>
<p class="hint">Without a name here, the client signs. Once you name somebody, only the people named here sign, so name the client too if the client signs. A row that you leave empty is nobody. Signers with the same turn sign at the same time, after those of earlier turns.</p>
<div class="form">${select({ ...auth, options: [{ value: "", label: "The link in the email" }, ...authChoices(textCodes).slice(1)] })}
${Array.from({ length: rows }, (_, index) => signerRow(index + 1, values, problems, textCodes))}
${hiddenFields({ signer_rows: String(rows) })}
${rows < maxRows && html`<div class="form-actions">${addSigner}</div>`}
</div>
</details>`;
}

function signerRow(row: number, values: FormValues, problems: readonly RefusalWords[], textCodes: boolean): Html {
  const part = (member: RowMember) => {
    const name = rowField(row, member);
    const error = problems.find(({ field }) => field === name)?.text;
    return { name, label: rowLabels[member], value: values[name], required: "sometimes" as const, error };
  };
  return html`<fieldset class="signer-row" id="signer-row-${row}"><legend>Signer ${row}</legend>
<div class="form-pair">${field({ ...part("name"), maxLength: 200 })}
${field({ ...part("email"), type: "email", maxLength: 254 })}</div>
<div class="form-pair">${select({ ...part("routing"), options: turns })}
${select({ ...part("language"), options: languageChoices })}</div>
<div class="form-pair">${select({ ...part("auth"), options: [{ value: "", label: "As for all signers" }, ...authChoices(textCodes)] })}
${field({ ...part("access_code"), maxLength: 64, autocomplete: "off", hint: "Only with an access code. Tell it to the person yourself." })}</div>
${textCodes && field({ ...part("phone"), type: "tel", maxLength: 40, hint: "Only with a code by text message: 10 US digits, or start with + and the country code." })}
</fieldset>`;
}

const turns: readonly Choice[] = Array.from({ length: 10 }, (_, index) => {
  const turn = String(index + 1);
  return { value: turn, label: turn };
});
