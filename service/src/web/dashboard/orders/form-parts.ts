import { usStates } from "../../../pricing/pricing.ts";
import { type Choice, field, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import type { OrderField } from "./words.ts";

/** Name, label, typed value and error of a field. */
export type Part = (name: OrderField) => {
  name: OrderField;
  label: string;
  value: string | undefined;
  error: string | undefined;
};

/** A file to choose. `again`: the form was refused, and a browser keeps no chosen file. */
export function fileField({ name, label, error, again }: Omit<ReturnType<Part>, "value"> & { again: boolean }): Html {
  const id = `field-${name}`;
  const described = [`${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return html`<div class="form-field"><label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">A PDF of at most 35 MB.${again && html` <strong>Choose it again</strong>: browsers do not keep a chosen file.`}</p>
<input type="file" id="${id}" name="${name}" accept="application/pdf,.pdf" required aria-describedby="${described}"${error && html` aria-invalid="true"`}>
${error && html`<p class="field-error" id="${id}-error">${error}</p>`}</div>`;
}

const states: readonly Choice[] = [
  { value: "", label: "Choose a state" },
  ...[...usStates].map(([value, { name }]) => ({ value, label: name })),
];

const methods: readonly Choice[] = [
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

/** Where it is shipped to; the style sheet shows it with the box that asks for shipping. */
export const shippingPart = (part: Part): Html => html`<fieldset class="ship-part"><legend>Where it goes</legend>
${select({ ...part("ship_method"), required: "sometimes", options: methods })}
${address(part, "ship")}
</fieldset>`;

const senderNames = ["from_name", "from_line1", "from_line2", "from_city", "from_state", "from_postal"] as const;

/** The sender, folded up until something is typed. */
export function senderPart(part: Part): Html {
  const begun = senderNames.some((name) => part(name).value || part(name).error);
  return html`<details class="sender-part"${begun && html` open`}><summary>Different return address</summary>
<p class="hint">Leave this empty to use this service’s business address as the return address. If you fill it in, only the second line is optional.</p>
<div class="form">${address(part, "from")}</div>
</details>`;
}
