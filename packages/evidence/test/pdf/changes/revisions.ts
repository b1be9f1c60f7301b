import { endOf, type NewObject } from "../../seal/signed-pdf.ts";

const padded = (value: number, width: number) => String(value).padStart(width, "0");

/** A row of a forger's cross-reference table: the object's number, its offset and whether it is in use. */
export type XrefRow = {
  readonly number: number;
  readonly offset: number;
  readonly generation?: number;
  readonly free?: boolean;
};

/** Appends a revision of arbitrary bytes, rows and trailer. */
export function appendRows(pdf: string, body: string, rows: readonly XrefRow[], trailer: string): string {
  const table = rows
    .map(
      ({ number, offset, generation, free }) =>
        `${number} 1\n${padded(offset, 10)} ${padded(generation ?? 0, 5)} ${free ? "f" : "n"} \n`,
    )
    .join("");
  const text = pdf + body;
  return `${text}xref\n${table}trailer\n<< ${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`;
}

/** Appends a revision that frees objects and defines others. */
export function freeing(pdf: string, freed: readonly number[], objects: readonly NewObject[] = []): string {
  const { startxref, size } = endOf(pdf);
  let body = "";
  const rows: XrefRow[] = freed.map((number) => ({ number, offset: 0, generation: 1, free: true }));
  for (const [number, text] of objects) {
    rows.push({ number, offset: pdf.length + body.length });
    body += `${number} 0 obj\n${text}\nendobj\n`;
  }
  const newSize = Math.max(size, ...objects.map(([number]) => number + 1));
  return appendRows(pdf, body, rows, `/Size ${newSize} /Root 1 0 R /Prev ${startxref}`);
}

/**
 * Appends a revision with a cross-reference stream, and with an object stream for the compressed objects.
 *
 * @param container the object stream's number; by default a new one
 */
export function appendStreams(
  pdf: string,
  objects: readonly NewObject[],
  compressed: readonly NewObject[],
  container?: number,
): string {
  const { startxref, size } = endOf(pdf);
  const top = Math.max(size, ...objects.map(([number]) => number + 1), ...compressed.map(([number]) => number + 1));
  const holder = container ?? top;
  const section = Math.max(top, holder + 1);
  const entries = new Map<number, readonly [number, number, number]>();
  let text = pdf;
  const put = (number: number, body: string) => {
    entries.set(number, [1, text.length, 0]);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  };
  for (const [number, body] of objects) put(number, body);
  if (compressed.length > 0) {
    let offset = 0;
    const head = compressed.map(([number, body]) => {
      const pair = `${number} ${offset}`;
      offset += body.length + 1;
      return pair;
    });
    const first = `${head.join(" ")} `;
    const data = first + compressed.map(([, body]) => `${body} `).join("");
    put(
      holder,
      `<< /Type /ObjStm /N ${compressed.length} /First ${first.length} /Length ${data.length} >>\nstream\n${data}\nendstream`,
    );
    compressed.forEach(([number], index) => {
      entries.set(number, [2, holder, index]);
    });
  }
  entries.set(section, [1, text.length, 0]);
  const rows = [...entries].sort(([one], [other]) => one - other);
  const index = rows.map(([number]) => `${number} 1`).join(" ");
  const data = rows.map(([, [type, second, third]]) => bigEndian(type, 1) + bigEndian(second, 4) + bigEndian(third, 2));
  const dictionary = `<< /Type /XRef /Size ${section + 1} /Root 1 0 R /Prev ${startxref} /W [1 4 2] /Index [${index}] /Length ${7 * rows.length} >>`;
  const at = text.length;
  return `${text}${section} 0 obj\n${dictionary}\nstream\n${data.join("")}\nendstream\nendobj\nstartxref\n${at}\n%%EOF\n`;
}

function bigEndian(value: number, width: number): string {
  let text = "";
  for (let shift = width - 1; shift >= 0; shift--) text += String.fromCharCode(Math.floor(value / 256 ** shift) % 256);
  return text;
}

/**
 * Appends a hybrid revision. Its table leaves the object out or frees it, but the stream at its /XRefStm defines the
 * object.
 */
export function hidden(pdf: string, object: NewObject, freed: boolean): string {
  const { startxref, size } = endOf(pdf);
  const [number, body] = object;
  const at = pdf.length;
  const defined = `${number} 0 obj\n${body}\nendobj\n`;
  const section = at + defined.length;
  const row = bigEndian(1, 1) + bigEndian(at, 4) + bigEndian(0, 2);
  const xref = `${size} 0 obj\n<< /Type /XRef /Size ${size + 1} /W [1 4 2] /Index [${number} 1] /Length 7 >>\nstream\n${row}\nendstream\nendobj\n`;
  const rows: XrefRow[] = [
    ...(freed ? [{ number, offset: 0, generation: 1, free: true }] : []),
    { number: size, offset: section },
  ];
  return appendRows(pdf, defined + xref, rows, `/Size ${size + 1} /Root 1 0 R /Prev ${startxref} /XRefStm ${section}`);
}
