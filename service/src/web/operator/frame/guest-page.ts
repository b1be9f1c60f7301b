import type { Assets } from "../../ui/assets.ts";
import { layout } from "../../ui/layout.ts";
import { html } from "../../ui/render.ts";

/** For requests without an operator's session: it says nothing about what is behind it. */
export const guestPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "For the operator",
    body: html`<div class="narrow"><h1>For the operator</h1>
<p class="lead">The operator is the person who runs this service from its command line. There are no passwords and no accounts.</p>
<p>Run <code>bin/signsealship operator link</code> there, and open the link it prints. It works once, within 10 minutes.</p></div>`,
  });
