import { EvidenceError } from "../errors.ts";
import { type Budget, COST, newBudget, spend } from "./budget.ts";
import { cursorAt, readUnsigned, skipSpace } from "./cursor.ts";
import { type Decryption, LOCKED } from "./encryption/decryption.ts";
import { readIndirectObject } from "./lexer.ts";
import { indexObjectStream, type ObjectStream, valueIn } from "./object-stream.ts";
import { type Revision, readings, revisionAt } from "./revisions.ts";
import { sameValue } from "./same-value.ts";
import { indexOfText, lastIndexOfText } from "./search.ts";
import { decodeStream } from "./stream.ts";
import { integerOf, nameOf, type PdfDictionary, type PdfValue, unambiguous } from "./values.ts";
import { entryOf, type XrefEntry, type XrefSection } from "./xref.ts";

/** An object, and its offset in the file; the offset is undefined for an object in an object stream. */
export type LocatedValue = { readonly value: PdfValue; readonly start: number | undefined };

/**
 * A PDF as its cross-reference sections describe it. Objects are read on demand and cached; sections are newest first.
 * Nothing is repaired: an object that no section references does not exist.
 */
export type PdfDocument = {
  readonly bytes: Uint8Array;
  /** Added to every offset of the file, because some writers count from `%PDF-` instead of the first byte. */
  readonly base: number;
  /** Offset of the last `startxref` keyword. */
  readonly startxref: number;
  readonly revisions: Revision[];
  readonly trailer: PdfDictionary;
  readonly seen: Set<number>;
  /** Resolved references, keyed by object number. If the generation is not 0, keyed by object number and generation. */
  readonly objects: Map<number | string, LocatedValue | undefined>;
  /** Object streams by their offset, because one object number can mean different streams in different revisions. */
  readonly streams: Map<number, ObjectStream>;
  readonly budget: Budget;
  /** Derived decryption keys, by the entries of the encryption dictionary. Null when a password is needed. */
  readonly keys: Map<string, Uint8Array | null>;
  /** The decryption; undefined when the document is not encrypted. */
  decryption: Decryption | undefined;
};

const MAX_REVISIONS = 4096;
const MAX_OBJECT_STREAM = 64 * 1024 * 1024;
const HEADER_WINDOW = 1024;

/**
 * Opens a PDF by its last `startxref` (ISO 32000-2 section 7.5.5). Earlier cross-reference sections are read on demand.
 *
 * An encrypted PDF is not decrypted: see `openUnlocked`.
 *
 * @param budget the budget of another opening of the same file, if the two openings share it
 * @param keys the keys that the other opening derived
 * @throws EvidenceError `pdf` without a header or a startxref, or unless the startxref leads to exactly one section;
 * else as `readXrefSection`
 */
export function openDocument(
  bytes: Uint8Array,
  { budget, keys }: Pick<PdfDocument, "budget" | "keys"> = { budget: newBudget(), keys: new Map() },
): PdfDocument {
  const headerOffset = indexOfText(bytes, "%PDF-", 0, Math.min(bytes.length, HEADER_WINDOW));
  if (headerOffset < 0) throw new EvidenceError("pdf", "no PDF header");
  const startxref = lastIndexOfText(bytes, "startxref", bytes.length, 0);
  if (startxref < 0) throw new EvidenceError("pdf", "no startxref");
  const offset = startxrefValue(bytes, startxref);
  const bases = headerOffset > 0 ? [0, headerOffset] : [0];
  const [only, another] = readings(bytes, bases, offset, budget);
  if (only === undefined) throw new EvidenceError("pdf", "startxref does not lead to a cross-reference section");
  // A file that can be read in two ways is refused, because an attacker may want different readers to show different
  // documents.
  if (another !== undefined) throw new EvidenceError("pdf", "startxref leads to two cross-reference sections");
  const { base, revision: first } = only;
  return {
    bytes,
    base,
    startxref,
    revisions: [first],
    trailer: first.main.trailer,
    seen: new Set([first.main.offset]),
    objects: new Map(),
    streams: new Map(),
    budget,
    keys,
    decryption: encryptOf(first.main) === undefined ? undefined : LOCKED,
  };
}

