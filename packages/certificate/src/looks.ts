import { type Flow, type Look, muted } from "./flow.ts";

// The text styles of a certificate's parts: size, color, line spacing and structure type.
export const body: Look = { size: 9.5 };
export const fine: Look = { size: 8.5 };
export const code: Look = { size: 8, mono: true, leading: 1.6 };
export const quiet: Look = { size: 9, color: muted };
export const heading: Look = { size: 12, weight: "semibold", leading: 1.7, tag: "H2" };
export const titleLook: Look = { size: 20, weight: "semibold", leading: 1.25, tag: "H1" };

/** The heading of a list item, such as a document or a signer. */
export const itemLook: Look = { size: 10.5, weight: "semibold", tag: "H3" };

/** Begins a section; on a new page if the current page has less than `minHeight` points left. */
export function section(flow: Flow, title: string, minHeight: number): void {
  flow.keep(minHeight);
  flow.rule();
  flow.skip(12);
  flow.text(title, heading);
  flow.skip(2);
}

/** Draws a table header: the name of each column at its distance from the left margin. */
export const tableHead = (flow: Flow, columns: Readonly<Record<string, number>>): void =>
  flow.cells(
    Object.entries(columns).map(([name, x]) => [name, { ...fine, color: muted }, x]),
    14,
    "TH",
  );

/**
 * Formats an instant for tables, UTC.
 * @param iso ISO 8601
 */
export const instantText = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

const months = "January February March April May June July August September October November December".split(" ");

/**
 * Formats an instant for sentences, UTC.
 * @param iso ISO 8601
 */
export const dateText = (iso: string): string =>
  `${months[Number(iso.slice(5, 7)) - 1]} ${Number(iso.slice(8, 10))}, ${iso.slice(0, 4)}, ${iso.slice(11, 19)} UTC`;
