import { EvidenceError } from "../../errors.ts";
import { COST, spend } from "../budget.ts";
import { type Cursor, cursorAt, isDigit, isSpace, readUnsigned, skipSpace } from "../cursor.ts";
import type { PdfDocument } from "../document.ts";
import { readValue } from "../lexer.ts";
import type { Revision } from "../revisions.ts";
import { sameValue } from "../same-value.ts";
import { isTextAt, searchFor, searchWholeFile } from "../search.ts";
import { integerOf } from "../values.ts";
import { entriesOf, entryOf, type XrefSection } from "../xref.ts";
import type { Level } from "./levels.ts";
import type { Stored, Table } from "./view.ts";

const nextObject = searchWholeFile("obj");
const nextTrailer = searchFor("trailer");
const MAX_TRAILER = 4096;

/**
 * An object or a trailer in the file that no cross-reference section names. `at` is its offset; `number` is null for a
 * trailer.
 */
export type Lost = { readonly at: number; readonly number: number | null };

/**
 * Finds objects and trailers that no cross-reference section names. A trailer with the same /Root and /Encrypt as the
 * document's own is left out.
 *
 * A reader that considers a section faulty searches the file, and uses the last object with each number. Readers differ
 * on what makes a section faulty.
 *
 * @throws EvidenceError when the search takes too much work
 */
export function lostIn(document: PdfDocument, revisions: readonly Revision[]): Lost[] {
  const { bytes, budget } = document;
  const sections = revisions.flatMap(({ main, hybrid }) => (hybrid === undefined ? [main] : [main, hybrid]));
  const words = new Set(sections.flatMap((section) => wordsOf(document, section)));
  const trailers = new Set(sections.map(({ trailer }) => trailer.start));
  const lost: Lost[] = [];
  spend(budget, Math.ceil((2 * bytes.length) / COST.searchedBytes));
  for (let at = nextObject(bytes, 0, bytes.length); at >= 0; at = nextObject(bytes, at + 3, bytes.length)) {
    const number = words.has(at) ? null : numberBefore(bytes, at);
    spend(budget, number === null ? COST.entryLook : COST.candidate);
    if (number !== null) lost.push({ at, number });
  }
  for (let at = nextTrailer(bytes, 0, bytes.length); at >= 0; at = nextTrailer(bytes, at + 7, bytes.length)) {
    const cursor = skipped(document, cursorAt(bytes, at + "trailer".length));
    if (!isTextAt(bytes, "<<", cursor.position) || trailers.has(cursor.position)) continue;
    if (!leadsAlike(document, cursor)) lost.push({ at, number: null });
  }
  return lost;
}

/**
 * True if a reader could use one of the lost objects or trailers in place of those in use. Bytes inside objects that
 * were read, such as attachments, do not count.
 *
 * @param table the offsets of the objects in use
 */
export function misleads(
  lost: readonly Lost[],
  table: Table,
  base: number,
  read: Iterable<Stored | undefined>,
): boolean {
  const found = lost.filter(({ at, number }) => {
    const entry = number === null ? undefined : table.get(number);
    return number === null || entry?.type === "compressed" || (entry?.type === "offset" && entry.offset + base < at);
  });
  if (found.length === 0) return false;
  const objects = [...read].flatMap((one) => (one?.start === undefined ? [] : [{ start: one.start, end: one.end }]));
  objects.sort((one, other) => one.start - other.start);
  let index = 0;
  return found
    .toSorted((one, other) => one.at - other.at)
    .some(({ at }) => {
      while ((objects[index]?.end ?? Number.POSITIVE_INFINITY) <= at) index++;
      return (objects[index]?.start ?? Number.POSITIVE_INFINITY) > at;
    });
}

function skipped({ budget }: PdfDocument, cursor: Cursor): Cursor {
  const start = cursor.position;
  skipSpace(cursor);
  spend(budget, cursor.position - start);
  return cursor;
}

/**
 * True if the trailer at the cursor has the same /Root and /Encrypt as the document's own trailer. Repaired documents
 * contain such trailers, which no cross-reference section names.
 */
