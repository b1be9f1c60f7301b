import type { DocumentText } from "../../../envelopes/envelopes.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Shown } from "../frame.ts";
import { linesOf } from "../text-lines.ts";
import { noticesPart } from "./notices.ts";

/** The document as text. It is an aid: what is signed is the PDF. */
export function textStep(shown: Shown, { pages, isWhole }: DocumentText): Html {
  const {
    token,
    words: { text },
  } = shown;
  return html`<section class="card document-text" aria-labelledby="text-title"><h2 id="text-title">${text.title}</h2>
<p>${text.note}</p>
${noticesPart(shown)}
<p class="no-print"><a href="/sign/${token}">${text.back}</a></p>
${pages.map((page, index) => {
  const lines = linesOf(page);
  return html`<h3>${text.page(index + 1)}</h3>${lines.length === 0 ? html`<p class="quiet-text">${text.nothing}</p>` : lines.map((line) => html`<p>${line}</p>`)}`;
})}
${!isWhole && html`<p><strong>${text.more}</strong></p>`}
<p class="no-print"><a href="/sign/${token}">${text.back}</a></p>
</section>`;
}
