import { raw } from "hono/html";
import { type Html, html } from "../../ui/render.ts";
import type { SigningConfig } from "../browser/config.ts";
import type { PageState } from "../frame.ts";
import { sizeIn } from "../words/languages.ts";
import { givenPart } from "./fields.ts";
import { noticesPart } from "./notices.ts";

/** The address of one revision. It never serves another one. */
export const documentUrl = (token: string, revision: number): string =>
  `/sign/${token}/document.pdf?revision=${revision}`;

/** The document: a link to the file, and a viewer where scripts run. */
export function documentPart({ token, view, words }: PageState, config: SigningConfig | null): Html | "" {
  const { document } = view;
  if (!document) return "";
  const { pages, hasSignaturePage, bytes, revision } = document;
  const own = hasSignaturePage ? pages - 1 : pages;
  const url = documentUrl(token, revision);
  const size = words.document.size(own, hasSignaturePage, sizeIn(view.signer.language, bytes));
  return html`<section class="card document" aria-labelledby="document-title"><h2 id="document-title">${words.document.title}</h2>
${noticesPart({ view, words })}
${givenPart(view, words)}
<p class="document-links no-print"><a href="${url}" target="_blank" rel="noopener">${words.document.open}</a> <span class="quiet-text">(${size})</span>
<a href="${url}&amp;save=1">${words.document.save}</a> <a id="as-text" href="/sign/${token}/text">${words.text.open}</a></p>
<p class="quiet without-script">${words.document.note}</p>
${config && html`<div id="viewer" hidden></div>${configScript(config)}`}
</section>`;
}

const configScript = (config: SigningConfig): Html =>
  html`<script type="module" src="${config.pdfjs}build/pdf.min.mjs" async></script><script type="application/json" id="signing-config">${raw(JSON.stringify(config).replaceAll("<", "\\u003c"))}</script>`;