function encryptOf({ trailer }: XrefSection): PdfValue | undefined {
  const value = trailer.entries.get("Encrypt");
  return value?.kind === "null" ? undefined : value;
}

/** The offset that follows the `startxref` keyword at `at`; undefined without a number. */
export function startxrefValue(bytes: Uint8Array, at: number): number | undefined {
  const cursor = cursorAt(bytes, at + "startxref".length);
  skipSpace(cursor);
  return readUnsigned(cursor);
}

/**
 * Reads all earlier sections.
 * @throws EvidenceError for a broken section, a cycle, too long a chain, or a different /Encrypt
 */
export function loadRevisions(document: PdfDocument): readonly Revision[] {
  while (loadPrevious(document));
  return document.revisions;
}

/** Resolves a value or a reference; undefined for a reference to a missing object. */
export function resolve(document: PdfDocument, value: PdfValue | undefined): PdfValue | undefined {
  return locate(document, value)?.value;
}

/** Like `resolve`, with the object's offset. A direct value and an object in an object stream have none. */
export function locate(document: PdfDocument, value: PdfValue | undefined): LocatedValue | undefined {
  if (value?.kind !== "reference") return value === undefined ? undefined : { value, start: undefined };
  const { number, generation } = value;
  // The cache key includes the generation, because a reference with another generation resolves to another object.
  const key = generation === 0 ? number : `${number} ${generation}`;
  if (document.objects.has(key)) return document.objects.get(key);
  spend(document.budget, COST.object);
  const found = read(document, lookUp(document, number), number, generation);
  // An indirect object whose value is another reference is not followed, because that would allow cycles.
  const located = found?.value.kind === "reference" ? undefined : found;
  document.objects.set(key, located);
  return located;
}

/**
 * The cost of looking up an object number in a cross-reference section. If its subsections are sorted, a binary search
 * visits only a few of them.
 */
function lookUpCost({ subsections, isSorted }: XrefSection): number {
  return isSorted ? 2 : subsections.length + 1;
}

/**
 * The dictionary that is the value of `key` in `from`, or that this value refers to. Undefined for any other value.
 *
 * @throws EvidenceError `pdf` when a key occurs twice in the returned dictionary
 */
export function dictionaryIn(document: PdfDocument, from: PdfDictionary, key: string): PdfDictionary | undefined {
  const value = resolve(document, from.entries.get(key));
  return value?.kind === "dictionary" ? unambiguous(value, `/${key}`) : undefined;
}

/**
 * The items of the array that is the value of `key` in `from`, or that this value refers to. Empty for any other value.
 */
export function itemsIn(document: PdfDocument, from: PdfDictionary, key: string): readonly PdfValue[] {
  const value = resolve(document, from.entries.get(key));
  return value?.kind === "array" ? value.items : [];
}

/** The newest cross-reference entry of an object over all revisions; undefined for free and unknown objects. */
export function lookUp(document: PdfDocument, number: number): XrefEntry | undefined {
  for (let index = 0; index < document.revisions.length || loadPrevious(document); index++) {
    const revision = document.revisions[index];
    if (revision === undefined) break;
    spend(
      document.budget,
      lookUpCost(revision.main) + (revision.hybrid === undefined ? 0 : lookUpCost(revision.hybrid)),
    );
    const entry = entryOf(revision.main, number);
    // A hybrid file can hide an object from old readers: the object is free in the table and in use in the stream (ISO
    // 32000-2, section 7.5.8.4).
    const hidden = entry === undefined || entry.type === "free" ? hiddenEntry(revision, number) : undefined;
    const found = hidden ?? entry;
    if (found !== undefined) return found.type === "free" ? undefined : found;
  }
  return undefined;
}

