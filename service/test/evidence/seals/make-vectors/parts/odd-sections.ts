import { constants, deflateSync } from "node:zlib";
import { attached } from "./attachments.ts";
import { encryptsNothing } from "./encrypted.ts";
import type { Part } from "./part.ts";
import { CATALOG, no, part, pdf, placed, streamed, swapped, yes } from "./pdf-files.ts";

type Row = readonly number[];

const TABLE = pdf();
const FORM = CATALOG.replace(" >>", " /AcroForm << /Fields [4 0 R] >> >>");
const [NONE, LEFT, ABOVE, MEAN, PAETH] = [0, 1, 2, 3, 4];

/** The neighbor whose value is nearest to `left + above - corner`: the Paeth predictor (W3C PNG section 9.4). */
function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const far = (value: number) => Math.abs(guess - value);
  if (far(left) <= far(above) && far(left) <= far(corner)) return left;
  return far(above) <= far(corner) ? above : corner;
}

/** Filters rows as PNG does. The rows use the given filters in turn. */
function filtered(rows: readonly Row[], filters: Row): number[] {
  return rows.flatMap((row, at) => {
    const filter = filters[at % filters.length] ?? NONE;
    const before = rows[at - 1] ?? [];
    const values = row.map((value, column) => {
      const [left, above, corner] = [row[column - 1] ?? 0, before[column] ?? 0, before[column - 1] ?? 0];
      const expected = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      return (value - expected) & 255;
    });
    return [filter, ...values];
  });
}

const inOneByte = (rows: readonly Row[]): Row[] => rows.map(([type = 0, high = 0, low = 0]) => [type, low, high && -1]);

/** A file whose cross-reference stream is compressed. @param first the row of object 0, which no reader looks up */
function compressed(
  parameters: string,
  encode: (rows: readonly Row[]) => readonly number[],
  first: Row = [0, 0, 0],
): string {
  return streamed(
    (size) => `/Size ${size} /W [1 1 1] /Filter /FlateDecode ${parameters}`,
    (rows) => [[...deflateSync(Uint8Array.from(encode([first, ...inOneByte(rows).slice(1)])))]],
  );
}

const png = (filters: Row, first?: Row, parameters = "/Predictor 15 /Columns 3"): string =>
  compressed(`/DecodeParms << ${parameters} >>`, (rows) => filtered(rows, filters), first);

/**
 * A file whose row for object 2 says that the object is in an object stream, although it is in none. A reader that
 * applies the Paeth filter with the wrong neighbor reads another row.
 */
const inNoStream = (): string =>
  streamed(
    (size) => `/Size ${size} /W [1 1 1] /Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 3 >>`,
    (rows) => {
      const [, one = [], two = [], ...others] = inOneByte(rows);
      const all = [[0, 0, 1], one, [2, ...two.slice(1)], ...others];
      return [[...deflateSync(Uint8Array.from(filtered(all, [PAETH])))]];
    },
    [],
    CATALOG.replace(" >>", " /AcroForm 2 0 R >>"),
  );

/**
 * Compressed data without the end of its only block. The missing bits are all 0, so a careless reader could assume
 * them.
 */
function withoutItsEnd(): string {
  return streamed(
    (size) => `/Size ${size} /W [1 1 1] /Filter /FlateDecode`,
    (rows) => {
      const whole = deflateSync(Uint8Array.from(inOneByte(rows).flat()), { strategy: constants.Z_FIXED });
      // Cuts off the checksum (four bytes), and the byte that contains only the end of the block.
      if (whole.at(-5) !== 0) throw new Error("the end of the block is not in a byte of its own");
      return [[...whole.subarray(0, -5)]];
    },
  );
}

/** One row of more than 64 KiB: 65,537 bytes and the filter. */
const wide = (rows: readonly Row[]): number[] => [
  NONE,
  ...rows.flat(),
  ...Array<number>(65_537 - 3 * rows.length).fill(0),
];

const compressedStreams: readonly Part[] = [
  yes(
    "a compressed cross-reference stream",
    compressed("", (rows) => rows.flat()),
  ),
  no("a compressed cross-reference stream without its end", withoutItsEnd()),
  ...Object.entries({ NONE, LEFT, ABOVE, MEAN, PAETH }).map(([name, filter]) =>
    yes(`a cross-reference stream of PNG rows: ${name.toLowerCase()}`, png([filter], [0, 5, 1])),
  ),
  no("a cross-reference stream of PNG rows: a corner before the first column", inNoStream()),
  yes("a cross-reference stream of PNG rows: above is nearer than left", png([PAETH], [3, 0, 0])),
  yes("a cross-reference stream of PNG rows: the corner is nearer than left", png([PAETH], [3, 5, 0])),
  no("a cross-reference stream of PNG rows of 3.0 columns", png([NONE], [0, 0, 0], "/Predictor 15 /Columns 3.0")),
  no(
    "a cross-reference stream of PNG rows of 65,537 columns",
    compressed("/DecodeParms << /Predictor 15 /Columns 65537 >>", wide),
  ),
];

