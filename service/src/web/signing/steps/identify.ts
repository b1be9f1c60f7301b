import { maskEmail } from "../../../platform/mail/mask-email.ts";
import { field } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { firmOf, type Shown } from "../frame.ts";

/** Asks for the code; a mailed one is sent when the signer says so, not when a scanner opens the link. */
export function identifyStep(shown: Shown): Html {
  const { token, view, words } = shown;
  const byMail = view.step === "mail_code";
  const { identify } = words;
  return html`<section class="card" aria-labelledby="identify-title"><h2 id="identify-title">${identify.title}</h2>
<p>${byMail ? identify.mail(maskEmail(view.signer.email)) : identify.access(firmOf(shown))}</p>
${byMail && html`<form class="form-actions" method="post" action="/sign/${token}/code"><button type="submit">${identify.send}</button></form>`}
<form class="form" method="post" action="/sign/${token}/identify">
${field({ name: "code", label: identify.code, required: true, maxLength: 64, autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit" class="${byMail ? "quiet-button" : ""}">${identify.go}</button></div>
</form>
</section>`;
}
