import { plainTime } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { field } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import type { PageState } from "../frame.ts";
import { pictureUrl } from "../picture-mark.ts";
import type { Words } from "../words/en.ts";
import { fieldInputs } from "./fields.ts";
import { noticesId } from "./notices.ts";

export const maxNameLength = 100;

/** The signing form, for browsers with and without JavaScript. */
export function signStep({ token, view, words, typed }: PageState): Html {
  const { sign } = words;
  const inputs = fieldInputs({ view, words, typed });
  const hasDate = view.fields.some(({ kind }) => kind === "date");
  const { consent, document, signer } = view;
  const picture = typed["picture"] ?? "";
  return html`<section class="card" id="sign-step" aria-labelledby="sign-title"><h2 id="sign-title">${sign.title}</h2>
<p>${sign.lead}</p>
${pictureForm(token, words)}
${consent && html`<p class="quiet-text">${words.consent.given} ${plainTime(consent.at, signer.language)}.</p>`}
<form class="form" id="sign-form" method="post" action="/sign/${token}/sign">
${hiddenFields({ revision: String(document?.revision ?? 0), drawn: typed["drawn"] ?? "", picture })}
${shownPicture(token, picture, words)}
${inputs}
${hasDate && html`<p class="form-note">${sign.dates}</p>`}
${field({ name: "name", label: sign.name, hint: sign.nameHint, required: true, maxLength: maxNameLength, autocomplete: "name", value: typed["name"] ?? signer.name })}
<div class="form-note" id="sign-values" tabindex="-1" hidden></div>
<p class="visually-hidden" id="sign-filled" role="status"></p>
<p class="form-note" id="sign-check" role="status"></p>
<p class="form-note">${sign.intent} <span class="without-script">${sign.serviceKey}</span></p>
${view.frame && html`<p class="without-script">${words.embed.noScript} <a href="/sign/${token}" target="_blank" rel="noopener">${words.embed.tab}</a></p>`}
<div class="form-actions"><button type="submit" id="sign-button"${view.notices.length > 0 && html` aria-describedby="${noticesId}"`}>${sign.go}</button></div>
</form>
</section>`;
}

/**
 * The form that uploads a picture as the signature, for browsers without JavaScript. It is above the other fields,
 * because an upload empties them.
 */
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
