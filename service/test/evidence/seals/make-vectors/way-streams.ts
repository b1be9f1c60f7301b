import { deflateSync } from "node:zlib";
import { bodyOf, endOf, type NewObject } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { type Expectation, unreadable, verified } from "./case.ts";
import { plain, readStrictly, tolerated, type Way } from "./way.ts";

/** Deviations from a usual cross-reference stream. */
type StreamWriting = {
  readonly entries?: (text: string) => string;
  readonly data?: (rows: Buffer) => Buffer;
  readonly width?: string;
  readonly rows?: (rows: readonly (readonly number[])[]) => readonly (readonly number[])[];
};

/** A revision with a cross-reference stream. The objects with the numbers in `held` are in object stream 91. */
export function streamed(objects: readonly NewObject[], odd: StreamWriting = {}, held: readonly number[] = []): string {
  const { startxref } = endOf(plain);
  let text = plain;
  const rows = new Map<number, readonly number[]>();
  for (const [number, body] of objects) {
    rows.set(number, [1, text.length, 0]);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  for (const [index, number] of held.entries()) rows.set(number, [2, 91, index]);
  const own = 99;
  rows.set(own, [1, text.length, 0]);
  const sorted = [...rows].toSorted(([one], [other]) => one - other);
  const list = odd.rows?.(sorted.map(([, fields]) => fields)) ?? sorted.map(([, fields]) => fields);
  const plainRows = Buffer.concat(
    list.map(([type = 0, offset = 0, index = 0]) => {
      const bytes = Buffer.alloc(7);
      bytes.writeUInt8(type);
      bytes.writeUInt32BE(offset, 1);
      bytes.writeUInt16BE(index, 5);
      return bytes;
    }),
  );
  const data = odd.data?.(plainRows) ?? plainRows;
  const index = sorted.map(([number]) => `${number} 1`).join(" ");
  const entries = `/Type/XRef/Size 100/Root 1 0 R/Prev ${startxref}/W[1 4 2]/Index[${index}]/Length ${data.length}`;
  const start = text.length;
  text += `${own} 0 obj\n<<${odd.entries?.(entries) ?? entries}>>\nstream\n${data.toString("latin1")}\nendstream\nendobj\n`;
  return `${text}startxref\n${start}\n%%EOF\n`;
}

const catalog: NewObject = [1, bodyOf(plain, 1)];

/** Cross-reference streams, their filters and predictors. */
export function streams(): readonly Way[] {
  const one = (name: string, odd: StreamWriting, expect: Expectation): Way => [
    `a cross-reference stream: ${name}`,
    streamed([catalog], odd),
    expect,
    expect === unreadable ? readStrictly : tolerated,
  ];
  const bad = (name: string, odd: StreamWriting) => one(name, odd, unreadable);
  const good = (name: string, odd: StreamWriting) => one(name, odd, verified());
  const swap = (from: string | RegExp, to: string): StreamWriting => ({ entries: (text) => text.replace(from, to) });
  const flate = (parameters: string, data: (rows: Buffer) => Buffer = (rows) => deflateSync(rows)): StreamWriting => ({
    data,
    entries: (text) => `${text}/Filter/FlateDecode${parameters}`,
  });
  const png = (filter: number, columns = 7) =>
    flate(`/DecodeParms<</Predictor 12/Columns ${columns}>>`, (rows) => deflateSync(filtered(rows, filter)));
  const damaged = (change: (bytes: Buffer) => void): StreamWriting =>
    flate("", (rows) => {
      const bytes = Buffer.from(deflateSync(rows));
      change(bytes);
      return bytes;
    });
  const widths = (wide: (row: Buffer) => Buffer, text: string): StreamWriting => ({
    data: (rows) =>
      Buffer.concat(
        Array.from({ length: rows.length / 7 }, (_, index) => wide(rows.subarray(7 * index, 7 * index + 7))),
      ),
    entries: (entries) => entries.replace("/W[1 4 2]", text),
  });
  return [
    good("as it should be", {}),
    bad(
      "/W of two numbers",
      widths((bytes) => bytes.subarray(0, 5), "/W[1 4]"),
    ),
    good(
      "/W of four numbers",
      widths((bytes) => Buffer.concat([bytes, Buffer.alloc(1)]), "/W[1 4 2 1]"),
    ),
    bad(
      "/W of nine bytes",
      widths((bytes) => Buffer.concat([Buffer.alloc(8), bytes]), "/W[9 4 2]"),
    ),
    bad("/W with a negative number", swap("/W[1 4 2]", "/W[1 4 2 -1]")),
    bad("/W of zeros", {
      entries: (text) => text.replace("/W[1 4 2]", "/W[0 0 0]").replace(/\/Index\[[\d ]*\]/, "/Index[50 1]"),
    }),
    good(
      "/W without a first field",
      widths((bytes) => bytes.subarray(1), "/W[0 4 2]"),
    ),
    bad("/W that is a name", swap("/W[1 4 2]", "/W/N")),
    bad("/W with a name", swap("/W[1 4 2]", "/W[1 4 2 /N]")),
    bad("/W with a fraction", swap("/W[1 4 2]", "/W[1 4 2 1.5]")),
    bad("no /Size", swap("/Size 100", "")),
    bad("a negative /Size", swap("/Size 100", "/Size -1")),
    bad("a /Size beyond the bound", swap("/Size 100", "/Size 8388609")),
    bad("an /Index of three numbers", swap(/\/Index\[([\d ]*)\]/, "/Index[$1 50]")),
    bad("an /Index with a negative number", swap(/\/Index\[([\d ]*)\]/, "/Index[$1 -1 0]")),
    bad("an /Index with a negative count", swap(/\/Index\[([\d ]*)\]/, "/Index[$1 50 -1]")),
    bad("an /Index beyond the bound", swap(/\/Index\[([\d ]*)\]/, "/Index[$1 8388609 0]")),
    bad("an object twice in /Index", {
      entries: (text) => text.replace(/\/Index\[([\d ]*)\]/, "/Index[$1 1 1]"),
      data: (rows) => Buffer.concat([rows, rows.subarray(0, 7)]),
    }),
    bad("too few rows", swap(/\/Index\[([\d ]*)\]/, "/Index[$1 50 1]")),
    good("too many rows", { data: (rows) => Buffer.concat([rows, Buffer.alloc(7)]) }),
    bad("a filter of another name", {
      data: (rows) => deflateSync(rows),
      entries: (text) => `${text}/Filter/Fl`,
    }),
    bad(
      "a predictor of TIFF over rows of PNG",
      flate("/DecodeParms<</Predictor 2/Columns 7>>", (rows) => deflateSync(filtered(rows, 0))),
    ),
    bad(
      "pixels of -8 bits in rows of -7",
      flate("/DecodeParms<</Predictor 12/Colors -1/Columns -7>>", (rows) => deflateSync(filtered(rows, 0))),
    ),
    bad("no /Length", swap(/\/Length \d+/, "")),
    bad("a /Length that is a reference", swap(/\/Length \d+/, "/Length 50 0 R")),
    bad("a negative /Length", swap(/\/Length \d+/, "/Length -1")),
    bad("a /Length beyond the file", swap(/\/Length \d+/, "/Length 9999999")),
    bad("another /Type", swap("/Type/XRef", "/Type/XObject")),
    bad("a key twice", swap("/Type/XRef", "/Type/XRef/Type/XRef")),
    good("a type that is not known, which is free", {
      rows: (rows) => rows,
      entries: (text) => text.replace(/\/Index\[([\d ]*)\]/, "/Index[$1 50 1]"),
      data: (rows) => Buffer.concat([rows, Buffer.from([7, 0, 0, 0, 9, 0, 0])]),
    }),
    good("compressed", flate("")),
    good("a filter in an array", {
      data: (rows) => deflateSync(rows),
      entries: (text) => `${text}/Filter[/FlateDecode]`,
    }),
    good("a filter that is null", swap("/Type/XRef", "/Type/XRef/Filter null")),
    bad("another filter", {
      data: (rows) => Buffer.from(rows.toString("hex")),
      entries: (text) => `${text}/Filter/ASCIIHexDecode`,
    }),
    bad("a filter that is a text", {
      data: (rows) => deflateSync(rows),
      entries: (text) => `${text}/Filter(FlateDecode)`,
    }),
    bad("two filters", {
      data: (rows) => deflateSync(deflateSync(rows)),
      entries: (text) => `${text}/Filter[/FlateDecode/FlateDecode]`,
    }),
    good("predictor 1", flate("/DecodeParms<</Predictor 1>>")),
    ...[0, 1, 2, 3, 4].map((filter) => good(`row filter ${filter}`, png(filter))),
    bad("row filter 5", png(5)),
    bad("predictor 2", flate("/DecodeParms<</Predictor 2/Columns 7>>")),
    bad("no columns", flate("/DecodeParms<</Predictor 12/Columns 0>>")),
    bad("too many columns", flate("/DecodeParms<</Predictor 12/Columns 65537>>")),
    bad("no colors", flate("/DecodeParms<</Predictor 12/Columns 7/Colors 0>>")),
    bad("a key twice in /DecodeParms", flate("/DecodeParms<</Predictor 1/Predictor 1>>")),
    good("a predictor that is a text", flate("/DecodeParms<</Predictor (12)>>")),
    bad(
      "compressed by another method",
      damaged((bytes) => bytes.writeUInt16BE(0x7901 + ((31 - (0x7901 % 31)) % 31))),
    ),
    bad(
      "a check that does not fit",
      damaged((bytes) => bytes.writeUInt8(bytes.readUInt8(1) ^ 1, 1)),
    ),
    bad(
      "a dictionary of before",
      damaged((bytes) => bytes.writeUInt16BE(0x78bb)),
    ),
    bad(
      "a block of the reserved kind",
      flate("", () => Buffer.from([0x78, 0x9c, 0x07, 0, 0, 0, 0, 0])),
    ),
    bad(
      "a stored block whose lengths differ",
      flate("", (rows) => stored(rows, 1)),
    ),
    good(
      "a stored block",
      flate("", (rows) => stored(rows, 0)),
    ),
    bad(
      "a stored block that is cut",
      flate("", (rows) => stored(rows, 0).subarray(0, -8)),
    ),
    bad(
      "compressed and cut",
      flate("", (rows) => deflateSync(rows).subarray(0, -12)),
    ),
  ];
}

function stored(rows: Buffer, wrong: number): Buffer {
  const head = Buffer.from([0x78, 0x01, 0x01, 0, 0, 0, 0]);
  head.writeUInt16LE(rows.length, 3);
  head.writeUInt16LE((~rows.length & 0xffff) ^ wrong, 5);
  return Buffer.concat([head, rows, Buffer.alloc(4)]);
}

/** Rows of seven bytes under one filter of PNG. */
function filtered(rows: Buffer, filter: number): Buffer {
  const output: number[] = [];
  for (let at = 0; at < rows.length; at++) {
    if (at % 7 === 0) output.push(filter);
    const left = at % 7 === 0 ? 0 : (rows[at - 1] ?? 0);
    const above = rows[at - 7] ?? 0;
    const corner = at % 7 === 0 ? 0 : (rows[at - 8] ?? 0);
    const guess = left + above - corner;
    const nearest = [left, above, corner].reduce(
      (best, one) => (Math.abs(guess - one) < Math.abs(guess - best) ? one : best),
      left,
    );
    const predicted = [0, left, above, (left + above) >> 1, nearest, 0][filter] ?? 0;
    output.push(((rows[at] ?? 0) - predicted) & 0xff);
  }
  return Buffer.from(output);
}
