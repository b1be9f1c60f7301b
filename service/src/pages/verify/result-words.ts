import { type Html, html } from "../ui/render.ts";

/** Explains the few words that every result uses. */
export const resultWords: Html = html`<dl class="facts meaning-list">
<div><dt>Passed</dt><dd>It was computed from the file, right here in your browser. If a single byte had changed, it would not match.</dd></div>
<div><dt>Failed</dt><dd>It was computed, and does not match. Do not rely on the file.</dd></div>
<div><dt>Not checked</dt><dd>There was nothing to compute it from: somebody states it, or a certificate or file that it needs is not here.</dd></div>
<div><dt>Not covered</dt><dd>Whether the document is true, who agreed to it, and what it means legally. No seal can show that.</dd></div>
</dl>`;
