import type { Assets } from "../ui/assets/assets.ts";
import { type IconName, icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { html } from "../ui/render.ts";
import { productPicture } from "./product-picture.ts";

const services: readonly { shape: IconName; title: string; text: string }[] = [
  {
    shape: "sign",
    title: "Sign",
    text: "Every signer signs the finished PDF online. Nothing in your document is rewritten.",
  },
  {
    shape: "notarize",
    title: "Notarize",
    text: "An online notary meets the signer, checks their identity, and seals the document.",
  },
  {
    shape: "ship",
    title: "Ship or fax",
    text: "By prepaid label, by mail, or by fax, at a price you see before you pay.",
  },
  {
    shape: "evidence",
    title: "Prove",
    text: "Each step leaves evidence that anyone can check years later, even without us.",
  },
];

const links = [
  { href: "/verify", title: "Verify a document", text: "Find out who sealed a document, and whether it has changed." },
  { href: "/docs", title: "Documentation", text: "For developers: place orders from your own system." },
] as const;

/** @param baseUrl of the service, for previews of links to it */
export const homePage = (assets: Pick<Assets, "url">, baseUrl: string): string =>
  layout(assets, {
    title: "Documents signed, sealed, and shipped",
    canonical: `${baseUrl}/`,
    description:
      "Signing, notarization, and delivery for title, escrow, and law firms, with evidence that anyone can check.",
    body: html`<div class="hero">
<div>
<h1>Documents signed, sealed, and shipped. Proof included.</h1>
<p class="lead">SignSealShip takes a completed document through signing, notarization, and delivery for title, escrow, and law firms. Anyone can check what it says about a document.</p>
<p class="hero-actions"><a href="/request-access" class="button">Request access</a><a href="/verify">Verify a document</a></p>
</div>
${productPicture}
</div>
<section aria-labelledby="services-title"><h2 id="services-title" class="visually-hidden">What it does</h2>
<ul class="tiles">${services.map(({ shape, title, text }) => html`<li>${icon(shape)}<h3>${title}</h3><p>${text}</p></li>`)}</ul></section>
<section class="security-line" aria-labelledby="safe-title">${icon("lock")}<div><h2 id="safe-title">Safe by design</h2>
<p>Documents are encrypted where they are stored and sealed with a digital signature. When you verify a document, it never leaves your computer.</p></div></section>
<section aria-labelledby="start-title"><h2 id="start-title">Where to start</h2>
<ul class="links">${links.map(({ href, title, text }) => html`<li><a href="${href}">${title}</a><p>${text}</p></li>`)}</ul>
<p class="quiet">Have an order with us? Open the link that came with it. You don’t need an account.</p></section>`,
  });
