import { deflateSync } from "node:zlib";

/** An object of a document: its number and its text. */
export type PdfObject = readonly [number: number, body: string];

export type Layout = {
  readonly objects: readonly PdfObject[];
  /**
   * Cross-reference entries without an object: the offset of each, by object number. These offsets are after `%%EOF`.
   */
  readonly elsewhere?: Readonly<Record<number, number>>;
  /** Further entries of the trailer. */
  readonly trailer?: string;
  /** The bytes after `%%EOF`. */
  readonly behind?: string;
};

/** A document with a classic cross-reference table, as latin1 text. */
export function withTable({ objects, elsewhere = {}, trailer = "", behind = "" }: Layout): string {
  const { text, offsets } = placed(objects, elsewhere);
  let rows = "0 1\n0000000000 65535 f \n";
  for (const [number, offset] of offsets) rows += `${number} 1\n${String(offset).padStart(10, "0")} 00000 n \n`;
  const size = sizeOf(offsets);
  return `${text}xref\n${rows}trailer\n<< /Size ${size} /Root 1 0 R${trailer} >>\nstartxref\n${text.length}\n%%EOF\n${behind}`;
}

/**
 * A document with a cross-reference stream. Objects in `packed` are in an object stream, so that their text is not
 * visible in the file.
 */
export function withStream({ objects, elsewhere = {}, trailer = "", behind = "" }: Layout, packed: number[]): string {
  const inStream = objects.filter(([number]) => packed.includes(number));
  const free = Math.max(...objects.map(([number]) => number), ...Object.keys(elsewhere).map(Number)) + 1;
  const plain = [
    ...objects.filter(([number]) => !packed.includes(number)),
    ...(inStream.length > 0 ? [[free, objectStream(inStream)] as const] : []),
  ];
  const { text, offsets } = placed(plain, elsewhere);
  const self = free + 1;
  offsets.set(self, text.length);
  const rows = Buffer.alloc(7 * (self + 1));
  for (const [number, offset] of offsets) {
    rows[7 * number] = 1;
    rows.writeUInt32BE(offset, 7 * number + 1);
  }
  inStream.forEach(([number], index) => {
    rows[7 * number] = 2;
    rows.writeUInt32BE(free, 7 * number + 1);
    rows.writeUInt16BE(index, 7 * number + 5);
  });
  const dictionary = `<< /Type /XRef /Size ${self + 1} /Root 1 0 R /W [1 4 2] /Length ${rows.length}${trailer} >>`;
  return (
    `${text}${self} 0 obj\n${dictionary}\nstream\n${rows.toString("latin1")}\nendstream\nendobj\n` +
    `startxref\n${text.length}\n%%EOF\n${behind}`
  );
}

function placed(objects: readonly PdfObject[], elsewhere: Readonly<Record<number, number>>) {
  let text = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n";
  const offsets = new Map<number, number>(Object.entries(elsewhere).map(([number, at]) => [Number(number), at]));
  for (const [number, body] of objects) {
    offsets.set(number, text.length);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  return { text, offsets };
}

const sizeOf = (offsets: ReadonlyMap<number, number>): number => Math.max(...offsets.keys()) + 1;

function objectStream(objects: readonly PdfObject[]): string {
  let header = "";
  let bodies = "";
  for (const [number, body] of objects) {
    header += `${number} ${bodies.length} `;
    bodies += `${body} `;
  }
  const data = deflateSync(Buffer.from(header + bodies, "latin1"), { level: 9 }).toString("latin1");
  const dictionary = `<< /Type /ObjStm /N ${objects.length} /First ${header.length} /Filter /FlateDecode /Length ${data.length} >>`;
  // Padded, so that the document's length does not depend on the compressed size of its text.
  return `${dictionary}\nstream\n${data}\nendstream`.padEnd(4096);
}
