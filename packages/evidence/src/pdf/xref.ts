import { EvidenceError } from "../errors.ts";
import { type Budget, COST, newBudget, spend } from "./budget.ts";
import { type Cursor, cursorAt, isDigit, peek, readKeyword, readUnsigned, skipSpace } from "./cursor.ts";
import { readIndirectObject, readValue } from "./lexer.ts";
import { decodeStream } from "./stream.ts";
import { integerOf, nameOf, type PdfDictionary, type PdfValue, unambiguous } from "./values.ts";
import { isEntry, isListHead, malformed, ROW, strideAt, tableEntry, type XrefEntry } from "./xref-row.ts";

export type { XrefEntry } from "./xref-row.ts";

/** Consecutive object numbers, with the offset and length of their entries. Entries are read on demand. */
type Subsection = { readonly first: number; readonly count: number; readonly at: number; readonly stride: number };

/** One cross-reference table or stream. `offset` is its position, `prev` the /Prev of its dictionary as written. */
export type XrefSection = {
  readonly kind: "table" | "stream";
  readonly offset: number;
  /** First byte after the table's trailer dictionary or the stream's dictionary. */
  readonly end: number;
  readonly trailer: PdfDictionary;
  readonly prev: number | undefined;
  /** The offset of a hybrid file's cross-reference stream (/XRefStm; ISO 32000-2, section 7.5.8.4). */
  readonly hybridStream: number | undefined;
  readonly subsections: readonly Subsection[];
  /** True if the subsections are sorted by object number. They never overlap. */
  readonly isSorted: boolean;
  readonly entryAt: (subsection: Subsection, index: number) => XrefEntry;
};

const MAX_SUBSECTIONS = 100_000;
const MAX_OBJECT_NUMBER = 8_388_607;
const MAX_XREF_STREAM = 64 * 1024 * 1024;

/**
 * Reads the cross-reference section at `offset`, of either kind. Undefined when there is none.
 *
 * @throws EvidenceError `pdf`, `limit` or `unsupported` for an unreadable section
 */
export function readXrefSection(
  bytes: Uint8Array,
  offset: number,
  budget: Budget = newBudget(),
): XrefSection | undefined {
  if (offset < 0 || offset >= bytes.length) return undefined;
  const cursor = cursorAt(bytes, offset, bytes.length, budget);
  skipSpace(cursor);
  spend(budget, cursor.position - offset);
  if (readKeyword(cursor, "xref")) return readTable(cursor, offset);
  return isDigit(peek(cursor)) ? readStream(bytes, offset, budget) : undefined;
}

/** The entry of an object in this cross-reference section only; undefined when the section does not name the object. */
export function entryOf(section: XrefSection, number: number): XrefEntry | undefined {
  for (const subsection of section.isSorted ? candidateOf(section, number) : section.subsections) {
    const index = number - subsection.first;
    if (index >= 0 && index < subsection.count) return section.entryAt(subsection, index);
  }
  return undefined;
}

