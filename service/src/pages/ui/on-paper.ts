import { qrPath } from "@signsealship/certificate/qr";
import { type Html, html } from "./render.ts";
import type { ComponentWords } from "./words/component-words.ts";
import { components as english } from "./words/en/components.ts";

/** What a printed page says of itself: where it is, as text and as a code to scan, and when it was printed. */
export function onPaper(url: string, { page, qr, printed }: ComponentWords["paper"] = english.paper): Html {
  const { size, path } = qrPath(url);
  // Four modules of white around it (ISO/IEC 18004).
  return html`<div class="on-paper"><svg viewBox="-4 -4 ${size + 8} ${size + 8}" role="img" aria-label="${qr}"><path d="${path}"/></svg>
<div><p>${page}: <strong>${url}</strong></p><p class="printed-at" data-said="${printed}"></p></div></div>`;
}
