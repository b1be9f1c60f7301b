import type { Assets } from "../ui/assets/assets.ts";
import { notice } from "../ui/components.ts";
import { errorSummary, field } from "../ui/forms/fields.ts";
import { invitationPath } from "../ui/invitation-path.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";

type AssetUrls = Pick<Assets, "url">;

const page = (assets: AssetUrls, title: string, body: Html): string =>
  layout(assets, {
    title,
    description: "For members of firms that place orders here.",
    body: html`<div class="narrow"><h1>${title}</h1>${body}</div>`,
  });

export const signInPage = (
  assets: AssetUrls,
  { email = "", returnTo, error }: { email?: string; returnTo: string; error?: string },
): string =>
  page(
    assets,
    "Sign in",
    html`<p class="lead">${
      returnTo === invitationPath
        ? "You were invited. Enter the address that the invitation was sent to, and we will send you a sign-in link; then you can accept."
        : "Enter your work email, and we will send you a sign-in link. There is no password."
    }</p>
${errorSummary(error)}
<form class="form" method="post" action="/sign-in">
<input type="hidden" name="return_to" value="${returnTo}">
${field({ name: "email", label: "Work email", type: "email", value: email, required: true, maxLength: 254, autocomplete: "email" })}
<div class="form-actions"><button type="submit">Send me a link</button></div>
</form>
${returnTo !== invitationPath && html`<p class="quiet">No access yet? <a href="/request-access">Request partner access</a>.</p>`}`,
  );

/**
 * The page that says that a link was sent. It is the same for every email address, so it reveals neither the members
 * nor the number of sent links.
 */
export const linkSentPage = (assets: AssetUrls, email: string, mailsStayHere: boolean): string =>
  page(
    assets,
    "Check your email",
    html`<p class="lead">Look for our link in the mailbox of <strong class="breakable">${email}</strong>. It works once, within 10 minutes, in this browser.</p>
${mailsStayHere && notice("info", "No mail server is set", "The link is printed in the terminal that the service runs in, and on the outbox page whose address it printed at its start.")}
<p>An address gets only a few emails in 10 minutes. If it already got them, we send no more for now, and their links still work here.</p>
<p>Nothing after a minute? Check your spam folder, or <a href="/sign-in">request another link</a>.</p>`,
  );

/**
 * The page with the button that signs in. Opening the page does not use up the link, because mail scanners open links.
 * `who` is null for a link from the command line.
 */
export const useLinkPage = (assets: AssetUrls, who: string | null): string =>
  page(
    assets,
    "Sign in",
    html`<p class="lead">${who === null ? "You are signing in as the operator of this service." : html`You are signing in as <strong class="breakable">${who}</strong>.`}</p>
<form class="form" method="post">
<div class="form-actions"><button type="submit" autofocus>Sign in</button></div>
</form>`,
  );

/** The page for a link from the command line that was used, expired or mistyped. */
export const unusableOperatorLinkPage = (assets: AssetUrls): string =>
  page(
    assets,
    "This link cannot be used",
    notice(
      "info",
      "A link works once",
      html`It expires after 10 minutes. To get a new one, run <code>bin/signsealship operator link</code>.`,
    ),
  );

/**
 * The page for a member's link that was used, expired, mistyped, or opened in another browser. It doesn't reveal which.
 */
export const unusableLinkPage = (assets: AssetUrls): string =>
  page(
    assets,
    "This link cannot be used",
    html`${notice("info", "A link works once", "It expires after 10 minutes, and it works only in the browser that you requested it from.")}
<p class="after-notice"><a href="/sign-in" class="button">Request a new link</a></p>`,
  );
