import type { FastifyRequest } from "fastify";
import { secretHash, signatureHeader, standardSecret, toleranceSeconds } from "../../../outgoing/webhooks/webhooks.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { card, codeText, notice, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";
import { dashboardPage } from "../page-shell.ts";

export type NewSecret = {
  id: string;
  url: string;
  secret: string;
  /** When the previous secret stops signing; null when there was none. */
  previousSecretExpiresAt: Date | null;
};

/**
 * The page with a new secret. The secret is shown only in the response that created it: no page links to it, and no
 * cache stores it.
 */
export const secretPage = (deps: { assets: Assets }, request: FastifyRequest, secret: NewSecret): string =>
  dashboardPage(deps, request, {
    title: "Signing secret",
    section: "webhooks",
    body: secretBody(secret),
    scripts: ["copy.js"],
  });

/** A signing secret, in the only response that contains it. */
function secretBody({ id, url, secret, previousSecretExpiresAt }: NewSecret): Html {
  const title = previousSecretExpiresAt ? "Your new signing secret" : "Your webhook was created";
  return html`${pageHead(title, html`<span class="breakable">${url}</span>`)}
<div class="panels">
${notice("attention", "Copy the secret now", "This is the only time it is shown. We cannot show it again.")}
${card(
  "secret",
  "Signing secret",
  html`${codeText(secret, "signing secret")}${
    previousSecretExpiresAt &&
    html`<p class="after-notice">Until ${plainTime(previousSecretExpiresAt)} deliveries are signed with the previous secret, too.</p>`
  }`,
)}
${card(
  "standard",
  "The same for Standard Webhooks",
  html`<p>Libraries of <a href="https://www.standardwebhooks.com">Standard Webhooks</a>, which check the header <code>webhook-signature</code>, take the secret in this form:</p>
${codeText(standardSecret(secretHash(secret)), "secret for Standard Webhooks")}`,
)}
${card("check", "How your system checks a delivery", howToCheck)}
<div class="form-actions"><a class="button" href="/dashboard/webhooks/${id}">I saved it. Go to the webhook</a></div>
</div>`;
}

const howToCheck = html`<p>Take <code>t</code> and <code>v1</code> from the header <code>${signatureHeader}</code>;
compute HMAC-SHA256, in lowercase hex, over <code>{t}.{raw body}</code>, with the lowercase hex SHA-256 of the secret as the key, and accept the delivery when any <code>v1</code> matches.
Reject it when <code>t</code> is more than ${String(toleranceSeconds / 60)} minutes from now.</p>
<p>The <a href="/docs/webhooks">webhooks guide</a> has a receiver in your language, and there is <a href="/api/partner/webhooks/signature-example">a worked example</a> to test with.</p>`;
