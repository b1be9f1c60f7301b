import { deflateSync } from "node:zlib";

const MIB = 1024 * 1024;
const FULL = 35 * MIB;

type Entry = readonly [number: number, offset: number];

/** A file under construction: its objects and their offsets. */
function file() {
  const chunks: Buffer[] = [Buffer.from("%PDF-1.7\n", "latin1")];
  const entries: Entry[] = [];
  let length = 9;
  const text = (part: string | Buffer) => {
    const chunk = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    chunks.push(chunk);
    length += chunk.length;
  };
  const object = (number: number, body: string | Buffer) => {
    entries.push([number, length]);
    text(`${number} 0 obj\n`);
    text(body);
    text("\nendobj\n");
  };
  const end = (trailer = "", rows = entries) => {
    const at = length;
    text(`xref\n${table(rows)}trailer\n<< /Size 9000000 /Root 1 0 R${trailer} >>\nstartxref\n${at}\n%%EOF\n`);
    return at;
  };
  return { text, object, end, length: () => length, entries, done: () => Buffer.concat(chunks, length) };
}

function table(entries: readonly Entry[]): string {
  const sorted = [...entries].sort(([one], [other]) => one - other);
  const parts: string[] = [];
  for (let index = 0; index < sorted.length; ) {
    const [first = 0] = sorted[index] ?? [];
    let count = 0;
    while (sorted[index + count]?.[0] === first + count) count++;
    parts.push(`${first} ${count}\n`);
    for (const [, offset] of sorted.slice(index, index + count))
      parts.push(`${String(offset).padStart(10, "0")} 00000 n \n`);
    index += count;
  }
  return parts.join("");
}

const CATALOG = "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields 3 0 R >> >>";
const PAGES = "<< /Type /Pages /Count 0 /Kids [] >>";

/** A document with at most `max` form fields; by default, as many as fit. */
function form(field: (number: number) => string, max = Number.POSITIVE_INFINITY): Buffer {
  const made = file();
  made.object(1, CATALOG);
  made.object(2, PAGES);
  const references: string[] = [];
  let room = FULL - 4096;
  for (let number = 4; number - 4 < max; number++) {
    const body = field(number);
    room -= body.length + 60;
    if (room < 0) break;
    made.object(number, body);
    references.push(`${number} 0 R`);
  }
  made.object(3, `[${references.join(" ")}]`);
  made.end();
  return made.done();
}

function formOf(fields: string): Buffer {
  const made = file();
  made.object(1, CATALOG);
  made.object(2, PAGES);
  made.object(3, fields);
  made.end();
  return made.done();
}

const filled = (part: string, length = FULL - 4096) => part.repeat(Math.floor(length / part.length));
const SIGNATURE = "<</Type/Sig/SubFilter/ETSI.CAdES.detached/ByteRange[0 1 2 3]/Contents<30>>>";

function subsections(): Buffer {
  const made = file();
  made.object(1, CATALOG);
  made.object(2, PAGES);
  const fields = Array.from({ length: 100_000 }, (_, index) => 10 + 2 * index);
  const at = made.length();
  for (const number of fields) made.entries.push([number, at]);
  made.object(3, `[${fields.map((number) => `${number} 0 R`).join(" ")}]`);
  made.end();
  return made.done();
}

function revisions(): Buffer {
  const made = file();
  made.object(1, CATALOG);
  made.object(2, PAGES);
  made.object(3, `[${Array.from({ length: 150_000 }, (_, index) => `${index + 10} 0 R`).join(" ")}]`);
  let previous = made.end();
  for (let count = 0; count < 4000; count++) previous = made.end(` /Prev ${previous}`, []);
  return made.done();
}

function xrefBombs(): Buffer {
  const made = file();
  made.object(1, CATALOG);
  const data = deflateSync(Buffer.alloc(63 * MIB), { level: 9 });
  let previous = 0;
  for (let number = 10; made.length() + data.length < FULL; number++) {
    const at = made.length();
    const index = `/Index[0 8000000]/W[1 4 2]/Size 8000001/Root 1 0 R${previous ? `/Prev ${previous}` : ""}`;
    made.text(`${number} 0 obj\n<</Type/XRef${index}/Filter/FlateDecode/Length ${data.length}>>\nstream\n`);
    made.text(data);
    made.text("\nendstream\nendobj\n");
    previous = at;
  }
  made.text(`startxref\n${previous}\n%%EOF\n`);
  return made.done();
}

/** Object streams that decompress to a large size, each with one field. */
function objectBombs(): Buffer {
  const made = file();
  const count = 64;
  const inflated = Buffer.alloc(40 * MIB, " ");
  const rows = Buffer.alloc(7 * (3 * count + 10));
  const row = (number: number, type: number, second: number, third: number) => {
    rows[7 * number] = type;
    rows.writeUInt32BE(second, 7 * number + 1);
    rows.writeUInt16BE(third, 7 * number + 5);
  };
  const object = (number: number, body: string | Buffer) => {
    row(number, 1, made.length(), 0);
    made.object(number, body);
  };
  object(1, CATALOG);
  object(3, `[${Array.from({ length: count }, (_, index) => `${10 + 2 * index} 0 R`).join(" ")}]`);
  for (let index = 0; index < count; index++) {
    const [field, stream] = [10 + 2 * index, 11 + 2 * index];
    inflated.write(`${field} 0 <</FT/Tx/T(a)>>`.padEnd(60), 0, "latin1");
    const data = deflateSync(inflated, { level: 9 });
    row(field, 2, stream, 0);
    const head = `<</Type/ObjStm/N 1/First 5/Filter/FlateDecode/Length ${data.length}>>\nstream\n`;
    object(stream, Buffer.concat([Buffer.from(head), data, Buffer.from("\nendstream")]));
  }
  const at = made.length();
  made.text(`9 0 obj\n<</Type/XRef/Size ${rows.length / 7}/W[1 4 2]/Root 1 0 R/Length ${rows.length}>>\nstream\n`);
  made.text(rows);
  made.text(`\nendstream\nendobj\nstartxref\n${at}\n%%EOF\n`);
  return made.done();
}

