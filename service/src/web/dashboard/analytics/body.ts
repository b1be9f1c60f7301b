import type { Snapshot } from "../../../analytics/analytics.ts";
import { card, emptyState } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";
import { funnelFigure, mixFigure } from "./charts/cohort.ts";
import { evidenceTable } from "./charts/evidence.ts";
import { keyNumbers } from "./charts/key-numbers.ts";
import { turnaroundFigure } from "./charts/turnaround.ts";
import { volumeFigure } from "./charts/volume.ts";
import { lastDays } from "./charts/words.ts";

const windows = [30, 90, 180, 366];

/** The windows to choose from, as links of the page itself (`?days=`). */
export const windowPicker = (windowDays: number): Html =>
  html`<nav class="windows" aria-label="Period"><ul>${windows.map(
    (days) =>
      html`<li><a href="?days=${days}"${days === windowDays ? html` aria-current="page"` : ""}>${days} days</a></li>`,
  )}</ul></nav>`;

/** What the analytics page shows of a snapshot, the choice of its window included; headings begin at the second level. */
export function analyticsBody(snapshot: Snapshot, windowDays: number): Html {
  const total = Object.values(snapshot.funnel).reduce((sum, orders) => sum + orders, 0);
  return html`<div class="analytics">
<div class="analytics-head"><p>Created in ${lastDays(windowDays)}.</p>${windowPicker(windowDays)}</div>
${total === 0 ? nothing(windowDays) : figures(snapshot, total)}
<p class="quiet">Counted on ${time(new Date(snapshot.generatedAt))}.</p>
</div>`;
}

const nothing = (windowDays: number): Html =>
  emptyState(
    `No orders in ${lastDays(windowDays)}`,
    windowDays < Math.max(...windows)
      ? "Choose a longer period to look further back. Figures start with your first order."
      : "Figures start with your first order.",
  );

const figures = (snapshot: Snapshot, total: number): Html => html`${keyNumbers(snapshot, total)}
${card("by-month", "Volume", volumeFigure(snapshot.volumeByMonth))}
<div class="analytics-pair">
${card("by-status", "Orders by status", funnelFigure(snapshot.funnel, total))}
${card("by-service", "Services", mixFigure(snapshot.serviceMix, total))}
${card("by-time", "Turnaround", turnaroundFigure(snapshot.turnaroundHours))}
${card("by-record", "Evidence", evidenceTable(snapshot.evidence))}
</div>`;