/** Appends a second section with these trailer entries. */
function continued(text: string, entries: string): string {
  return `${text}xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 3 /Root 1 0 R ${entries} >>\nstartxref\n${text.length}\n%%EOF\n`;
}
const startOf = (text: string): string => /startxref\n(\d+)/.exec(text)?.[1] ?? "";
const numbered = (digits: number): string =>
  swapped(TABLE, `startxref\n${startOf(TABLE)}`, `startxref\n${startOf(TABLE).padStart(digits, "0")}`);
const plain = (rows: readonly Row[]): number[][] => inOneByte(rows).map((row) => [...row]);
const stream = (size: (size: number) => string): string =>
  streamed((count) => `/Size ${size(count)} /W [1 1 1]`, plain);

/** A field in an object stream. */
function held(header: string): string {
  const data = "4 0 << /FT /Tx >>";
  const body = `<< /Type /ObjStm /N 1 /First 4 /Length ${data.length} >>\nstream\n${data}\nendstream`;
  const text = streamed(
    (size) => `/Size ${size} /W [1 2 0]`,
    (rows) => [...rows.slice(0, 4), [2, 0, 3], ...rows.slice(5)].map((row) => [...row]),
    [
      [3, body],
      [4, "null"],
    ],
    FORM,
  );
  return header === "3 0 obj" ? text : swapped(text, "\n3 0 obj", `\n${header}`);
}

const encrypted = (before: string, after: string): string => {
  const entry = (more: string) => `/Encrypt ${encryptsNothing.replace(/ >>$/, ` /X << ${more} >> >>`)} `;
  const text = pdf([], entry(before));
  return continued(text, `${entry(after)}/Prev ${startOf(text)}`);
};

/**
 * A table in two parts. The second part begins with object 1, although its first entry is the head of the list of free
 * objects.
 */
function headInSecondPart(): string {
  const { text = "" } = attached("as it should be", "accepted");
  const rows = /xref\n0 8\n((?:\d{10} \d{5} [nf] \n){8})/.exec(text)?.[1] ?? "";
  return swapped(text, `xref\n0 8\n${rows}`, `xref\n7 1\n${rows.slice(-20)}1 7\n${rows.slice(0, -20)}`);
}

const tables: readonly Part[] = [
  yes("startxref in 15 digits", numbered(15)),
  no("startxref in 16 digits", numbered(16)),
  no("a first row that is none", swapped(TABLE, "65535 f", "65535 x")),
  yes("a /Prev that leads to a section", continued(TABLE, `/Prev ${startOf(TABLE)}`)),
  no("a /Prev with a point that leads to a section", continued(TABLE, `/Prev ${startOf(TABLE)}.0`)),
  no(
    "a cross-reference stream with a /Size that has a point",
    stream((size) => `${size}.0`),
  ),
  no(
    "a cross-reference stream without a generation",
    swapped(stream(String), "\n3 0 obj\n<< /Type /XRef", "\n3   obj\n<< /Type /XRef"),
  ),
  no(
    "a reference to a number of 20 digits",
    placed(swapped(pdf([[4, "<< /FT /Tx >>"]], "", FORM), "[4 0 R]", `[4 0 R ${"9".repeat(20)} 0 R]`)),
  ),
  yes("an object stream", held("3 0 obj")),
  no("an object stream under another number", held("9 0 obj")),
  no("an object of an object stream, by generation 1", swapped(held("3 0 obj"), "[4 0 R]", "[4 1 R]")),
  yes("two trailers of one encryption", encrypted("/Y 1", "/Y 1")),
  no("two trailers of one encryption, of which the later has a key twice", encrypted("/Y 1", "/Y 1 /Y 2")),
  part(
    "attachment",
    "a later part of the table that begins at 1 with the head of the free objects",
    headInSecondPart(),
    "refused",
    "Section 2.6: only a first part is taken to begin at 0.",
  ),
];

/** Cross-reference sections, each with one unusual part. */
export const oddSections: readonly Part[] = [...compressedStreams, ...tables];
