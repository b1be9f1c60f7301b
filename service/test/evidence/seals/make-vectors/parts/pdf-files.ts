import type { Part, PartKind } from "./part.ts";

export type Objects = readonly (readonly [number: number, body: string])[];
type Written = { readonly text: string; readonly size: number; readonly table: string };

export const CATALOG = "<< /Type /Catalog /Pages 2 0 R >>";
const PAGES = "<< /Type /Pages /Count 0 /Kids [] >>";

function written(objects: Objects, head: string): Written {
  let text = head;
  const places = new Map<number, number>();
  for (const [number, body] of objects) {
    places.set(number, text.length);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const size = Math.max(...objects.map(([number]) => number)) + 1;
  const rows = Array.from({ length: size }, (_, number) => {
    const at = places.get(number);
    return at === undefined ? "0000000000 65535 f \n" : `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  return { text, size, table: `xref\n0 ${size}\n${rows.join("")}` };
}

/** A small PDF of a catalog, a node of the page tree and these objects. */
export function pdf(objects: Objects = [], more = "", catalog = CATALOG): string {
  const { text, size, table } = written([[1, catalog], [2, PAGES], ...objects], "%PDF-1.7\n");
  return `${text}${table}trailer\n<< /Size ${size} /Root 1 0 R ${more}>>\nstartxref\n${text.length}\n%%EOF\n`;
}

const withForm = (field: string, edit = (text: string) => text): string =>
  edit(pdf([[3, field]], "", CATALOG.replace(" >>", " /AcroForm << /Fields [3 0 R] >> >>")));

/** Like `pdf`, but with a cross-reference stream. */
export function streamed(
  dictionary: (size: number) => string,
  rows?: (rows: readonly (readonly number[])[]) => readonly number[][],
  objects: Objects = [],
  catalog = CATALOG,
): string {
  const { text, size } = written([[1, catalog], [2, PAGES], ...objects], "%PDF-1.7\n");
  const places = Array.from({ length: size + 1 }, (_, number): readonly number[] => {
    const at = number === size ? text.length : text.indexOf(`\n${number} 0 obj`) + 1;
    return number === 0 ? [0, 0, 0] : [1, at >> 8, at & 255];
  });
  const data = (rows?.(places) ?? places).map((row) => String.fromCharCode(...row)).join("");
  const body = `<< /Type /XRef /Root 1 0 R /Length ${data.length} ${dictionary(size + 1)} >>\nstream\n${data}\nendstream`;
  return `${text}${size} 0 obj\n${body}\nendobj\nstartxref\n${text.length}\n%%EOF\n`;
}

export const part = (kind: PartKind, name: string, text: string, expect: Part["expect"], teaches: string): Part => ({
  name: `${kind}: ${name}`,
  kind,
  text,
  expect,
  teaches,
});
export const yes = (name: string, text: string) => part("pdf", name, text, "accepted", "Close to what is refused.");
export const no = (name: string, text: string) =>
  part("pdf", name, text, "refused", "Section 2.6: readers would part ways.");
export const swapped = (text: string, from: string | RegExp, to: string): string => {
  const result = text.replace(from, to);
  if (result === text) throw new Error(`nothing to change: ${from}`);
  return result;
};

/** Recomputes the table and `startxref` after the objects have moved. */
export function placed(text: string): string {
  const table = text.lastIndexOf("xref\n0 ");
  let number = -1;
  return text
    .replace(/\d{10}(?= \d{5} [fn] \n)/g, (row) => {
      number++;
      const at = text.indexOf(`\n${number} 0 obj`) + 1;
      return at === 0 ? row : String(at).padStart(10, "0");
    })
    .replace(/startxref\n\d+/, `startxref\n${table}`);
}

/**
 * A file with two tables. `startxref` points to one of them when counted from the first byte, and to the other when
 * counted from the header.
 */
function twoTables(word = "xref"): string {
  const prefix = `${"x".repeat(399)}\n`;
  const { text, size, table } = written(
    [
      [1, CATALOG],
      [2, PAGES],
    ],
    `${prefix}%PDF-1.7\n`,
  );
  const one = `${table}trailer\n<< /Size ${size} /Root 1 0 R >>\n`;
  const padded = `${one.padEnd(399)}\n`;
  return `${text}${padded}${one.replace("xref", word)}startxref\n${text.length}\n%%EOF\n`;
}

const TABLE = pdf();
const W = "/W [1 1 1]";
const files: readonly Part[] = [
  yes("as it should be", TABLE),
  yes("with a form", withForm("<< /FT /Tx /T (a) >>")),
  yes("a form that is not there", pdf([], "", CATALOG.replace(" >>", " /AcroForm 9 0 R >>"))),
  no("two tables that startxref leads to", twoTables()),
  yes("a table from the first byte, and from the header none", twoTables("zref")),
  no("a table from the first byte, and from the header one that is broken", twoTables("xref\nref")),
  no("no startxref", withoutStartxref()),
  no(
    "a field without the word obj",
    withForm("<< /FT /Tx >>", (text) => swapped(text, "3 0 obj\n", "3 0 \n   ")),
  ),
  no("a field that is a number that goes on in letters", withForm("7x")),
  no("a reference that goes on without a space", swapped(withForm("<< /FT /Tx >>"), "[3 0 R]", "[3 0R ]")),
  no("a dictionary that one bracket ends", withForm("<< /FT /Tx />")),
  no("a /Prev with a point", pdf([], "/Prev 15.0 ")),
  no("a /Prev that is a name", pdf([], "/Prev /X ")),
  no("a /Prev of 0 that leads to a section", `xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 >>\n${twoHeads()}`),
  yes(
    "a cross-reference stream",
    streamed((size) => `/Size ${size} ${W}`, withBytes),
  ),
  no(
    "a cross-reference stream of too large a /Size",
    streamed(() => `/Size 8388609 /Index [0 4] ${W}`, withBytes),
  ),
  no(
    "a cross-reference stream with a width that has a point",
    streamed((size) => `/Size ${size} /W [1 1.0 1]`, withBytes),
  ),
  yes(
    "a cross-reference stream with a part of no objects",
    streamed((size) => `/Size ${size} /Index [3 0 0 ${size}] ${W}`, withBytes),
  ),
  no("a cross-reference stream of a length that leads back beyond the first byte", backwards()),
  no(
    "a first table that begins at 1 with another head",
    swapped(swapped(TABLE, "xref\n0 3", "xref\n1 3"), "65535 f", "00000 f"),
  ),
  no(
    "a first table that begins at 1 with a head in use",
    swapped(swapped(TABLE, "xref\n0 3", "xref\n1 3"), "0000000000 65535 f", "0000000003 65535 n"),
  ),
  yes("a first table that begins at 1", swapped(TABLE, "xref\n0 3", "xref\n1 3")),
  no("rows of 22 bytes", TABLE.replaceAll(" f \n", " f   \n").replaceAll(" n \n", " n   \n")),
  no("a row behind what is no white space", swapped(TABLE, / n \n(\d{10} 00000 n)/, " n x$1")),
];

/**
 * A file without `startxref`. A reader that treats "not found" as offset 0 would read a number there that points to the
 * table.
 */
function withoutStartxref(): string {
  const text = placed(swapped(TABLE, "%PDF-1.7\n", "%PDF-1.7\n0000000000\n"));
  const table = String(text.indexOf("xref\n0 ")).padStart(10, "0");
  return swapped(swapped(text, "%PDF-1.7\n0000000000", `%PDF-1.7\n${table}`), /startxref\n\d+\n/, "");
}

function withBytes(rows: readonly (readonly number[])[]): number[][] {
  return rows.map(([type = 0, high = 0, low = 0]) => {
    if (high > 0) throw new Error("a place beyond one byte");
    return [type, low, 0];
  });
}

function twoHeads(): string {
  const head = "xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 >>\n".length;
  const { text, size, table } = written(
    [
      [1, CATALOG],
      [2, PAGES],
    ],
    "%PDF-1.7\n",
  );
  const moved = table.replace(/\d{10}(?= 00000 n)/g, (at) => String(Number(at) + head).padStart(10, "0"));
  return `${text}${moved}trailer\n<< /Size ${size} /Root 1 0 R /Prev 0 >>\nstartxref\n${text.length + head}\n%%EOF\n`;
}

/**
 * A stream whose negative /Length leads to an offset before the first byte. To functions that count negative offsets
 * from the end, that offset is one byte before the end.
 */
function backwards(): string {
  const text = streamed((size) => `/Size ${size} ${W}`, withBytes);
  const from = text.lastIndexOf("\nstream\n") + "\nstream\n".length;
  const length = /\/Length \d+/.exec(text)?.[0] ?? "";
  return swapped(text, length, `/Length -${String(from + 16 - length.length + 2).padStart(7, "0")}`);
}

/** PDF files that a verifier must read, or must refuse. */
export const pdfParts = (): readonly Part[] => files;
