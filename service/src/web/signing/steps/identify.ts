import { maskEmail } from "../../../platform/mail/mask-email.ts";
import { field } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { firmOf, type Shown } from "../frame.ts";

/** Asks for the code; one of ours is sent when the signer says so, not when a scanner opens the link. */
export function identifyStep(shown: Shown): Html {
  const { token, view, words } = shown;
  const { phoneEnding } = view.signer;
  const byText = view.step === "text_code" && phoneEnding !== null;
  const isSent = view.step !== "access_code";
  const { identify } = words;
  return html`<section class="card" aria-labelledby="identify-title"><h2 id="identify-title">${identify.title}</h2>
<p>${byText ? identify.text(phoneEnding) : isSent ? identify.mail(maskEmail(view.signer.email)) : identify.access(firmOf(shown))}</p>
${isSent && html`<form class="form-actions" method="post" action="/sign/${token}/code"><button type="submit">${byText ? identify.sendText : identify.send}</button></form>`}
<form class="form" method="post" action="/sign/${token}/identify">
${field({ name: "code", label: identify.code, required: true, maxLength: 64, autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit" class="${isSent ? "quiet-button" : ""}">${identify.go}</button></div>
</form>
</section>`;
}
