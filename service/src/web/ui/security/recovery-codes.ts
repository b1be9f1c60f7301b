import { card, notice, pageHead } from "../components.ts";
import { type Html, html } from "../render.ts";

/** Once, in the answer of what made them: no page leads to them, and no cache keeps them. @param path of the page that they belong to */
export const recoveryCodesBody = (path: string, codes: readonly string[]): Html =>
  html`${pageHead("Your recovery codes", "Each signs you in once, in the place of a passkey.")}
<div class="panels">
${notice("attention", "Save the codes now", "This is the only time they are shown. Keep them apart from your passkeys: print them, or put them into a password manager.")}
${card("codes", "Recovery codes", html`<ul class="recovery-codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>`)}
<div class="form-actions"><a class="button" href="${path}">I saved them</a></div>
</div>`;
