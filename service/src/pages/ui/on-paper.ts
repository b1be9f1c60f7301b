import { qrPath } from "@signsealship/certificate/qr";
import { type Html, html } from "./render.ts";
import { components as english } from "./words/en/components.ts";

/** The footer of a printed page: its URL as text and as a QR code, and the time of printing. */
export function onPaper(url: string, { page, qr, printed } = english.paper): Html {
  const { size, path } = qrPath(url);
  // The QR code has a white border. It is as wide as four of the code's squares (ISO/IEC 18004).
  return html`<div class="on-paper"><svg viewBox="-4 -4 ${size + 8} ${size + 8}" role="img" aria-label="${qr}"><path d="${path}"/></svg>
<div><p>${page}: <strong>${url}</strong></p><p class="printed-at" data-said="${printed}"></p></div></div>`;
}
