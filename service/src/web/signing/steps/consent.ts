import type { ConsentText } from "../../../envelopes/envelopes.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { consentHtml } from "../consent-html.ts";
import type { Shown } from "../frame.ts";

/** The text that the signer agrees to, beside the document that shows that it can be read (15 USC 7001(c)(1)(C)(ii)). */
export const consentStep = ({ token, words }: Shown, text: ConsentText): Html =>
  html`<section class="card" id="consent" aria-labelledby="consent-title"><h2 id="consent-title">${words.consent.title}</h2>
<div class="consent-text">${consentHtml(text.markdown)}</div>
<p class="quiet-text">${words.consent.version(text.version)}</p>
<form class="form" method="post" action="/sign/${token}/consent">
${hiddenFields({ version: text.version, language: text.language })}
${checkbox({ name: "can_read", label: words.consent.canRead, required: true })}
<div class="form-actions"><button type="submit">${words.consent.agree}</button></div>
</form>
</section>`;
