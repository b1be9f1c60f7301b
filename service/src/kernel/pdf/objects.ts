import type { PdfFile } from "./file.ts";
import { hasWord, type Ref, readObjectHeader, type Span, skipValue } from "./lexer.ts";
import { LIMITS, spendLexed } from "./limits.ts";
import { compressedObject, type ObjectStream, readObjectStream } from "./object-stream.ts";
import { PdfRefusal } from "./refusal.ts";
import { streamData } from "./stream-data.ts";
import { asRef, type Dict, isDict, isNull, readDict } from "./values.ts";
import { streamEntry } from "./xref/xref-stream.ts";
import { tableEntry, type XrefEntry } from "./xref/xref-table.ts";

/** A dictionary, and the reference that led to it; `ref` is null for a direct dictionary. */
export type FoundDict = { readonly ref: Ref | null; readonly dict: Dict };

/** The position of an object's value. */
type Place = { readonly bytes: Buffer; readonly start: number };

/** The position of the newest version of an object; undefined when it is free, not listed, or of another generation. */
function locate(file: PdfFile, ref: Ref): Place | undefined {
  const found = findEntry(file, ref.num);
  if (found === undefined || found.type === "free") return undefined;
  if (found.type === "compressed") {
    return ref.gen === 0 ? compressedObject(objectStream(file, found.stream), found.index, ref.num) : undefined;
  }
  return found.gen === ref.gen && ref.gen <= 65_535 ? placeAt(file, found.offset, ref) : undefined;
}

function spanAt(file: PdfFile, { bytes, start }: Place): Span {
  // Some files have an object with an empty body, which means null. skipValue would refuse the keyword `endobj`.
  const end = hasWord(bytes, start, "endobj") ? start : skipValue(bytes, start);
  spendLexed(file.budget, end - start);
  return { bytes, start, end };
}

/**
 * The cross-reference entry of an object, from the newest section that lists it. In a hybrid file, an object that the
 * table calls free may still be listed in the section's stream.
 */
export function findEntry(file: PdfFile, num: number): XrefEntry | undefined {
  for (const { table, stream } of file.sections) {
    spendLexed(file.budget, 1 + comparisons(table?.subsections) + comparisons(stream?.ranges));
    const listed = table ? tableEntry(table, num) : undefined;
    if (listed && listed.type !== "free") return listed;
    const streamed = stream ? streamEntry(stream, num, file.budget) : undefined;
    if (streamed ?? listed) return streamed ?? listed;
  }
  return undefined;
}

/** The most comparisons that a binary search in this list makes. */
const comparisons = (sorted: readonly unknown[] = []): number => 32 - Math.clz32(sorted.length);

function placeAt(file: PdfFile, offset: number, ref: Ref): Place {
  const at = file.base + offset;
  const header = readObjectHeader(file.bytes, at);
  if (header.end < 0 || header.num !== ref.num || header.gen !== ref.gen) {
    throw new PdfRefusal("needs_repair", `object ${ref.num} ${ref.gen} is not at ${at}`);
  }
  spendLexed(file.budget, header.end - at);
  return { bytes: file.bytes, start: header.end };
}

function objectStream(file: PdfFile, num: number): ObjectStream {
  const cached = file.objectStreams.get(num);
  if (cached) return cached;
  const found = findEntry(file, num);
  if (found?.type !== "offset") throw new PdfRefusal("needs_repair", `the object stream ${num} is missing`);
  const place = placeAt(file, found.offset, { num, gen: found.gen });
  if (!isDict(place)) throw new PdfRefusal("needs_repair", `object ${num} is not an object stream`);
  const dict = dictAt(file, place);
  const cipher = file.encryption?.streams;
  const decrypt = cipher ? (raw: Buffer) => cipher.decrypt(raw, { num, gen: found.gen }) : undefined;
  const direct = (value: Span | undefined) => (value && asRef(value) ? plainObject(file, value) : value);
  const data = streamData(dict, direct, file.budget, decrypt);
  const stream = readObjectStream(dict, data, file.budget);
  file.objectStreams.set(num, stream);
  return stream;
}

/**
 * Resolves a reference in the dictionary of an object stream. Undefined if the reference leads to an object in an
 * object stream, because reading that stream could recurse endlessly.
 */
function plainObject(file: PdfFile, value: Span): Span | undefined {
  const ref = asRef(value);
  const found = ref && findEntry(file, ref.num);
  return ref && found?.type === "offset" ? spanAt(file, placeAt(file, found.offset, ref)) : undefined;
}

/** Follows references to a value; undefined when it is absent or null. @throws PdfRefusal */
export function resolve(file: PdfFile, span: Span | undefined): Span | undefined {
  let value = span;
  for (let hops = 0; value; hops++) {
    const ref = asRef(value);
    if (!ref) return isNull(value) || value.start === value.end ? undefined : value;
    if (hops === LIMITS.indirections)
      throw new PdfRefusal("too_complex", `object ${ref.num} is a reference to references`);
    const place = locate(file, ref);
    value = place && spanAt(file, place);
  }
  return undefined;
}

/**
 * The dictionary that a value is or refers to, and the last reference on the way to it. Undefined when the value is
 * absent or null.
 * @throws PdfRefusal `needs_repair` when the value is not a dictionary. Also as `resolve`
 */
export function resolveDict(file: PdfFile, span: Span | undefined, what: string): FoundDict | undefined {
  let value = span;
  let ref: Ref | null = null;
  for (let hops = 0; value; hops++) {
    const next = asRef(value);
    if (!next) break;
    if (hops === LIMITS.indirections)
      throw new PdfRefusal("too_complex", `object ${next.num} is a reference to references`);
    ref = next;
    const place = locate(file, next);
    // Fast path: reading a dictionary's entries also finds its end, so a separate pass that finds the end is not
    // needed.
    if (place && isDict(place)) return { ref, dict: dictAt(file, place) };
    value = place && spanAt(file, place);
  }
  if (!value || isNull(value) || value.start === value.end) return undefined;
  if (!isDict(value)) throw new PdfRefusal("needs_repair", `${what} is not a dictionary: ${placeOf(value, ref)}`);
  return { ref, dict: readDict(value.bytes, value.start) };
}

function placeOf(value: Span, ref: Ref | null): string {
  return ref ? `object ${ref.num} ${ref.gen}` : `at ${value.start}`;
}

function dictAt(file: PdfFile, { bytes, start }: Place): Dict {
  const dict = readDict(bytes, start);
  spendLexed(file.budget, dict.end - start);
  return dict;
}
