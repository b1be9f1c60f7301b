import { type Html, html } from "../../../ui/render.ts";
import { across, lengthOf } from "./scale.ts";

/**
 * One row of a chart: a label above a bar. The bar's length is `value`, on the scale of `barRows`. `kind` sets the
 * color.
 */
export type BarRow = { label: string; value: number; figure: string; aside?: string; kind: string };

const textAt = 16;
const barAt = 25;
const barHeight = 12;
const sliver = 0.8;

export const rowHeight = 52;

/** Bars one below the other, on one scale from 0 to `max`. The background of each bar shows the whole scale. */
export const barRows = (rows: readonly BarRow[], max: number): Html[] =>
  rows.map(({ label, value, figure, aside, kind }, at) => {
    const top = at * rowHeight;
    const width = lengthOf(value, max, 100, sliver);
    const y = top + barAt;
    return html`<text class="row-label" x="0" y="${top + textAt}">${label}</text>
<text class="row-figure" x="100%" y="${top + textAt}" text-anchor="end">${figure}${aside ? html`<tspan class="aside" dx="8">${aside}</tspan>` : ""}</text>
<rect class="ground" x="0" y="${y}" width="100%" height="${barHeight}" rx="3"/>
${width > 0 ? html`<rect class="mark ${kind}" x="0" y="${y}" width="${across(width)}" height="${barHeight}" rx="3"/>` : ""}`;
  });
