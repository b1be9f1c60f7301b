import type { FastifyRequest } from "fastify";
import type { Assets } from "../../ui/assets.ts";
import { card, notice, pageHead } from "../../ui/components.ts";
import { html } from "../../ui/render.ts";
import { dashboardPage } from "../page-shell.ts";

/** Once, in the answer of what made them: no page leads to them, and no cache keeps them. */
export const recoveryCodesPage = (
  deps: { assets: Assets },
  request: FastifyRequest,
  codes: readonly string[],
): string =>
  dashboardPage(deps, request, {
    title: "Recovery codes",
    section: "security",
    body: html`${pageHead("Your recovery codes", "Each signs you in once, in the place of a passkey.")}
<div class="panels">
${notice("attention", "Save the codes now", "This is the only time they are shown. Keep them apart from your passkeys: print them, or put them into a password manager.")}
${card("codes", "Recovery codes", html`<ul class="recovery-codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>`)}
<div class="form-actions"><a role="button" href="/dashboard/security">I saved them</a></div>
</div>`,
  });
