import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { type AnalyticsReader, type Snapshot, windowDays } from "../../../orders/analytics/analytics.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { card, emptyState, pageHead } from "../../ui/components.ts";
import { money, plainTime } from "../../ui/format.ts";
import { type IconName, icon } from "../../ui/icons.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { dashboardPage } from "../page-shell.ts";
import { barRows, rowHeight } from "./charts/bar-rows.ts";
import { funnelFigure, mixFigure } from "./charts/cohort.ts";
import { chartFigure } from "./charts/figure.ts";
import { across, lengthOf, ticks } from "./charts/scale.ts";
import { percentage, percentText } from "./charts/shares.ts";
import { volumeFigure } from "./charts/volume.ts";
import { count, counted, duration, lastDays, type TimeUnit, timeUnit } from "./charts/words.ts";

export type AnalyticsPageDeps = { readAnalytics: AnalyticsReader; assets: Assets; limits: RateLimits };

/** Adds the page with charts of the numbers from `GET /api/partner/analytics`. */
export function analyticsPage(app: FastifyInstance, deps: AnalyticsPageDeps): void {
  pageRoute(app, deps, {
    url: "/dashboard/analytics",
    handle: async ({ request }) => {
      const days = windowDays((request.query as { days?: unknown }).days);
      const snapshot = await deps.readAnalytics(principalOf(request), days);
      const lead = "Orders created in this period, by their current status.";
      const body = html`${pageHead("Analytics", lead)}${analyticsBody(snapshot, days)}`;
      return dashboardPage(deps, request, { title: "Analytics", section: "analytics", body });
    },
  });
}

const windows = [30, 90, 180, 366];

/** Links to the same page for each period (`?days=`). */
export const windowPicker = (windowDays: number): Html =>
  html`<nav class="windows" aria-label="Period"><ul>${windows.map(
    (days) =>
      html`<li><a href="?days=${days}"${days === windowDays ? html` aria-current="page"` : ""}>${days} days</a></li>`,
  )}</ul></nav>`;

/** The charts of a snapshot, and the links that choose the period. Headings start at level 2. */
export function analyticsBody(snapshot: Snapshot, windowDays: number): Html {
  const total = Object.values(snapshot.funnel).reduce((sum, orders) => sum + orders, 0);
  return html`<div class="analytics">
<div class="analytics-head"><p>Created in ${lastDays(windowDays)}.</p>${windowPicker(windowDays)}</div>
${total === 0 ? nothing(windowDays) : figures(snapshot, total)}
<p class="quiet">Counted on ${plainTime(new Date(snapshot.generatedAt))}.</p>
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

/** A table, because counts of different kinds of records can't share a scale or a chart. */
function evidenceTable({ totalCompleted, sealedDocumentCount, deliveredWithProofCount }: Snapshot["evidence"]) {
  return html`<p class="chart-note">Documents and shipments are counted individually. An order can have several, and unfinished orders count, too.</p>
<table class="numbers evidence"><caption class="visually-hidden">Evidence in records</caption>
<thead class="visually-hidden"><tr><th scope="col">Record</th><th scope="col">Count</th></tr></thead>
<tbody>${row("done", "Completed orders", "Every step is done.", totalCompleted)}
${row("evidence", "Sealed documents", "Documents that were sealed or notarized.", sealedDocumentCount)}
${row("ship", "Deliveries", "Shipments that the carrier reported as delivered.", deliveredWithProofCount)}</tbody></table>`;
}

const row = (name: IconName, title: string, meaning: string, value: number): Html =>
  html`<tr><th scope="row"><span class="evidence-name">${icon(name)}<span>${title}<small>${meaning}</small></span></span></th><td>${count(value)}</td></tr>`;

/** The five headline numbers. `total` is the number of orders that were created in the period. */
function keyNumbers({ windowDays, funnel, revenueCents, turnaroundHours }: Snapshot, total: number): Html {
  const share = percentText(percentage(funnel.completed, total), funnel.completed, total);
  const measured = isMeasured(turnaroundHours);
  const time = (term: string, hours: number, note: string) =>
    measured ? entry(term, duration(hours), note) : entry(term, "No data yet", "nothing to measure so far");
  return html`<dl class="key-numbers">
${entry("Orders created", count(total), `in ${counted(windowDays, "day")}`)}
${entry("Completed", count(funnel.completed), `${share} of them`)}
${entry("Value of orders", money(revenueCents), "paid, in progress or completed, by your firm or its clients")}
${time("Median turnaround", turnaroundHours.median, "half finish within this time")}
${time("90th percentile", turnaroundHours.p90, "9 in 10 finish within this time")}
</dl>`;
}

const entry = (term: string, value: string, note: string): Html =>
  html`<div><dt>${term}</dt><dd class="key-value">${value}</dd><dd class="key-note">${note}</dd></div>`;

type Turnaround = Snapshot["turnaroundHours"];

/** True if a turnaround was measured. If not, median and 90th percentile are both 0 (contract, Analytics). */
const isMeasured = ({ median, p90 }: Turnaround): boolean => median > 0 || p90 > 0;

const exact = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** The time from payment to completion: median and 90th percentile, on one scale of round minutes, hours or days. */
function turnaroundFigure(turnaround: Turnaround): Html {
  const { median, p90 } = turnaround;
  if (!isMeasured(turnaround))
    return emptyState("No data yet", "Measured from payment to completion, once a paid order is completed.");
  const longest = Math.max(median, p90);
  const unit = timeUnit(longest);
  const scale = ticks(longest / unit.hours);
  const rows = [
    { label: "Half finish within", value: median / unit.hours, figure: duration(median), kind: "finished" },
    { label: "Nine in ten finish within", value: p90 / unit.hours, figure: duration(p90), kind: "finished" },
  ];
  const max = scale.at(-1) ?? 1;
  const axisAt = rows.length * rowHeight;
  return chartFigure(
    {
      id: "turnaround",
      title: "Turnaround",
      description: `Two bars on one scale from 0 to ${count(max)} ${unit.name}s. Median ${duration(median)}, 90th percentile ${duration(p90)}.`,
      height: axisAt + 30,
      drawing: [...barRows(rows, max), ...scale.map((value) => axisTick(value, max, axisAt, unit))],
    },
    html`For completed orders, from payment to completion.`,
    {
      caption: "From payment to completion",
      open: true,
      head: ["Measure", "Time", "Hours"],
      rows: [
        ["Median", duration(median), exact.format(median)],
        ["90th percentile", duration(p90), exact.format(p90)],
      ],
    },
  );
}

function axisTick(value: number, max: number, top: number, unit: TimeUnit): Html {
  const x = across(lengthOf(value, max, 100));
  const anchor = value === 0 ? "start" : value === max ? "end" : "middle";
  const label = value === max ? `${count(value)} ${unit.name}${value === 1 ? "" : "s"}` : count(value);
  return html`<line class="axis" x1="${x}" x2="${x}" y1="${top - 8}" y2="${top}"/><text class="tick" x="${x}" y="${top + 16}" text-anchor="${anchor}">${label}</text>`;
}