function leadsAlike({ bytes, trailer, budget }: PdfDocument, { position }: Cursor): boolean {
  spend(budget, COST.candidate);
  try {
    const value = readValue(cursorAt(bytes.subarray(position, position + MAX_TRAILER), 0, MAX_TRAILER, budget));
    if (value.kind !== "dictionary" || value.repeated.length > 0) return false;
    return ["Root", "Encrypt"].every((key) => sameValue(value.entries.get(key), trailer.entries.get(key)));
  } catch (error) {
    if (error instanceof EvidenceError && error.code !== "limit") return false;
    throw error;
  }
}

/**
 * The offsets of the word `obj` in the header of each object that a cross-reference section names. For a
 * cross-reference stream, also the offset in the stream's own header.
 */
function wordsOf(document: PdfDocument, section: XrefSection): number[] {
  const { bytes, base, budget } = document;
  const words: number[] = [];
  const add = (offset: number, named: number | null) => {
    const cursor = skipped(document, cursorAt(bytes, offset));
    const number = readUnsigned(cursor);
    if (named !== null && named !== number) return;
    readUnsigned(skipped(document, cursor));
    words.push(skipped(document, cursor).position);
  };
  if (section.kind === "stream") add(section.offset, null);
  for (const [number, entry] of entriesOf(section)) {
    spend(budget, 1);
    if (entry.type === "offset") add(entry.offset + base, number);
  }
  return words;
}

/** The number of the object whose header ends with the word `obj` at `at`; null if there is no such header. */
function numberBefore(bytes: Uint8Array, at: number): number | null {
  const generation = spaceBefore(bytes, at);
  const end = spaceBefore(bytes, digitsBefore(bytes, generation));
  const start = digitsBefore(bytes, end);
  if (start === end) return null;
  return readUnsigned(cursorAt(bytes, start, end)) ?? Number.POSITIVE_INFINITY;
}

function digitsBefore(bytes: Uint8Array, at: number): number {
  let start = at;
  while (isDigit(bytes[start - 1] ?? -1)) start--;
  return start;
}

/** The start of the white space and comments that end at `at`. */
function spaceBefore(bytes: Uint8Array, at: number): number {
  for (let start = at; ; ) {
    const before = start;
    let ended = false;
    for (; isSpace(bytes[start - 1] ?? -1); start--) {
      ended ||= bytes[start - 1] === 0x0a || bytes[start - 1] === 0x0d;
    }
    const comment = ended ? commentIn(bytes, start) : -1;
    if (comment < 0) return start;
    start = comment;
    if (start === before) return start;
  }
}

/**
 * The start of the comment that contains the byte before `end`: the first `%` in that byte's line. -1 when there is no
 * comment.
 */
function commentIn(bytes: Uint8Array, end: number): number {
  let found = -1;
  for (let at = end - 1; (bytes[at] ?? 0x0a) !== 0x0a && bytes[at] !== 0x0d; at--) if (bytes[at] === 0x25) found = at;
  return found;
}

/**
 * True if all readers find the same objects in a later revision. A hybrid file has a cross-reference table and a
 * stream. For an object in both, readers may use either entry, and some follow the stream's /Prev.
 *
 * @param earlier offsets of the objects that were in use before this revision
 */
export function isReadAlike({ main, hybrid }: Revision, earlier: Table): boolean {
  if (hybrid === undefined) return true;
  if (hybrid.prev !== undefined && hybrid.prev !== main.prev) return false;
  for (const [number] of entriesOf(hybrid)) {
    if (earlier.has(number) && entryOf(main, number) !== undefined) return false;
  }
  return true;
}

/**
 * Classifies a new cross-reference stream or object stream. Readers that search a file for objects use such a stream
 * even if no cross-reference section leads to it.
 *
 * @param held how many objects the revision's cross-reference sections locate in the stream
 */
export function listingLevel(after: Stored | undefined, { main, hybrid }: Revision, held: number): Level {
  if (after?.data === undefined || after.value.kind !== "dictionary") return "none";
  const type = after.value.entries.get("Type");
  if (type?.kind === "reference") return "other";
  if (type?.kind !== "name") return "none";
  const { start } = after.value;
  if (type.value === "XRef") return start === main.trailer.start || start === hybrid?.trailer.start ? "none" : "other";
  return type.value === "ObjStm" && integerOf(after.value, "N") !== held ? "other" : "none";
}
