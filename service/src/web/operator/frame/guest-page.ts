import type { Assets } from "../../ui/assets/assets.ts";
import { layout } from "../../ui/layout.ts";
import { html } from "../../ui/render.ts";

/** For requests without an operator's session: it says nothing about what is behind it. */
export const guestPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "For the operator",
    body: html`<div class="narrow"><h1>For the operator</h1>
<p class="lead">For the people who run this service. There are no passwords.</p>
<p><a href="/sign-in?return_to=%2Foperator" class="button">Sign in by email</a></p>
<p>Nobody can sign in? Run <code>bin/signsealship operator link</code> on the machine of the service, and open the link it prints. It works once, within 10 minutes.</p></div>`,
  });