/** The only subsection that can contain the object number. Works because the subsections are sorted. */
function candidateOf({ subsections }: XrefSection, number: number): readonly Subsection[] {
  let low = 0;
  for (let high = subsections.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((subsections[middle]?.first ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return subsections.slice(Math.max(0, low - 1), low);
}

/**
 * True if the subsections are sorted by object number.
 *
 * @throws EvidenceError `pdf` when two of them name the same object: readers may take either entry
 */
function isSorted(subsections: readonly Subsection[], offset: number): boolean {
  if (firstOutOfOrder(subsections) === undefined) return true;
  const twice = firstOutOfOrder(subsections.toSorted((one, other) => one.first - other.first));
  if (twice !== undefined) throw malformed(`object ${twice} is named twice`, offset);
  return false;
}

/**
 * The first object number of a subsection that begins before the end of the previous subsection; undefined when there
 * is none.
 */
function firstOutOfOrder(subsections: readonly Subsection[]): number | undefined {
  let next = 0;
  for (const { first, count } of subsections) {
    if (first < next && count > 0) return first;
    next = Math.max(next, first + count);
  }
  return undefined;
}

/** Every entry of the section with its object number, in file order. */
export function* entriesOf(section: XrefSection): Generator<readonly [number, XrefEntry]> {
  for (const subsection of section.subsections) {
    for (let index = 0; index < subsection.count; index++) {
      yield [subsection.first + index, section.entryAt(subsection, index)];
    }
  }
}

function readTable(cursor: Cursor, offset: number): XrefSection {
  const { bytes } = cursor;
  const subsections: Subsection[] = [];
  let unread = 0;
  let shiftedTo0 = false;
  for (;;) {
    skipSpace(cursor);
    if (readKeyword(cursor, "trailer")) break;
    const first = readUnsigned(cursor);
    skipSpace(cursor);
    const count = readUnsigned(cursor);
    skipSpace(cursor);
    if (first === undefined || count === undefined) throw malformed("no subsection header", offset);
    if (first + count > MAX_OBJECT_NUMBER + 1) throw malformed("an object number out of range", offset);
    if (subsections.length >= MAX_SUBSECTIONS) throw new EvidenceError("limit", "too many subsections");
    spend(cursor.budget, COST.subsection);
    const at = cursor.position;
    if (count === 0) continue;
    const stride = count === 1 ? ROW : strideAt(cursor);
    if (stride === undefined) throw malformed("entries of odd length", offset);
    const end = at + (count - 1) * stride + ROW;
    if (end > cursor.limit || !isEntry(bytes, at) || !isEntry(bytes, end - ROW))
      throw malformed("broken entries", offset);
    // Some writers number their first table from 1, although its first entry is the head of the free list.
    const shifted = first === 1 && subsections.length === 0 && isListHead(bytes, at);
    shiftedTo0 ||= shifted;
    subsections.push({ first: shifted ? 0 : first, count, at, stride });
    cursor.position = end;
    unread += end - at;
  }
  const trailer = readValue(cursor);
  spend(cursor.budget, cursor.position - offset - unread);
  if (trailer.kind !== "dictionary") throw malformed("no trailer dictionary", offset);
  unambiguous(trailer, "the trailer");
  // A table with /Prev belongs to a later revision. There, readers would take a list head with the number 1 for a free
  // object 1. So such a table is refused.
  if (shiftedTo0 && trailer.entries.has("Prev")) throw malformed("a list head that is not object 0", offset);
  return {
    kind: "table",
    offset,
    end: cursor.position,
    trailer,
    prev: offsetIn(trailer, "Prev", offset),
    hybridStream: offsetIn(trailer, "XRefStm", offset),
    subsections,
    isSorted: isSorted(subsections, offset),
    entryAt: ({ at, stride }, index) => tableEntry(bytes, at + index * stride),
  };
}

/**
 * The offset at `key` of a trailer; undefined when there is none.
 * @throws EvidenceError `pdf` for anything but an offset
 */
function offsetIn(trailer: PdfDictionary, key: "Prev" | "XRefStm", section: number): number | undefined {
  const value = trailer.entries.get(key);
  if (value === undefined || value.kind === "null") return undefined;
  if (value.kind !== "number" || !value.integer || value.value < 0) throw malformed(`an odd /${key}`, section);
  return value.value;
}

function readStream(bytes: Uint8Array, offset: number, budget: Budget): XrefSection | undefined {
  const object = readIndirectObject(bytes, offset, budget);
  if (object?.value.kind !== "dictionary" || object.streamStart === undefined) return undefined;
  const trailer = object.value;
  if (nameOf(trailer, "Type") !== "XRef") return undefined;
  unambiguous(trailer, "the cross-reference stream");
  const widths = integers(trailer.entries.get("W"));
  const size = integerOf(trailer, "Size");
  if (widths.length < 3 || widths.some((width) => width < 0 || width > 8)) throw malformed("an odd /W", offset);
  if (size === undefined || size < 0 || size > MAX_OBJECT_NUMBER + 1) throw malformed("an odd /Size", offset);
  const [typeWidth = 0, secondWidth = 0, thirdWidth = 0] = widths;
  const rowLength = widths.reduce((sum, width) => sum + width, 0);
  const index = trailer.entries.has("Index") ? integers(trailer.entries.get("Index")) : [0, size];
  if (rowLength === 0 || index.length % 2 !== 0) throw malformed("an odd /Index", offset);
  const subsections: Subsection[] = [];
  let at = 0;
  for (let pair = 0; pair < index.length; pair += 2) {
    const [first = -1, count = -1] = index.slice(pair, pair + 2);
    if (first < 0 || count < 0 || first + count > MAX_OBJECT_NUMBER + 1) throw malformed("an odd /Index", offset);
    subsections.push({ first, count, at, stride: rowLength });
    at += count * rowLength;
  }
  const length = integerOf(trailer, "Length");
  if (length === undefined) throw malformed("no direct /Length", offset);
  const stream = { bytes, dictionary: trailer, start: object.streamStart, length };
  const rows = decodeStream(stream, Math.min(MAX_XREF_STREAM, at + 65_536), budget);
  if (rows.length < at) throw malformed("too few entries", offset);
  return {
    kind: "stream",
    offset,
    end: object.end,
    trailer,
    prev: offsetIn(trailer, "Prev", offset),
    hybridStream: undefined,
    subsections,
    isSorted: isSorted(subsections, offset),
    entryAt: ({ at, stride }, position) => {
      const row = at + position * stride;
      const type = typeWidth === 0 ? 1 : bigEndian(rows, row, typeWidth);
      const second = bigEndian(rows, row + typeWidth, secondWidth);
      const third = bigEndian(rows, row + typeWidth + secondWidth, thirdWidth);
      if (type === 1) return { type: "offset", offset: second, generation: third };
      return type === 2 ? { type: "compressed", stream: second, index: third } : { type: "free" };
    },
  };
}

/** The integers of an array; -1 stands for each item that is not an integer. Empty if the value is not an array. */
export function integers(value: PdfValue | undefined): number[] {
  if (value?.kind !== "array") return [];
  return value.items.map((item) => (item.kind === "number" && item.integer ? item.value : -1));
}

function bigEndian(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let index = 0; index < width; index++) value = value * 256 + (bytes[at + index] ?? 0);
  return value;
}
