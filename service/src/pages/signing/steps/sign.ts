import type { ShownField } from "../../../envelopes/envelopes.ts";
import { plainTime } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { field } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Shown } from "../frame.ts";
import { pictureUrl } from "../picture-mark.ts";
import type { Words } from "../words/words.ts";
import { noticesId } from "./notices.ts";

export const longestName = 100;
export const longestValue = 200;

/** The fields that the signer fills in: the date is the service's, and a signature is one for all its places. */
export const filledIn = (fields: readonly ShownField[]): ShownField[] =>
  fields.filter(({ kind }) => kind === "initials" || kind === "name" || kind === "text");

/** What a field is called on the page. */
export const labelOf = ({ label, kind, invisible }: ShownField, { sign }: Words): string =>
  invisible ? sign.invisible : (label ?? sign.kinds[kind]);

/** The name of a field's input; its id has `field-` before it. */
export const inputOf = ({ name }: Pick<ShownField, "name">): string => `value.${name}`;

/** The form that signs: the same one with a script and without. */
export function signStep({ token, view, words, typed }: Shown): Html {
  const { sign } = words;
  const inputs = filledIn(view.fields).map((one) =>
    field({
      name: inputOf(one),
      label: `${labelOf(one, words)} (${sign.page(one.page)})`,
      required: one.required || "sometimes",
      maxLength: longestValue,
      value: typed[inputOf(one)] ?? (one.kind === "name" ? view.signer.name : ""),
    }),
  );
  const hasDate = view.fields.some(({ kind }) => kind === "date");
  const { consent, document, signer } = view;
  const picture = typed["picture"] ?? "";
  return html`<section class="card" aria-labelledby="sign-title"><h2 id="sign-title">${sign.title}</h2>
<p>${sign.lead}</p>
${pictureForm(token, words)}
${consent && html`<p class="quiet-text">${words.consent.given} ${plainTime(consent.at, signer.language)}.</p>`}
<form class="form" id="sign-form" method="post" action="/sign/${token}/sign">
${hiddenFields({ revision: String(document?.revision ?? 0), drawn: typed["drawn"] ?? "", picture })}
${shownPicture(token, picture, words)}
${inputs}
${hasDate && html`<p class="form-note">${sign.dates}</p>`}
${field({ name: "name", label: sign.name, hint: sign.nameHint, required: true, maxLength: longestName, autocomplete: "name", value: typed["name"] ?? signer.name })}
<p class="form-note" id="sign-check" role="status"></p>
<p class="form-note">${sign.intent} <span class="without-script">${sign.serviceKey}</span></p>
<div class="form-actions"><button type="submit" id="sign-button"${view.notices.length > 0 && html` aria-describedby="${noticesId}"`}>${sign.go}</button></div>
</form>
</section>`;
}

/** A file as the signature, without a script: before the other fields, which a page that has taken it shows empty. */
const pictureForm = (token: string, { sign: { picture } }: Words): Html =>
  html`<details class="question without-script"><summary>${picture.label}</summary>
<form class="form" method="post" action="/sign/${token}/picture" enctype="multipart/form-data">
<div class="form-field"><label for="field-file">${picture.file}</label><p class="hint" id="field-file-hint">${picture.hint}</p>
<input type="file" id="field-file" name="file" accept="image/png,image/jpeg" required aria-describedby="field-file-hint"></div>
<div class="form-actions"><button type="submit" class="quiet-button">${picture.go}</button></div></form></details>`;

function shownPicture(token: string, text: string, { sign: { picture } }: Words): Html | "" {
  const url = text === "" ? null : pictureUrl(text);
  if (url === null) return "";
  return html`<figure class="signature-picture without-script"><img src="${url}" alt="${picture.alt}"><figcaption>${picture.used} <a href="/sign/${token}">${picture.remove}</a></figcaption></figure>`;
}
