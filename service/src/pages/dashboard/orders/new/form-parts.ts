import { usStates } from "../../../../orders/pricing/pricing.ts";
import { hiddenFields } from "../../../ui/forms/button-form.ts";
import { type Choice, field, select } from "../../../ui/forms/fields.ts";
import { icon } from "../../../ui/icons.ts";
import { type Html, html } from "../../../ui/render.ts";
import type { OrderField } from "../words.ts";

/** Name, label, typed value and error of a field. */
export type Part = (name: OrderField) => {
  name: string;
  label: string;
  value: string | undefined;
  error: string | undefined;
};

/** A stored file that the form names: it was sent with a rejected form, or completed online. */
export type StoredFormFile = { token: string; name: string; pages: string };

/**
 * The input for a file. Browsers forget a chosen file when a form is rejected, so the server stores the file. `again`
 * is true if the form was sent before. If the server has no file then, the input says that the file must be chosen
 * again.
 */
export function fileField({
  name,
  label,
  error,
  again,
  stored,
}: Omit<ReturnType<Part>, "value"> & { again: boolean; stored: StoredFormFile | null }): Html {
  const id = `field-${name}`;
  const described = [`${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const hint = again && !stored && html` <strong>Choose it again</strong>: browsers do not keep a chosen file.`;
  return html`<div class="form-field"><div class="drop order-drop" id="document-drop"><label for="${id}">${label}<span class="visually-hidden">: a PDF</span></label>
<p class="hint" id="${id}-hint"><span class="by-mouse with-script">Drop a PDF here, or choose one.</span> A PDF of at most 35 MB.${hint}</p>
${stored && storedPart(stored)}
<input type="file" id="${id}" name="${name}" accept="application/pdf,.pdf"${!stored && html` required`} aria-describedby="${described}"${error && html` aria-invalid="true"`}>
<p id="document-said" class="hint" role="status"></p><div id="document-templates" role="status"></div></div>
${error && html`<p class="field-error" id="${id}-error">${error}</p>`}</div>`;
}

function storedPart({ token, name, pages }: StoredFormFile): Html {
  const shownName = name === "" ? "your file" : name;
  const shownPages = pages === "1" ? "1 page" : `${pages} pages`;
  return html`<p class="kept-file">${icon("done")} We kept <strong class="breakable">${shownName}</strong> (${shownPages}). Choose a file only to replace it.</p>
${hiddenFields({ fill_token: token, document_name: name, document_pages: pages })}`;
}

export const states: readonly Choice[] = [
  { value: "", label: "Choose a state" },
  ...[...usStates].map(([value, { name }]) => ({ value, label: name })),
];

export const shipMethods: readonly Choice[] = [
  { value: "label", label: "A prepaid label" },
  { value: "print_mail", label: "Printed and mailed by us" },
];

function address(part: Part, prefix: "ship" | "from"): Html {
  const must = { required: "sometimes" } as const;
  return html`${field({ ...part(`${prefix}_name`), ...must, maxLength: 200 })}
${field({ ...part(`${prefix}_line1`), ...must, maxLength: 200 })}
${field({ ...part(`${prefix}_line2`), maxLength: 200 })}
${field({ ...part(`${prefix}_city`), ...must, maxLength: 100 })}
<div class="form-pair">${select({ ...part(`${prefix}_state`), ...must, options: states })}
${field({ ...part(`${prefix}_postal`), ...must, maxLength: 20 })}</div>`;
}

/** The shipping address. The style sheet shows it while the box that asks for shipping is ticked. */
export const shippingPart = (
  part: Part,
  legend = "Where it goes",
): Html => html`<fieldset class="ship-part"><legend>${legend}</legend>
${select({ ...part("ship_method"), required: "sometimes", options: shipMethods })}
${address(part, "ship")}
</fieldset>`;

const senderNames = ["from_name", "from_line1", "from_line2", "from_city", "from_state", "from_postal"] as const;

/** The return address, collapsed while it is empty. */
export function senderPart(part: Part): Html {
  const hasSender = senderNames.some((name) => part(name).value || part(name).error);
  return html`<details class="sender-part"${hasSender && html` open`}><summary>Different return address</summary>
<p class="hint">Leave this empty to use this service’s business address as the return address. If you fill it in, only the second line is optional.</p>
<div class="form">${address(part, "from")}</div>
</details>`;
}