/**
 * A file with one or more signatures, each over the whole file.
 * @param value the DER of each signature; it is written as hexadecimal digits
 */
function signed(value: Buffer, more: { readonly count?: number; readonly filler?: Buffer } = {}): Buffer {
  const count = more.count ?? 1;
  const digits = value.toString("hex");
  const fields = Array.from({ length: count }, (_, index) => 100 + 2 * index);
  const make = (ranges: readonly string[]) => {
    const made = file();
    made.object(1, CATALOG);
    made.object(2, PAGES);
    made.object(3, `[${fields.map((number) => `${number} 0 R`).join(" ")}]`);
    if (more.filler) made.text(more.filler);
    const gaps: (readonly [number, number])[] = [];
    fields.forEach((number, index) => {
      made.object(number, `<</FT/Sig/T(${number})/V ${number + 1} 0 R>>`);
      made.entries.push([number + 1, made.length()]);
      made.text(
        `${number + 1} 0 obj\n<</Type/Sig/SubFilter/ETSI.CAdES.detached/ByteRange[${(ranges[index] ?? "").padEnd(40)}]/Contents`,
      );
      gaps.push([made.length(), made.length() + digits.length + 2]);
      made.text(`<${digits}>`);
      made.text(">>\nendobj\n");
    });
    made.end();
    return { bytes: made.done(), gaps };
  };
  const { bytes, gaps } = make([]);
  return make(gaps.map(([start, end]) => `0 ${start} ${end} ${bytes.length - end}`)).bytes;
}

/** One DER value: tag, length in the fewest octets, content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const octets = Buffer.from(length.toString(16).replace(/^(?=(..)*.$)/, "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 + octets.length, ...octets]), content]);
}

const SIGNED_DATA = Buffer.from("06092a864886f70d010702", "hex");
const manyParts = (size: number) =>
  der(
    0x30,
    Buffer.concat([SIGNED_DATA, der(0xa0, der(0x30, Buffer.alloc(size - (size % 2), Buffer.from("0500", "hex"))))]),
  );

/** Files that are made to be expensive to read, by name. Each is up to 35 MiB of one kind of content. */
export const FILES: Readonly<Record<string, () => Buffer>> = {
  "fields that are signed": () => form((number) => `<</FT/Sig/T(${number})/V${SIGNATURE}>>`),
  "fields whose values are signatures elsewhere": () =>
    form((number) => (number % 2 ? SIGNATURE : `<</FT/Sig/V ${number + 1} 0 R>>`)),
  "fields of text": () => form((number) => `<</FT/Tx/T(${number})/V(x)>>`, 199_000),
  "small fields": () => form(() => "<<>>"),
  "large fields": () => form((number) => `<</FT/Tx/T(${number})${filled("/A 1", 10_000)}>>`),
  "fields that are no objects": () => formOf(`[${filled("<<>> ")}]`),
  "numbers for fields": () => formOf(`[${filled("1 ")}]`),
  "arrays for fields": () => formOf(`[${filled("[]")}]`),
  "strings for fields": () => formOf(`[${filled("()")}]`),
  "one dictionary with many keys": () => {
    const parts: string[] = [];
    for (let n = 0, length = 0; length < FULL - 8192; n++) {
      const part = `/${n.toString(36)} 1`;
      parts.push(part);
      length += part.length;
    }
    return formOf(`<<${parts.join("")}>>`);
  },
  "one long string": () => formOf(`(${filled("(a)")})`),
  "one comment": () => formOf(`[${filled("%")}\n]`),
  "many comments": () => formOf(`[${filled("%\n")}]`),
  "long names": () => formOf(`[${filled(`/${"n".repeat(4000)}`)}]`),
  "subsections of a table": subsections,
  "empty revisions": revisions,
  "swelling cross-references": xrefBombs,
  "swelling object streams": objectBombs,
  "nothing but s": () => Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(FULL - 100, "s")]),
  "almost startxref": () => Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(FULL - 100, "startxre")]),
  "almost startxref, backwards": () => Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(FULL - 100, "tartxref")]),
  "many startxref": () => Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(FULL - 100, "startxref\n")]),
  "a signature value of many parts": () => signed(manyParts(16 * MIB)),
  "sixty signatures over everything": () => signed(manyParts(64), { count: 60, filler: Buffer.alloc(34 * MIB, "x") }),
  "sixty signature values of many parts": () => signed(manyParts(280 * 1024), { count: 60 }),
  "ranges without signatures": () => {
    const text = "/ByteRange[0 1 2 3] ";
    return signed(manyParts(64), { filler: Buffer.from(filled(text, 33 * MIB), "latin1") });
  },
};
