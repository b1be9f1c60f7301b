import type { Snapshot } from "../../../../analytics/analytics.ts";
import { money } from "../../../ui/format.ts";
import { type Html, html } from "../../../ui/render.ts";
import { percentage, percentText } from "./shares.ts";
import { isMeasured } from "./turnaround.ts";
import { count, counted, duration } from "./words.ts";

/** The five numbers one looks for first. `total` is the size of the cohort. */
export function keyNumbers({ windowDays, funnel, revenueCents, turnaroundHours }: Snapshot, total: number): Html {
  const share = percentText(percentage(funnel.completed, total), funnel.completed, total);
  const measured = isMeasured(turnaroundHours);
  const time = (term: string, hours: number, note: string) =>
    measured ? entry(term, duration(hours), note) : entry(term, "No data yet", "nothing to measure so far");
  return html`<dl class="key-numbers">
${entry("Orders created", count(total), `in ${counted(windowDays, "day")}`)}
${entry("Completed", count(funnel.completed), `${share} of them`)}
${entry("Revenue", money(revenueCents), "paid, in progress, completed")}
${time("Median turnaround", turnaroundHours.median, "half finish within this time")}
${time("90th percentile", turnaroundHours.p90, "9 in 10 finish within this time")}
</dl>`;
}

const entry = (term: string, value: string, note: string): Html =>
  html`<div><dt>${term}</dt><dd class="key-value">${value}</dd><dd class="key-note">${note}</dd></div>`;
