import { hasWord, isDigit, type Ref, readDigits, skipSpace } from "../lexer.ts";
import { type Budget, LIMITS } from "../limits.ts";
import { PdfRefusal } from "../refusal.ts";

/** An object and its offset, counted in the way in which the document's cross-references count offsets. */
export type ObjectOffset = { readonly ref: Ref; readonly offset: number };

/** The entry of an object number: free, or where the object is (an offset, or an index in an object stream). */
export type XrefEntry =
  | { readonly type: "free" }
  | { readonly type: "offset"; readonly offset: number; readonly gen: number }
  | { readonly type: "compressed"; readonly stream: number; readonly index: number };

/**
 * The rows of the objects `first` to `first + count - 1`. Row i is at `at + i * stride` or, if the rows are irregular,
 * at `positions[i]`.
 */
type Subsection = {
  readonly first: number;
  readonly count: number;
  readonly at: number;
  readonly stride: number;
  positions: readonly number[] | null;
};

/** A classic cross-reference table (ISO 32000-1 7.5.4). Its entries are read on demand. */
export type XrefTable = {
  readonly bytes: Buffer;
  /** The subsections, sorted by `first`, without overlap. */
  readonly subsections: readonly Subsection[];
  /** One more than the highest object number listed. */
  readonly size: number;
  /** The offset of the trailer dictionary. */
  readonly trailerAt: number;
  /** True if the table claims to begin with object 1, although its first row is the row of object 0. */
  readonly countsFrom1: boolean;
};

const ENTRY = 18;

/**
 * Reads the subsection headers of the table. @param at the offset of its keyword `xref`
 * @throws PdfRefusal `needs_repair`, `too_complex`
 */
export function readXrefTable(bytes: Buffer, at: number, budget: Budget): XrefTable {
  const subsections: Subsection[] = [];
  let position = skipSpace(bytes, at + 4);
  let size = 0;
  let sorted = true;
  let countsFrom1 = false;
  while (isDigit(bytes, position)) {
    const first = readDigits(bytes, position);
    const count = readDigits(bytes, skipSpace(bytes, first.end));
    if (first.value < 0 || count.value < 0) throw damaged(position);
    if (first.value + count.value > LIMITS.objectNumber + 1 || --budget.subsections < 0) {
      throw new PdfRefusal("too_complex", "the cross-reference table lists too many objects");
    }
    position = skipSpace(bytes, count.end);
    if (count.value === 0) continue;
    // Some writers number their first table from 1 instead of 0. Readers recognize this error by the first row: the
    // head of the free list is always object 0.
    const isShifted = first.value === 1 && subsections.length === 0 && isListHead(bytes, position);
    countsFrom1 ||= isShifted;
    const number = isShifted ? 0 : first.value;
    const { subsection, end } = readSubsection(bytes, position, number, count.value);
    sorted &&= number >= size;
    size = Math.max(size, number + count.value);
    subsections.push(subsection);
    position = end;
  }
  if (!hasWord(bytes, position, "trailer")) throw damaged(position);
  const trailerAt = skipSpace(bytes, position + 7);
  if (!hasWord(bytes, trailerAt, "<<")) throw damaged(trailerAt);
  if (!sorted) sortSubsections(subsections);
  return { bytes, subsections, size, trailerAt, countsFrom1 };
}

function damaged(at: number): PdfRefusal {
  return new PdfRefusal("needs_repair", `the cross-reference table is not well-formed at ${at}`);
}

function sortSubsections(subsections: Subsection[]): void {
  subsections.sort((a, b) => a.first - b.first);
  let end = 0;
  for (const { first, count, at } of subsections) {
    if (first < end) throw new PdfRefusal("needs_repair", `the subsection at ${at} lists objects a second time`);
    end = first + count;
  }
}

function readSubsection(bytes: Buffer, at: number, first: number, count: number) {
  const next = skipSpace(bytes, at + ENTRY);
  const stride = count === 1 ? 20 : next - at;
  const last = at + (count - 1) * stride;
  // If all rows seem to have the same length, their positions are computed. The standard length is 20 bytes; some
  // producers write 19 or 21. Other tables are read row by row.
  if (stride >= 19 && stride <= 21 && isEntry(bytes, at) && isEntry(bytes, last)) {
    const end = skipSpace(bytes, last + ENTRY);
    return { subsection: { first, count, at, stride, positions: null }, end };
  }
  return walkSubsection(bytes, at, first, count);
}

