import { EvidenceError } from "../errors.ts";
import { COST, spend } from "./budget.ts";
import { cursorAt, isDigit, isSpace, readKeyword, readUnsigned, skipSpace } from "./cursor.ts";
import { loadRevisions, type PdfDocument, resolve } from "./document.ts";
import { readValue } from "./lexer.ts";
import { searchFor, searchWholeFile } from "./search.ts";
import { skimObject } from "./skim.ts";
import { entriesOf } from "./xref.ts";

const nextObject = searchWholeFile("obj");
const nextEnd = searchFor("endstream");

/**
 * Checks whether an object of a sealed document could extend into the bytes that the seal appended.
 *
 * Somebody without the key can change a few digits of the seal's value (docs/evidence-format.md, section 3.2). If an
 * image's data extended into that value, the image would then change too.
 *
 * @param end where the document ends
 * @returns a sentence about the problem; null when no object could extend past `end`
 */
export function reachOver(document: PdfDocument, end: number): string | null {
  try {
    return isNamed(document, end) || isFound(document, end)
      ? "An object of the document has no end before the seal begins"
      : null;
  } catch (error) {
    if (error instanceof EvidenceError)
      return `The ends of the document's objects cannot be determined: ${error.message}`;
    throw error;
  }
}

/**
 * True if an object in the document's own cross-reference sections extends beyond `end`. Examines only objects with
 * comments or white space before the header; `isFound` examines the rest.
 */
function isNamed(document: PdfDocument, end: number): boolean {
  const { base, budget, bytes } = document;
  for (const { main, hybrid } of loadRevisions(document).slice(1)) {
    for (const section of hybrid === undefined ? [main] : [main, hybrid]) {
      for (const [, entry] of entriesOf(section)) {
        spend(budget, COST.entryLook);
        const at = entry.type === "offset" ? entry.offset + base : end;
        if (at >= end || isDigit(bytes[at] ?? -1)) continue;
        const value = headedValue(bytes, at, end);
        if (value === null) continue;
        if (!endsBefore(document, value, end)) return true;
      }
    }
  }
  return false;
}

/**
 * The offset after the header (`number generation obj`) of the object at `at`. Comments or white space may precede the
 * header. Null if there is no header.
 */
function headedValue(bytes: Uint8Array, at: number, end: number): number | null {
  const cursor = cursorAt(bytes, at, end);
  skipSpace(cursor);
  readUnsigned(cursor);
  skipSpace(cursor);
  const generation = readUnsigned(cursor);
  skipSpace(cursor);
  return generation !== undefined && readKeyword(cursor, "obj") ? cursor.position : null;
}

/**
 * True if anything that looks like an object extends beyond `end`, even if no section names it. Readers that repair
 * files use everything that looks like an object.
 */
function isFound(document: PdfDocument, end: number): boolean {
  const { bytes, budget } = document;
  spend(budget, Math.ceil(end / COST.searchedBytes));
  for (let at = nextObject(bytes, 0, end); at >= 0; at = nextObject(bytes, at + 3, end)) {
    if (!followsNumbers(bytes, at)) continue;
    spend(budget, COST.entryLook);
    if (!endsBefore(document, at + 3, end)) return true;
  }
  return false;
}

/** True if two numbers precede `at`. The second number need not be separated from the word at `at`. */
function followsNumbers(bytes: Uint8Array, at: number): boolean {
  let index = at;
  return [isSpace, isDigit, isSpace, isDigit].every((isOne, step) => {
    const from = index;
    while (from - index < 32 && isOne(bytes[index - 1] ?? -1)) index--;
    return step === 0 || index < from;
  });
}

/**
 * True if, for every kind of reader, the object whose value begins at `from` ends before `end`, including its stream
 * data.
 */
function endsBefore(document: PdfDocument, from: number, end: number): boolean {
  const { bytes, budget } = document;
  const skimmed = skimObject(bytes, from, end);
  spend(budget, (skimmed?.position ?? end) - from);
  if (skimmed === null) return false;
  if (skimmed.lengths === null) return true;
  const start = skimmed.position;
  const data = Math.max(start, ...skimmed.lengths.map((at) => start + lengthAt(document, at, end)));
  if (data > end) return false;
  // When /Length is wrong, readers search for the word `endstream`, so that word must occur before `end`.
  const word = nextEnd(bytes, data, end);
  spend(budget, Math.ceil(((word < 0 ? end : word) - data) / COST.searchedBytes));
  return word >= 0;
}

function lengthAt(document: PdfDocument, at: number, end: number): number {
  try {
    const value = resolve(document, readValue(cursorAt(document.bytes, at, end, document.budget)));
    return value?.kind === "number" ? value.value : 0;
  } catch (error) {
    if (error instanceof EvidenceError && error.code !== "limit") return 0;
    throw error;
  }
}
