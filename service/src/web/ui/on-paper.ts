import { qrPath } from "@signsealship/certificate/qr";
import { type Html, html } from "./render.ts";

/** What a printed page says of itself: where it is, as text and as a code to scan, and when it was printed. */
export function onPaper(url: string, said = "This page, with everything that can be checked"): Html {
  const { size, path } = qrPath(url);
  // Four modules of white around it (ISO/IEC 18004).
  return html`<div class="on-paper"><svg viewBox="-4 -4 ${size + 8} ${size + 8}" role="img" aria-label="QR code of this page’s address"><path d="${path}"/></svg>
<div><p>${said}: <strong>${url}</strong></p><p class="printed-at"></p></div></div>`;
}
