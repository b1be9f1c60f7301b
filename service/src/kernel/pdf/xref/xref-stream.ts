import { type Budget, LIMITS } from "../limits.ts";
import { PdfRefusal } from "../refusal.ts";
import { streamData } from "../stream-data.ts";
import { asInteger, asName, type Dict, elements, entry, isArray } from "../values.ts";
import type { XrefEntry } from "./xref-table.ts";

/** The objects `first` to `first + count - 1`, described by consecutive rows from `row` on. */
type Range = { readonly first: number; readonly count: number; readonly row: number };

/**
 * The most bytes of a field that are accepted. The standard sets no limit, and some producers write every field as a
 * 64-bit integer.
 */
const MAX_WIDTH = 8;

/** A cross-reference stream (ISO 32000-1 7.5.8). Its data is inflated on first use. */
export type XrefStream = {
  readonly dict: Dict;
  readonly widths: readonly [number, number, number];
  /** The subsections, sorted by `first`, without overlap. */
  readonly ranges: readonly Range[];
  /** One more than the highest object number listed. */
  readonly size: number;
  rows: Buffer | null;
};

/**
 * Reads the description of a cross-reference stream, but not its data. @throws PdfRefusal `needs_repair`, `too_complex`
 */
export function readXrefStream(dict: Dict, budget: Budget): XrefStream {
  const widths = integers(dict, "W", 3);
  const [type = 0, second = 0, third = 0] = widths ?? [];
  if (asName(entry(dict, "Type")) !== "XRef" || widths?.length !== 3) throw damaged(dict);
  if (second < 1 || Math.max(type, second, third) > MAX_WIDTH) throw damaged(dict);
  const size = asInteger(entry(dict, "Size"));
  const index = entry(dict, "Index") ? integers(dict, "Index", 2 * budget.subsections) : [0, size ?? 0];
  if (size === undefined || index === undefined || index.length % 2 !== 0) throw damaged(dict);
  const ranges: Range[] = [];
  let row = 0;
  for (let i = 0; i < index.length; i += 2) {
    const [first = 0, count = 0] = [index[i], index[i + 1]];
    if (first + count > LIMITS.objectNumber + 1 || --budget.subsections < 0) {
      throw new PdfRefusal("too_complex", "the cross-reference stream lists too many objects");
    }
    if (count > 0) ranges.push({ first, count, row });
    row += count;
  }
  return { dict, widths: [type, second, third], ranges: inOrder(ranges, dict), size: highest(ranges), rows: null };
}

function damaged(dict: Dict): PdfRefusal {
  return new PdfRefusal("needs_repair", `the cross-reference stream at ${dict.start} is not well-formed`);
}

function integers(dict: Dict, key: string, max: number): number[] | undefined {
  const array = entry(dict, key);
  if (!array || !isArray(array)) return undefined;
  const numbers: number[] = [];
  for (const element of elements(array)) {
    const number = asInteger(element);
    if (number === undefined) return undefined;
    if (numbers.length === max) throw new PdfRefusal("too_complex", `/${key} has more than ${max} numbers`);
    numbers.push(number);
  }
  return numbers;
}

function inOrder(ranges: Range[], dict: Dict): Range[] {
  ranges.sort((a, b) => a.first - b.first);
  let end = 0;
  for (const { first, count } of ranges) {
    if (first < end) throw damaged(dict);
    end = first + count;
  }
  return ranges;
}

function highest(ranges: readonly Range[]): number {
  const last = ranges.at(-1);
  return last ? last.first + last.count : 0;
}

/** The entry of an object; undefined when the stream does not list it. @throws PdfRefusal */
export function streamEntry(stream: XrefStream, num: number, budget: Budget): XrefEntry | undefined {
  const row = rowOf(stream.ranges, num);
  if (row === undefined) return undefined;
  // The dictionary's values are used without resolving references. No cross-reference is available yet, so a reference
  // in this dictionary can't be followed.
  stream.rows ??= streamData(stream.dict, (span) => span, budget);
  const [typeWidth, secondWidth, thirdWidth] = stream.widths;
  const width = typeWidth + secondWidth + thirdWidth;
  const at = row * width;
  if (at + width > stream.rows.length) throw damaged(stream.dict);
  const type = typeWidth === 0 ? 1 : bigEndian(stream.rows, at, typeWidth);
  const second = bigEndian(stream.rows, at + typeWidth, secondWidth);
  const third = bigEndian(stream.rows, at + typeWidth + secondWidth, thirdWidth);
  if (type === 0) return { type: "free" };
  if (type === 1) return { type: "offset", offset: second, gen: third };
  if (type === 2) return { type: "compressed", stream: second, index: third };
  // ISO 32000-1 7.5.8.3: an entry of unknown type refers to the null object.
  return { type: "free" };
}

/**
 * Reads an unsigned number, the most significant byte first. The result is exact up to 2^53; a larger offset is beyond
 * the end of any file.
 */
function bigEndian(bytes: Buffer, at: number, width: number): number {
  let value = 0;
  for (let i = 0; i < width; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

function rowOf(ranges: readonly Range[], num: number): number | undefined {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (!range) return undefined;
    if (num < range.first) high = middle - 1;
    else if (num >= range.first + range.count) low = middle + 1;
    else return range.row + num - range.first;
  }
  return undefined;
}
