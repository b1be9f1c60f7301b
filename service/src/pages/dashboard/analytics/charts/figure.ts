import { type Html, html } from "../../../ui/render.ts";

/**
 * The picture of a chart. It is as wide as its container, so horizontal positions are in per cent. `height` is in
 * pixels, so that text keeps its size.
 */
export type Picture = {
  /** The id of the HTML element. It must be unique on the page. */
  id: string;
  title: string;
  /** A sentence that says what the chart shows. */
  description: string;
  height: number;
  drawing: Html | readonly Html[];
  kind?: string;
};

const picture = ({ id, title, description, height, drawing, kind = "" }: Picture): Html =>
  html`<svg class="chart ${kind}" width="100%" height="${height}" role="img" aria-labelledby="${id}-name ${id}-said">
<title id="${id}-name">${title}</title><desc id="${id}-said">${description}</desc>
${drawing}
</svg>`;

export type NumbersTable = {
  caption: string;
  /** True if the page initially shows the table with the numbers expanded. */
  open?: boolean;
  head: readonly string[];
  /** The first cell of each row names the row. */
  rows: readonly (readonly string[])[];
};

const numbersTable = ({ caption, head, rows }: NumbersTable): Html => html`<table class="numbers">
<caption class="visually-hidden">${caption}</caption>
<thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(([name, ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table>`;

/** A chart: its picture, a caption, and the same numbers as a table. */
export const chartFigure = (drawn: Picture, caption: Html | string, table: NumbersTable): Html =>
  html`<figure class="chart-figure"><figcaption>${caption}</figcaption>
${picture(drawn)}
<details class="as-table"${table.open ? html` open` : ""}><summary>${drawn.title} as a table</summary>${numbersTable(table)}</details></figure>`;
