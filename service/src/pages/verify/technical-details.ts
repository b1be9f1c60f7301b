import { type Html, html } from "../ui/render.ts";

/** Details for lawyers and engineers; collapsed, but open without JavaScript. */
export const technicalDetails = (body: Html): Html =>
  html`<details class="technical"><summary>Technical details</summary><div class="technical-parts">${body}</div></details>`;

/** One part of the details. `level` continues the levels of the headings around it. */
export const technicalPart = (title: string, body: Html, level: "h2" | "h3" = "h2"): Html =>
  html`<section>${level === "h2" ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`}${body}</section>`;
