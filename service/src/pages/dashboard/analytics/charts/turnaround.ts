import type { Snapshot } from "../../../../orders/analytics/analytics.ts";
import { emptyState } from "../../../ui/components.ts";
import { type Html, html } from "../../../ui/render.ts";
import { barRows, rowHeight } from "./bar-rows.ts";
import { chartFigure } from "./figure.ts";
import { across, lengthOf, ticks } from "./scale.ts";
import { count, duration, type TimeUnit, timeUnit } from "./words.ts";

type Turnaround = Snapshot["turnaroundHours"];

/** Both are 0 when nothing could be measured (contract, Analytics). */
export const isMeasured = ({ median, p90 }: Turnaround): boolean => median > 0 || p90 > 0;

const exact = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** From payment to completion: median and 90th percentile on one scale of round minutes, hours or days. */
export function turnaroundFigure(turnaround: Turnaround): Html {
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
