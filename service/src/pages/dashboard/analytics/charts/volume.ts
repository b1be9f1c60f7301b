import { type Html, html } from "../../../ui/render.ts";
import { chartFigure } from "./figure.ts";
import { across, type Column, columns, coordinate, lengthOf, ticks } from "./scale.ts";
import { count, counted, shortCount } from "./words.ts";

// The vertical coordinates are in pixels, the horizontal ones in per cent. Each number of the scale is to the left of
// the bars, just above its grid line.
const floor = 232;
const tallest = 196;
const height = 276;
const place = { from: 11, to: 98.5, widest: 7 };
const sliver = 2;
const roomyMonths = 7;

/**
 * The orders by the month in which they were created. Each month has a hollow bar for all its orders. The filled part
 * of the bar stands for the orders that are completed now.
 */
export function volumeFigure(volumes: readonly MonthVolume[]): Html {
  const months = withoutGaps(volumes);
  const scale = ticks(Math.max(0, ...months.map(({ createdCount }) => createdCount)));
  const max = scale.at(-1) ?? 1;
  const bars = columns(months.length, place);
  const january = Math.max(
    0,
    months.findIndex(({ month }) => month.endsWith("-01")),
  );
  return chartFigure(
    {
      id: "volume",
      title: "Orders by month",
      description: described(months),
      height,
      kind: months.length > roomyMonths ? "crowded" : "",
      drawing: [
        ...scale.map((value) => gridLine(value, max)),
        ...bars.map((column, at) => bar(column, months[at], max)),
        html`<line class="axis" x1="0" x2="100%" y1="${floor}" y2="${floor}"/>`,
        // In a narrow container, only every second month shows its label. January always does.
        ...bars.map(({ center }, at) => monthLabel(center, months, at, (at - january) % 2 === 0)),
      ],
    },
    html`<span class="key">${swatch("hollow")}Created in the month</span> <span class="key">${swatch("filled")}Of these, completed so far</span> <span>The first and last months may be partial.</span>`,
    {
      caption: "Orders by month created",
      head: ["Month (UTC)", "Created", "Completed"],
      rows: months.map((month) => [longMonth(month.month), count(month.createdCount), count(month.completedCount)]),
    },
  );
}

const swatch = (kind: string): Html =>
  html`<svg class="swatch" width="14" height="14" aria-hidden="true" focusable="false"><rect class="${kind}" x="1" y="1" width="12" height="12" rx="2"/></svg>`;

function gridLine(value: number, max: number): Html {
  const y = coordinate(floor - lengthOf(value, max, tallest));
  return html`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}"/><text class="tick" x="0" y="${y}" dy="-5">${shortCount(value)}</text>`;
}

function bar({ x, width, center }: Column, month: MonthVolume | undefined, max: number): Html {
  if (!month) return html``;
  const created = lengthOf(month.createdCount, max, tallest, sliver);
  const completed = Math.min(lengthOf(month.completedCount, max, tallest, sliver), created);
  const rect = (kind: string, long: number) =>
    long > 0 &&
    html`<rect class="${kind}" x="${across(x)}" y="${coordinate(floor - long)}" width="${across(width)}" height="${coordinate(long)}" rx="2"/>`;
  return html`${rect("hollow", created)}${rect("filled", completed)}<text class="value" x="${across(center)}" y="${coordinate(floor - created - 7)}" text-anchor="middle">${shortCount(month.createdCount)}</text>`;
}

function monthLabel(center: number, months: readonly MonthVolume[], at: number, isShown: boolean): Html {
  const month = months[at]?.month ?? "";
  const startsYear = month.endsWith("-01") || (at === 0 && !months[1]?.month.endsWith("-01"));
  return html`<text class="month${isShown ? "" : " spare"}" x="${across(center)}" y="${floor + 18}" text-anchor="middle">${shortMonth(month)}</text>${
    startsYear &&
    html`<text class="year" x="${across(center)}" y="${floor + 35}" text-anchor="middle">${month.slice(0, 4)}</text>`
  }`;
}

function described(months: readonly MonthVolume[]): string {
  const [first] = months;
  const last = months.at(-1);
  if (!first || !last) return "No orders.";
  const busiest = months.reduce((most, month) => (month.createdCount > most.createdCount ? month : most));
  const peak = `${counted(busiest.createdCount, "order")} created, ${count(busiest.completedCount)} of them completed so far`;
  if (first === last) return `${longMonth(first.month)}: ${peak}.`;
  return `A bar a month from ${longMonth(first.month)} to ${longMonth(last.month)}. The busiest was ${longMonth(busiest.month)}: ${peak}.`;
}

type MonthVolume = { month: string; createdCount: number; completedCount: number };

const abbreviated = new Intl.DateTimeFormat("en-US", { month: "short", timeZone: "UTC" });
const full = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" });

const firstDay = (month: string): Date => new Date(`${month}-01T00:00:00.000Z`);

const next = (month: string): string => {
  const day = firstDay(month);
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1)).toISOString().slice(0, 7);
};

/** Every month from the first to the last of `volumes` (`YYYY-MM`, oldest first); months without orders get zeros. */
export function withoutGaps(volumes: readonly MonthVolume[]): MonthVolume[] {
  const byMonth = new Map(volumes.map((volume) => [volume.month, volume]));
  const last = volumes.at(-1)?.month ?? "";
  const filled: MonthVolume[] = [];
  for (let month = volumes[0]?.month; month !== undefined && month <= last; month = next(month))
    filled.push(byMonth.get(month) ?? { month, createdCount: 0, completedCount: 0 });
  return filled;
}

/** Writes `2026-03` as `Mar`. */
export const shortMonth = (month: string): string => abbreviated.format(firstDay(month));

/** Writes `2026-03` as `March 2026`. */
export const longMonth = (month: string): string => full.format(firstDay(month));
