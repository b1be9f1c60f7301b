import { raw } from "hono/html";
import { type Html, html } from "../../ui/render.ts";
import type { SigningConfig } from "../browser/config.ts";
import type { Shown } from "../frame.ts";
import { sizeIn } from "../words/languages.ts";
import { noticesPart } from "./notices.ts";

/** The address of the bytes of one revision: never another one's under it. */
export const documentUrl = (token: string, revision: number): string =>
  `/sign/${token}/document.pdf?revision=${revision}`;

/** The document: as a file for the browser's own viewer, and shown in the page where its script runs. */
export function documentPart({ token, view, words }: Shown, config: SigningConfig | null): Html | "" {
  const { document } = view;
  if (!document) return "";
  const { pages, hasSignaturePage, bytes, revision } = document;
  const own = hasSignaturePage ? pages - 1 : pages;
  const url = documentUrl(token, revision);
  const size = words.document.size(own, hasSignaturePage, sizeIn(view.signer.language, bytes));
  return html`<section class="card document" aria-labelledby="document-title"><h2 id="document-title">${words.document.title}</h2>
${noticesPart({ view, words })}
<p class="document-links no-print"><a href="${url}" target="_blank" rel="noopener">${words.document.open}</a> <span class="quiet-text">(${size})</span>
<a href="${url}&amp;save=1">${words.document.save}</a> <a id="as-text" href="/sign/${token}/text">${words.text.open}</a></p>
<p class="quiet without-script">${words.document.note}</p>
${config && html`<div id="viewer" hidden></div>${configScript(config)}`}
</section>`;
}

const configScript = (config: SigningConfig): Html =>
  html`<script type="module" src="${config.pdfjs}build/pdf.min.mjs" async></script><script type="application/json" id="signing-config">${raw(JSON.stringify(config).replaceAll("<", "\\u003c"))}</script>`;
