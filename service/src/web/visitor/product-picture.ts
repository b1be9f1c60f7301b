import { statusBadge, type Tone } from "../ui/components.ts";
import { icon } from "../ui/icons.ts";
import { html } from "../ui/render.ts";

const documents: readonly { name: string; tone: Tone; status: string }[] = [
  { name: "Warranty deed", tone: "done", status: "Notarized" },
  { name: "Lien release", tone: "done", status: "Signed" },
  { name: "Closing statement", tone: "progress", status: "Signing" },
];

const said = `A closing room with three documents: ${documents.map(({ name, status }) => `${name}, ${status.toLowerCase()}`).join("; ")}. In front of it lies a sealed certificate.`;

/** The product at a glance, drawn in its own parts: a closing room, and the certificate that comes of it. */
export const productPicture = html`<div class="picture" role="img" aria-label="${said}">
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
