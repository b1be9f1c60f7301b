import type { Assets } from "../ui/assets.ts";
import { type IconName, icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { html } from "../ui/render.ts";

const services: readonly { shape: IconName; title: string; text: string }[] = [
  {
    shape: "sign",
    title: "Sign",
    text: "Every signer signs the finished PDF online. The uploaded file stays exactly as it was, byte for byte.",
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
    text: "Each step leaves evidence that anyone can check years later, offline, with independent tools.",
  },
];

const links = [
  { href: "/request-access", title: "Request partner access", text: "Get a test key for your firm by email." },
  { href: "/verify", title: "Verify a document", text: "Check a sealed PDF or a closing passport." },
  { href: "/docs", title: "Developer docs", text: "Place orders from your own system, in five minutes." },
  { href: "/openapi.json", title: "OpenAPI description", text: "The same API, in machine-readable form." },
] as const;

export const homePage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "Documents signed, sealed, and shipped",
    body: html`<div class="hero">
<h1>Documents signed, sealed, and shipped. Proof included.</h1>
<p class="lead">SignSealShip takes a completed document through signing, notarization, and delivery for title, escrow, and law firms. Anyone can check what it says about a document.</p>
</div>
<section aria-labelledby="services-title"><h2 id="services-title" class="visually-hidden">What it does</h2>
<ul class="tiles">${services.map(({ shape, title, text }) => html`<li>${icon(shape)}<h3>${title}</h3><p>${text}</p></li>`)}</ul></section>
<section aria-labelledby="start-title"><h2 id="start-title">Where to start</h2>
<ul class="links">${links.map(({ href, title, text }) => html`<li><a href="${href}">${title}</a><p>${text}</p></li>`)}</ul>
<p class="quiet">Have an order with us? Open the link that came with it. You don’t need an account.</p></section>`,
  });
