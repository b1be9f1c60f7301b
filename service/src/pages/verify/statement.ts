import { type Html, html } from "../ui/render.ts";
import { plainWords } from "./plain-words.ts";

/** The meaning of a verification, in sentences. */
export type Statement = {
  proven: readonly string[];
  attested: readonly string[];
  notCovered: readonly string[];
};

const column = (kind: string, title: string, lines: readonly string[], level: "h3" | "h4"): Html =>
  html`<section class="${kind}">${level === "h3" ? html`<h3>${title}</h3>` : html`<h4>${title}</h4>`}${
    lines.length === 0 ? html`<p>None.</p>` : html`<ul>${lines.map((line) => html`<li>${plainWords(line)}</li>`)}</ul>`
  }</section>`;

/**
 * Three lists, next to each other if there is room: the claims that are proven, the claims that are only stated, and
 * the facts that no seal can show.
 */
export const statementView = ({ proven, attested, notCovered }: Statement, level: "h3" | "h4" = "h3"): Html =>
  html`<div class="statement">
${column("proven", "Passed: anyone can compute it", proven, level)}
${column("attested", "Not checked: somebody states it", attested, level)}
${column("not-covered", "Not covered: no seal shows it", notCovered, level)}
</div>`;
