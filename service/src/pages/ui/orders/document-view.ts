import { raw } from "hono/html";
import type { OrderDocument } from "../../../signing/envelopes/envelopes.ts";
import type { Assets } from "../assets/assets.ts";
import type { PreviewConfig } from "../browser/preview.ts";
import { codeText, pageHead } from "../components.ts";
import { type Html, html } from "../render.ts";
import { en } from "../words/en/en.ts";

const words: PreviewConfig["words"] = {
  loading: "Loading the document…",
  failed: "The document can’t be shown here. Save it and open it in your own reader.",
  region: "The document",
  page: "Page {page} of {pages}",
  smaller: "Smaller",
  larger: "Larger",
};

/** The part of a page in which the script `preview.js` shows a document. */
export function previewPart(config: PreviewConfig, withoutScript: string): Html {
  const json = JSON.stringify(config).replaceAll("<", "\\u003c");
  return html`<div id="preview"><noscript><p class="quiet">${withoutScript}</p></noscript></div>
<script type="application/json" id="preview-config">${raw(json)}</script>`;
}

type Viewed = { orderTitle: string; document: Pick<OrderDocument, "kind" | "sha256">; url: string; back: string };

/** A document that the page's script shows; without JavaScript the page links to the file. */
export function documentView({ pdfJs }: Pick<Assets, "pdfJs">, { orderTitle, document, url, back }: Viewed): Html {
  const config: PreviewConfig = { document: url, pdfjs: pdfJs.folder, words };
  const title = en.orders.documentTitles[document.kind];
  return html`${pageHead(title, orderTitle, html`<a href="${back}">Back to the order</a>`)}
<p><a href="${url}" download>Save the document</a><br><span class="quiet">SHA-256</span> ${codeText(document.sha256, "hash of the document")}</p>
${previewPart(config, "Without scripts the document can be saved, not shown.")}`;
}
