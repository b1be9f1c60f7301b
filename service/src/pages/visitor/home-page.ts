import type { Assets } from "../ui/assets/assets.ts";
import { statusBadge, type Tone } from "../ui/components.ts";
import { type IconName, icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { html } from "../ui/render.ts";

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
  { href: "/prices", title: "Prices", text: "What each service costs, and how postage is computed." },
  { href: "/docs", title: "Documentation", text: "For developers: place orders from your own system." },
] as const;

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

const documents: readonly { name: string; tone: Tone; status: string }[] = [
  { name: "Warranty deed", tone: "done", status: "Notarized" },
  { name: "Lien release", tone: "done", status: "Signed" },
  { name: "Closing statement", tone: "progress", status: "Signing" },
];

const description = `A closing room with three documents: ${documents.map(({ name, status }) => `${name}, ${status.toLowerCase()}`).join("; ")}. In front of it is a sealed certificate.`;

/** A picture of the product, built from its own components: a closing room and its certificate. */
export const productPicture = html`<div class="picture" role="img" aria-label="${description}">
<div class="picture-room">
<svg class="accent" width="100%" height="6"><rect width="100%" height="6" fill="#b5893c"/></svg>
<p class="picture-firm">Prepared by <strong>Maple Title &amp; Escrow</strong></p>
<p class="picture-title">18 Maple Court ${statusBadge("progress", "Open")}</p>
<ul>${documents.map(({ name, tone, status }) => html`<li>${name} ${statusBadge(tone, status)}</li>`)}</ul>
<svg class="picture-bar" width="100%" height="8"><rect class="whole" width="100%" height="8" rx="4"/><rect class="part" width="67%" height="8" rx="4"/></svg>
</div>
<div class="picture-certificate">
<span class="picture-seal">${icon("notarize")}</span>
<p class="picture-title">Certificate</p>
<p>3 documents, sealed</p>
<p class="done picture-verdict">${icon("done")} Unchanged since</p>
</div>
</div>`;
