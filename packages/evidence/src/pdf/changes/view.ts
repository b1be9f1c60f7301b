import { equalBytes } from "../../bytes.ts";
import { EvidenceError } from "../../errors.ts";
import { COST, spend } from "../budget.ts";
import { cursorAt, readKeyword, skipSpace } from "../cursor.ts";
import { type PdfDocument, readCompressed } from "../document.ts";
import { readIndirectObject } from "../lexer.ts";
import type { Revision } from "../revisions.ts";
import { sameValue } from "../same-value.ts";
import { decodeStream } from "../stream.ts";
import type { PdfDictionary, PdfValue } from "../values.ts";
import { entriesOf, entryOf, type XrefEntry } from "../xref.ts";

/** An object as of one revision. */
export type Stored = {
  readonly value: PdfValue;
  /** The data of a stream as written, with its filters. */
  readonly data: Uint8Array | undefined;
  /**
   * Removes encryption and filters from the data.
   * @throws EvidenceError as `decodeStream`
   */
  readonly decode: ((limit: number) => Uint8Array) | undefined;
  readonly generation: number;
  /** The object's offset in the file; undefined inside an object stream, and for a direct value. */
  readonly start: number | undefined;
  /** The object's end in the file, or the end of the object stream that contains it. */
  readonly end: number;
  /** True if the data has the length in /Length, so that all readers see the same data. */
  readonly closed: boolean;
};

/** The objects as of one revision. */
export type View = {
  readonly trailer: PdfDictionary;
  readonly inUse: (number: number) => boolean;
  /** The location of an object; undefined when it is not in use. */
  readonly entry: (number: number) => XrefEntry | undefined;
  /**
   * Reads an object; undefined when it is not in use.
   * @throws EvidenceError when the object is unreadable, or not at the location that `entry` returns
   */
  readonly get: (number: number) => Stored | undefined;
  readonly spend: (work: number) => void;
};

/** Objects that were read already; undefined for missing ones. */
export type ReadObjects = {
  readonly has: (number: number) => boolean;
  readonly get: (number: number) => Stored | undefined;
  readonly set: (number: number, stored: Stored | undefined) => unknown;
};

/** The locations of the objects in use, by object number. */
export type Table = Map<number, XrefEntry>;

/**
 * The cross-reference entries of a revision, one for each object number. In a hybrid file, the stream's entry for a
 * number is used only if the table lists the number as free or doesn't list it.
 */
export function entriesOfRevision(document: PdfDocument, { main, hybrid }: Revision): Table {
  const entries: Table = new Map();
  for (const section of hybrid === undefined ? [main] : [main, hybrid]) {
    for (const [number, entry] of entriesOf(section)) {
      spend(document.budget, 1);
      if (entries.has(number)) continue;
      const own = section === main ? entry : entryOf(main, number);
      const hidden = own === undefined || own.type === "free" ? hybrid && entryOf(hybrid, number) : undefined;
      entries.set(number, hidden ?? own ?? entry);
    }
  }
  return entries;
}

/**
 * A view of the file's objects as of one revision.
 *
 * @param document the file with the cross-reference sections of that revision and of earlier ones
 * @param entry the location of an object; undefined when it is not in use
 * @param cache cache of the objects that are read
 */
export function createView(
  document: PdfDocument,
  entry: (number: number) => XrefEntry | undefined,
  cache: ReadObjects,
): View {
  const view: View = {
    trailer: document.trailer,
    inUse: (number) => entry(number) !== undefined,
    entry,
    get: (number) => {
      if (cache.has(number)) return cache.get(number);
      const found = entry(number);
      // A stream's /Length may refer to the stream itself. Without this placeholder, reading such a stream would never
      // end.
      cache.set(number, undefined);
      const stored = found === undefined ? undefined : readStored(document, view, found, number);
      spend(document.budget, COST.object);
      cache.set(number, stored);
      return stored;
    },
    spend: (work) => spend(document.budget, work),
  };
  return view;
}

/**
 * Resolves a value or a reference. Undefined for a reference with a wrong generation, and for a reference to an object
 * that is itself a reference.
 */
export function storedOf(view: View, value: PdfValue | undefined): Stored | undefined {
  if (value === undefined || value.kind === "null") return undefined;
  if (value.kind !== "reference") {
    return { value, data: undefined, decode: undefined, generation: 0, start: undefined, end: value.end, closed: true };
  }
  const stored = view.get(value.number);
  if (stored === undefined || stored.generation !== value.generation) return undefined;
  return stored.value.kind === "reference" || stored.value.kind === "null" ? undefined : stored;
}

/** The dictionary that a value is or refers to; undefined for a stream, and for anything that is not a dictionary. */
export function plainDictionary(view: View, value: PdfValue | undefined): PdfDictionary | undefined {
  return dictionaryOf(storedOf(view, value));
}

/** The dictionary of an object; undefined for a stream, and for anything that is not a dictionary. */
export function dictionaryOf(stored: Stored | undefined): PdfDictionary | undefined {
  return stored?.value.kind === "dictionary" && stored.data === undefined ? stored.value : undefined;
}

/** The items of the array that a value is or refers to; empty for anything else. */
export function itemsOf(view: View, value: PdfValue | undefined): readonly PdfValue[] {
  const found = storedOf(view, value)?.value;
  return found?.kind === "array" ? found.items : [];
}

/** True if two versions of an object are equal, including stream data. */
export function sameStored(view: View, one: Stored, other: Stored): boolean {
  if (!one.closed || !other.closed || one.generation !== other.generation) return false;
  if (!sameValue(one.value, other.value)) return false;
  if (one.data === undefined || other.data === undefined) return one.data === other.data;
  view.spend(one.data.length);
  return equalBytes(one.data, other.data);
}

function readStored(document: PdfDocument, view: View, entry: XrefEntry, number: number): Stored | undefined {
  if (entry.type === "free") return undefined;
  if (entry.type === "compressed") {
    const { value } = readCompressed(document, entry.stream, entry.index, number) ?? {};
    if (value === undefined) return undefined;
    const end = view.get(entry.stream)?.end ?? Number.POSITIVE_INFINITY;
    return { value, data: undefined, decode: undefined, generation: 0, start: undefined, end, closed: true };
  }
  const { bytes, base, budget, decryption } = document;
  const object = readIndirectObject(bytes, entry.offset + base, budget, decryption);
  if (object?.number !== number || object.generation !== entry.generation) {
    throw new EvidenceError("pdf", `object ${number} is not where the cross-reference section says`);
  }
  const { value, generation, start, streamStart } = object;
  if (value.kind !== "dictionary" || streamStart === undefined) {
    return { value, data: undefined, decode: undefined, generation, start, end: object.end, closed: true };
  }
  const length = storedOf(view, value.entries.get("Length"))?.value;
  const size = length?.kind === "number" && length.integer && length.value >= 0 ? length.value : Number.NaN;
  const end = streamStart + size;
  if (!(end <= bytes.length)) throw new EvidenceError("pdf", `object ${number} has an odd /Length`);
  const decrypt = (data: Uint8Array) => decryption?.stream(data, number, generation) ?? data;
  const stream = { bytes, dictionary: value, start: streamStart, length: size, decrypt };
  const decode = (limit: number) => decodeStream(stream, limit, budget);
  const data = bytes.subarray(streamStart, end);
  return { value, data, decode, generation, start, end, closed: endsAt(bytes, end) };
}

function endsAt(bytes: Uint8Array, end: number): boolean {
  const cursor = cursorAt(bytes, end);
  skipSpace(cursor);
  return cursor.position - end <= 2 && readKeyword(cursor, "endstream");
}
