import { accountNav } from "../ui/account-nav.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { hiddenFields } from "../ui/forms/button-form.ts";
import { errorSummary, field } from "../ui/forms/fields.ts";
import { passkeyForm } from "../ui/forms/passkey-form.ts";
import { layout } from "../ui/layout.ts";
import { html } from "../ui/render.ts";

/** Asks for the passkey of somebody who has used a mailed link. */
export function secondStepPage(
  assets: Pick<Assets, "url">,
  { email, returnTo, error }: { email: string; returnTo: string; error?: string },
): string {
  const carried = { return_to: returnTo };
  const action = "/sign-in/passkey";
  return layout(assets, {
    title: "Show your passkey",
    headerNav: accountNav(email),
    body: html`<div class="narrow"><h1>Show your passkey</h1>
<p class="lead">You are almost signed in as <strong class="breakable">${email}</strong>. Confirm it with your passkey within 10 minutes.</p>
${errorSummary(error)}
${passkeyForm({ kind: "show", action, options: `${action}/options`, answer: "passkey", carried, label: "Use your passkey" })}
<details class="question"><summary>Use a recovery code</summary><div>
<form class="form" method="post" action="${action}">
${hiddenFields(carried)}
${field({ name: "code", label: "Recovery code", hint: "You saved ten of them when you added your first passkey. Each works once.", required: true, maxLength: 60, autocomplete: "off" })}
<div class="form-actions"><button type="submit" class="quiet-button">Sign in</button></div>
</form></div></details>
<p class="quiet">Lost your passkey and your codes? Ask the operator of this service to remove your passkeys.</p></div>`,
    scripts: ["passkey.js"],
  });
}
