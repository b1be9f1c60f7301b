import { type Html, html } from "../render.ts";
import { hiddenFields } from "./button-form.ts";
import type { FormValues } from "./form-body.ts";

export type PasskeyForm = {
  /** Whether the browser makes a passkey or shows one. */
  kind: "add" | "show";
  action: string;
  /** Where `passkey.js` gets the options for it. */
  options: string;
  /** The field that the browser's answer is sent in. */
  answer: string;
  /** Hidden fields. */
  carried?: FormValues;
  /** Further inputs. */
  fields?: Html;
  label: string;
};

/** A form that a passkey goes with; its page needs `passkey.js`. */
export const passkeyForm = ({ kind, action, options, answer, carried = {}, fields, label }: PasskeyForm): Html =>
  html`<form class="form" method="post" action="${action}" data-passkey="${kind}" data-options="${options}">
${hiddenFields(carried)}<input type="hidden" name="${answer}" value="" data-passkey-answer>
${fields}<p class="field-error" role="alert" data-passkey-problem hidden></p>
<div class="form-actions"><button type="submit">${label}</button></div>
<p class="quiet without-script">Passkeys need a browser with scripts turned on.</p>
</form>`;
