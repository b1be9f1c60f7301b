import { ifUtc } from "./format.ts";
import { type Html, html } from "./render.ts";

export type Column = {
  label: string;
  number?: boolean;
  /**
   * True for a column of times. Its header says UTC until a script has converted the times to the reader's time zone.
   */
  utc?: boolean;
};

/**
 * A table of records that a phone shows as cards. It sets the ARIA roles of tables, because browsers remove these roles
 * when CSS changes the layout. The first cell of a row names the record.
 */
export function records(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly (Html | string)[])[],
): Html {
  const kind = (index: number) => [
    columns[index]?.number && html` class="number"`,
    columns[index]?.utc && html` data-utc`,
  ];
  const label = (index: number) => columns[index]?.label ?? "";
  return html`<table class="records" role="table"><caption class="visually-hidden">${caption}</caption>
<thead class="visually-hidden-on-phone" role="rowgroup"><tr role="row">${columns.map((column, index) => html`<th scope="col" role="columnheader"${kind(index)}>${column.label}${column.utc && ifUtc}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (cells) =>
      html`<tr role="row">${cells.map((cell, index) =>
        index === 0
          ? html`<th scope="row" role="rowheader" data-label="${label(index)}"><span>${cell}</span></th>`
          : html`<td role="cell" data-label="${label(index)}"${kind(index)}><span>${cell}</span></td>`,
      )}</tr>`,
  )}</tbody></table>`;
}
