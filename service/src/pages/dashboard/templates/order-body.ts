import type { RequestedField } from "../../../orders/order/order.ts";
import type { TemplateRole, TemplateVersion } from "../../../orders/templates/templates.ts";
import { notice, pageHead } from "../../ui/components.ts";
import { checkbox, errorSummary, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import { type Part, shippingPart } from "../orders/new/form-parts.ts";
import { identified } from "../orders/signer-choices.ts";
import { labels } from "../orders/words.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { path, pdfField } from "./body.ts";
import { personField, valueField } from "./form-fields.ts";

export type TemplateOrderView = FormSubmission & {
  template: TemplateVersion;
  /** The fields for which an order may set a value, one for each label. */
  fields: readonly RequestedField[];
  values: FormValues;
  error?: string | undefined;
  /** A description of what happens after the order is placed. */
  after: Html;
  /** The document that was filled in online, and the person who filled it in. */
  fill?: { id: string; by: string | null } | null;
};

/** The form that places an order from a template. */
export function templateOrderBody(view: TemplateOrderView): Html {
  const { template, values, environment, fields } = view;
  const { templateId, name, content, version } = template;
  const test = environment === "test";
  const part: Part = (each) => ({ name: each, label: labels[each], value: values[each], error: undefined });
  const ships = content.services.svc_ship !== undefined;
  return html`${pageHead(`${test ? "Test order" : "Order"} from ${name}`, html`Version ${version} of <a href="${path}/${templateId}">the template</a>.`)}
${errorSummary(view.error)}
${!test && notice("attention", "A real order", "This order will be priced, signed, notarized, and sent for real.")}
<form class="form card" method="post" action="${path}/${templateId}/order" enctype="multipart/form-data">
${submissionFields(view)}
<fieldset><legend>Document</legend>
${
  view.fill
    ? html`<input type="hidden" name="fill" value="${view.fill.id}"><p>The form that ${view.fill.by ?? "your client"} filled in online.</p>`
    : html`${pdfField("Leave it empty to use the template’s own. Another PDF must be the same form: the same pages and words, with other entries.", false)}
${checkbox({ name: "other_document", label: "Use it even if it is another form", checked: values["other_document"] === "on" })}`
}
</fieldset>
<fieldset><legend>Client</legend>
${field({ ...part("email"), type: "email", required: true, maxLength: 254, hint: "Gets updates about the order." })}
${field({ ...part("name"), maxLength: 200 })}
</fieldset>
${content.roles.map((role, index) => personPart(role, index, values))}
${
  fields.length > 0 &&
  html`<fieldset><legend>Values</legend><p class="hint">They are in the document before anybody signs. Leave one empty for the signer.</p>
${fields.map((each, index) => valuePart(each, index, values))}</fieldset>`
}
${ships && html`<fieldset class="services"><legend>Shipping</legend><input type="hidden" name="svc_ship" value="on">${shippingPart(part)}</fieldset>`}
<fieldset><legend>For your records</legend>
${field({ ...part("external_reference"), maxLength: 120 })}
</fieldset>
${checkbox({ name: "byod_confirmed", label: labels.byod_confirmed, required: true, checked: values["byod_confirmed"] === "on" })}
${view.after}
<div class="form-actions"><button type="submit">${test ? "Place the test order" : "Place the order"}</button></div>
</form>`;
}

function personPart({ name, auth, routing }: TemplateRole, index: number, values: FormValues): Html {
  const at = (member: "name" | "email" | "access_code" | "phone") => {
    const input = personField(index, member);
    return { name: input, value: values[input] };
  };
  return html`<fieldset class="signer-row"><legend>${name}</legend>
<p class="hint">Turn ${routing}. Identified by ${identified[auth]}.</p>
<div class="form-pair">${field({ ...at("name"), label: "Name", required: true, maxLength: 200 })}
${field({ ...at("email"), label: "Email", type: "email", required: true, maxLength: 254 })}</div>
${auth === "access_code" && field({ ...at("access_code"), label: "Access code", required: true, maxLength: 64, autocomplete: "off", hint: "Tell it to the person yourself." })}
${auth === "text_code" && field({ ...at("phone"), label: "Mobile number", type: "tel", required: true, maxLength: 40 })}
</fieldset>`;
}

function valuePart({ kind, label, options = [] }: RequestedField, index: number, values: FormValues): Html {
  const name = valueField(index);
  const common = { name, label: label ?? "", value: values[name] };
  if (kind === "checkbox") return checkbox({ name, label: label ?? "", checked: values[name] === "on" });
  if (kind === "radio" || kind === "dropdown")
    return select({
      ...common,
      options: [
        { value: "", label: "The signer chooses" },
        ...options.map((each) => ({ value: each.label, label: each.label })),
      ],
    });
  return field({ ...common, maxLength: 200, ...(kind === "number" && { inputMode: "decimal" }) });
}
