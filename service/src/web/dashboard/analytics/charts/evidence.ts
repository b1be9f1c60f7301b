import type { Snapshot } from "../../../../analytics/analytics.ts";
import { type IconName, icon } from "../../../ui/icons.ts";
import { type Html, html } from "../../../ui/render.ts";
import { count } from "./words.ts";

/** What the orders of the window left behind: counts of different records, so they share no scale and no picture. */
export function evidenceTable({ totalCompleted, sealedDocumentCount, deliveredWithProofCount }: Snapshot["evidence"]) {
  return html`<p class="chart-note">Documents and shipments are counted individually. An order can have several, and unfinished orders count, too.</p>
<table class="numbers evidence"><caption class="visually-hidden">Evidence in records</caption>
<thead class="visually-hidden"><tr><th scope="col">Record</th><th scope="col">Count</th></tr></thead>
<tbody>${row("done", "Completed orders", "Every step is done.", totalCompleted)}
${row("evidence", "Sealed documents", "Documents that were sealed or notarized.", sealedDocumentCount)}
${row("ship", "Deliveries", "Shipments that the carrier reported as delivered.", deliveredWithProofCount)}</tbody></table>`;
}

const row = (name: IconName, title: string, meaning: string, value: number): Html =>
  html`<tr><th scope="row"><span class="evidence-name">${icon(name)}<span>${title}<small>${meaning}</small></span></span></th><td>${count(value)}</td></tr>`;
