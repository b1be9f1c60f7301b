import { type Html, html } from "../render.ts";
import { hiddenFields } from "./button-form.ts";
import type { FormValues } from "./form-body.ts";

export type PasskeyForm = {
  /** `add`: the browser creates a passkey. `show`: it uses an existing one. */
  kind: "add" | "show";
  action: string;
  /** The URL from which `passkey.js` gets the options for the passkey. */
  options: string;
  /** The field in which the browser's answer is sent. */
  answer: string;
  /** The values that the form also sends in hidden fields. */
  carried?: FormValues;
  /** Inputs that the form shows above its button. */
  fields?: Html;
  label: string;
};

/** A form that requires a passkey; its page needs `passkey.js`. */
export const passkeyForm = ({ kind, action, options, answer, carried = {}, fields, label }: PasskeyForm): Html =>
  html`<form class="form" method="post" action="${action}" data-passkey="${kind}" data-options="${options}">
${hiddenFields(carried)}<input type="hidden" name="${answer}" value="" data-passkey-answer>
${fields}<p class="field-error" role="alert" data-passkey-problem hidden></p>
<div class="form-actions"><button type="submit">${label}</button></div>
<p class="quiet without-script">Passkeys need a browser with scripts turned on.</p>
</form>`;
