import { plainTime } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Shown } from "../frame.ts";
import { documentUrl } from "./document.ts";

type Ended = Exclude<Shown["view"]["state"], "identify" | "ready">;

/** A link at which nothing is left to be done, now or for good. */
export function endedStep({ token, view, words }: Shown, state: Ended): Html {
  const { title, text } = words.states[state];
  const { signedAt, signer, document, verifyCode } = view;
  return html`<section class="card" aria-labelledby="state-title"><h2 id="state-title">${title}</h2>
<p class="lead">${text}</p>
${signedAt && html`<p>${words.signedAt} ${plainTime(signedAt, signer.language)}.</p>`}
${document && html`<p class="document-links no-print"><a href="${documentUrl(token, document.revision)}" target="_blank" rel="noopener">${words.document.open}</a> <a href="${documentUrl(token, document.revision)}&amp;save=1">${words.document.save}</a></p>`}
${view.copies.map((kind) => html`<p class="no-print"><a href="/sign/${token}/${kind}.pdf?save=1">${words.copies[kind]}</a></p>`)}
${verifyCode && html`<p><a href="/v/envelope/${verifyCode}">${words.verify}</a></p>`}
</section>`;
}
