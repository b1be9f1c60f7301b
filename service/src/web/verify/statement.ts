import { type Html, html } from "../ui/render.ts";

/** What a verification amounts to, in sentences. */
export type Statement = {
  proven: readonly string[];
  attested: readonly string[];
  notCovered: readonly string[];
};

const column = (kind: string, title: string, meaning: string, lines: readonly string[]): Html =>
  html`<section class="${kind}"><h3>${title}</h3><p class="meaning">${meaning}</p>${
    lines.length === 0 ? html`<p>None.</p>` : html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`
  }</section>`;

/** Proven, attested, not covered: three lists side by side where there is room. */
export const statementView = ({ proven, attested, notCovered }: Statement): Html =>
  html`<div class="statement">
${column("proven", "Proven", "Anyone can recompute it.", proven)}
${column("attested", "Attested", "Stated by someone, not computed.", attested)}
${column("not-covered", "Not covered", "No seal can show this.", notCovered)}
</div>`;