function walkSubsection(bytes: Buffer, at: number, first: number, count: number) {
  const { positions, end } = walk(bytes, at, count);
  return { subsection: { first, count, at, stride: 0, positions }, end };
}

function walk(bytes: Buffer, at: number, count: number) {
  const positions: number[] = [];
  let position = at;
  for (let i = 0; i < count; i++) {
    if (!isEntry(bytes, position)) throw damaged(position);
    positions.push(position);
    position = skipSpace(bytes, position + ENTRY);
  }
  return { positions, end: position };
}

function isEntry(bytes: Buffer, at: number): boolean {
  const kind = bytes[at + 17];
  const isSpaced = bytes[at + 10] === 0x20 && bytes[at + 16] === 0x20;
  return (
    readDigits(bytes, at).end === at + 10 && isDigit(bytes, at + 15) && isSpaced && (kind === 0x6e || kind === 0x66)
  );
}

const isListHead = (bytes: Buffer, at: number): boolean =>
  bytes[at + 17] === 0x66 && readDigits(bytes, at + 11).value === 65_535;

/** The entry of an object; undefined when the table does not list it. @throws PdfRefusal `needs_repair` */
export function tableEntry(table: XrefTable, num: number): XrefEntry | undefined {
  let low = 0;
  let high = table.subsections.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const subsection = table.subsections[middle];
    if (!subsection) return undefined;
    if (num < subsection.first) high = middle - 1;
    else if (num >= subsection.first + subsection.count) low = middle + 1;
    else return readEntry(table.bytes, positionOf(table.bytes, subsection, num - subsection.first));
  }
  return undefined;
}

function positionOf(bytes: Buffer, subsection: Subsection, index: number): number {
  const { at, stride, count } = subsection;
  // Rows of 19 and of 21 bytes in one table can add up to the expected length. Then some row is not at its computed
  // position, and all rows are located one by one.
  if (!subsection.positions && !isEntry(bytes, at + index * stride)) {
    subsection.positions = walk(bytes, at, count).positions;
  }
  return subsection.positions?.[index] ?? at + index * stride;
}

function readEntry(bytes: Buffer, at: number): XrefEntry {
  if (bytes[at + 17] === 0x66) return { type: "free" };
  const gen = readDigits(bytes, at + 11);
  if (gen.end !== at + 16) throw damaged(at);
  return { type: "offset", offset: readDigits(bytes, at).value, gen: gen.value };
}

/** Builds a table that lists these objects, like one that was read from a document. */
export function xrefRows(objects: readonly ObjectOffset[]): XrefTable {
  const subsections: Subsection[] = [];
  let rows = "";
  for (const group of consecutive(objects)) {
    const first = group[0]?.ref.num ?? 0;
    subsections.push({ first, count: group.length, at: rows.length, stride: 20, positions: null });
    rows += group.map(row).join("");
  }
  const size = (objects.at(-1)?.ref.num ?? 0) + 1;
  return { bytes: Buffer.from(rows, "latin1"), subsections, size, trailerAt: 0, countsFrom1: false };
}

/**
 * The text of one subsection of a cross-reference table: a header, and a line for each object.
 * @param group objects whose numbers follow one another
 */
export function subsectionText(group: readonly ObjectOffset[]): string {
  return `${group[0]?.ref.num} ${group.length}\n${group.map(row).join("")}`;
}

function row({ ref, offset }: ObjectOffset): string {
  return `${String(offset).padStart(10, "0")} ${String(ref.gen).padStart(5, "0")} n \n`;
}

/** Splits objects into runs of consecutive object numbers. @param objects sorted by object number */
export function consecutive(objects: readonly ObjectOffset[]): ObjectOffset[][] {
  const groups: ObjectOffset[][] = [];
  let next = -1;
  for (const object of objects) {
    if (object.ref.num === next) groups.at(-1)?.push(object);
    else groups.push([object]);
    next = object.ref.num + 1;
  }
  return groups;
}