function hiddenEntry(revision: Revision, number: number): XrefEntry | undefined {
  return revision.hybrid === undefined ? undefined : entryOf(revision.hybrid, number);
}

function loadPrevious(document: PdfDocument): boolean {
  const prev = document.revisions.at(-1)?.main.prev;
  if (prev === undefined) return false;
  if (document.revisions.length >= MAX_REVISIONS) throw new EvidenceError("limit", "too many cross-reference sections");
  const revision = revisionAt(document.bytes, document.base, prev, document.budget);
  if (revision === undefined) throw new EvidenceError("pdf", "/Prev does not lead to a cross-reference section");
  if (document.seen.has(revision.main.offset))
    throw new EvidenceError("pdf", "the cross-reference sections form a cycle");
  const encrypt = encryptOf(revision.main);
  // Readers use the /Encrypt of the newest trailer only. A different /Encrypt in an older trailer would be ambiguous.
  if (encrypt !== undefined && !sameValue(encrypt, document.trailer.entries.get("Encrypt"))) {
    throw new EvidenceError("pdf", "two trailers name different /Encrypt dictionaries");
  }
  document.seen.add(revision.main.offset);
  document.revisions.push(revision);
  return true;
}

function read(
  document: PdfDocument,
  entry: XrefEntry | undefined,
  number: number,
  generation: number,
): LocatedValue | undefined {
  if (entry === undefined || entry.type === "free") return undefined;
  const { bytes, budget, decryption } = document;
  if (entry.type === "compressed") {
    // An object in an object stream has generation 0 (ISO 32000-2, section 7.5.7).
    if (generation === 0) return readCompressed(document, entry.stream, entry.index, number);
  } else {
    const object = readIndirectObject(bytes, entry.offset + document.base, budget, decryption);
    if (object?.number === number && object.generation === generation) {
      return { value: object.value, start: object.start };
    }
  }
  throw new EvidenceError("pdf", `object ${number} is not where the cross-reference section says`);
}

/**
 * The object at `index` of an object stream.
 * @throws EvidenceError `pdf` when it is missing
 */
export function readCompressed(
  document: PdfDocument,
  streamNumber: number,
  index: number,
  number: number,
): LocatedValue | undefined {
  const entry = lookUp(document, streamNumber);
  if (entry?.type !== "offset") throw new EvidenceError("pdf", "an object stream that is not in the file");
  const { offset } = entry;
  const stream = document.streams.get(offset) ?? openObjectStream(document, streamNumber, offset);
  return { value: valueIn(stream, { index, number }, document.budget), start: undefined };
}

/** Opens an object stream (ISO 32000-2, section 7.5.7). */
function openObjectStream(document: PdfDocument, streamNumber: number, offset: number): ObjectStream {
  const { bytes, budget } = document;
  const object = readIndirectObject(bytes, offset + document.base, budget);
  if (object?.number !== streamNumber || object.value.kind !== "dictionary" || object.streamStart === undefined) {
    throw new EvidenceError("pdf", "an object stream that is not where it should be");
  }
  const dictionary = unambiguous(object.value, `the object stream ${streamNumber}`);
  const length = resolve(document, dictionary.entries.get("Length"));
  const count = integerOf(dictionary, "N");
  const first = integerOf(dictionary, "First");
  if (
    nameOf(dictionary, "Type") !== "ObjStm" ||
    length?.kind !== "number" ||
    count === undefined ||
    first === undefined
  ) {
    throw new EvidenceError("pdf", "a broken object stream");
  }
  const { streamStart, generation } = object;
  const decrypt = (written: Uint8Array) => {
    spend(budget, written.length);
    return document.decryption?.stream(written, streamNumber, generation) ?? written;
  };
  const data = decodeStream(
    { bytes, dictionary, start: streamStart, length: length.value, decrypt },
    MAX_OBJECT_STREAM,
    budget,
  );
  const stream = indexObjectStream(data, { count, first }, budget);
  document.streams.set(offset, stream);
  return stream;
}
