import { EvidenceError } from "../errors.ts";
import type { SignedRange } from "./byte-range.ts";
import { cursorAt, readKeyword, readUnsigned, skipSpace } from "./cursor.ts";
import { locate, type PdfDocument } from "./document.ts";
import { isTextAt } from "./search.ts";
import type { SignatureInPdf } from "./signatures.ts";
import { integerOf, nameOf, type PdfDictionary, type PdfValue } from "./values.ts";
import { entriesOf, integers, type XrefSection } from "./xref.ts";

const SIGNATURE_KEYS =
  /^Type,Filter,SubFilter,M,(Name,)?(Reason,)?(Reference,)?(SSSLogCheckpoint,)?SSSOriginalLength,Contents,ByteRange$/;
const TABLE_KEYS = /^Size,Root,(Info,)?(Encrypt,)?ID,Prev$/;
/** The keys of a trailer that states no /Prev. Such a trailer's table must list every object of the document. */
const RESTATED_KEYS = /^Size,Root,(Info,)?ID$/;
const STREAM_KEYS = /^Type,Size,Root,(Info,)?(Encrypt,)?ID,Prev,W,Index,Length$/;
const WIDTHS = "1,4,2";
/**
 * A limit for the objects of a seal. The sealer writes at most the signature, the field, the page, the form, the
 * catalog, and the cross-reference section if it is a stream.
 */
const MAX_OBJECTS = 8;
const MAX_RESTATED = 100_008;

type Entry = { readonly number: number; readonly generation: number; readonly start: number };

/**
 * Compares the bytes after the original with the bytes that the sealer would write there.
 *
 * The sealer writes the objects without gaps, the seal's own first. Then follow the cross-reference section that names
 * exactly these objects, `startxref`, the section's offset and `%%EOF` (docs/evidence-format.md, section 2.1).
 *
 * @param seal the signature that covers the whole file
 * @param originalLength where the original ends, as `originalBoundary` found it
 * @returns a sentence about the first difference; null if there is none
 */
export function tailProblem(
  document: PdfDocument,
  seal: SignatureInPdf,
  range: SignedRange,
  originalLength: number,
): string | null {
  const { bytes, base } = document;
  const section = document.revisions[0]?.main;
  const all = section === undefined ? [] : placesOf(section, base);
  const entries = all.filter(({ start }) => start >= originalLength);
  const [first, second, ...others] = entries;
  const isStream = section?.kind === "stream";
  if (section === undefined || first === undefined || second === undefined || entries.length > MAX_OBJECTS) {
    return "The newest cross-reference section does not name a seal and its field";
  }
  let at = first.start === seal.start ? sealEnd(bytes, seal.dictionary, first, range, originalLength) : null;
  if (at === null) return "The signature dictionary is not written as the sealer writes it";
  for (const entry of isStream ? [second, ...others.slice(0, -1)] : [second, ...others]) {
    if (entry.start !== at) return "The objects behind the seal do not follow one another";
    const value = objectAt(document, entry);
    if (value === null) return "An object behind the seal is not written as the sealer writes it";
    if (entry === second && !isFieldOf(value, first)) return "The seal is not followed by its field";
    at = value.end + END_OF_OBJECT.length;
  }
  const restated = all.slice(0, all.length - entries.length);
  if (section.prev !== undefined ? restated.length > 0 : !restated.every((entry) => isHeaderOf(bytes, entry))) {
    return "The cross-reference section names an object of the document where none begins";
  }
  if (section.offset !== at) return "The objects behind the seal are not followed by their cross-reference section";
  const end = isStream ? streamEnd(bytes, section, entries) : tableEnd(bytes, section, all, base);
  const last = `startxref\n${section.offset - base}\n%%EOF\n`;
  const ends = end !== null && isTextAt(bytes, last, end) && end + last.length === bytes.length;
  return ends ? null : "The file does not end as the sealer ends it";
}

const END_OF_OBJECT = "\nendobj\n";

/**
 * The objects that a cross-reference section names, in file order. Leaves out free and compressed objects, which have
 * no offset: the later comparison of the section's bytes detects them.
 */
function placesOf(section: XrefSection, base: number): Entry[] {
  const places: Entry[] = [];
  const max = section.prev === undefined ? MAX_RESTATED : MAX_OBJECTS;
  for (const [number, entry] of entriesOf(section)) {
    if (entry.type !== "offset") continue;
    if (places.push({ number, generation: entry.generation, start: entry.offset + base }) > max) break;
  }
  return places.sort((one, other) => one.start - other.start);
}

function isHeaderOf(bytes: Uint8Array, { number, generation, start }: Entry): boolean {
  const cursor = cursorAt(bytes, start);
  if (readUnsigned(cursor) !== number) return false;
  skipSpace(cursor);
  if (readUnsigned(cursor) !== generation) return false;
  skipSpace(cursor);
  return readKeyword(cursor, "obj");
}

/** End of the signature dictionary's object; null if it is not written as the sealer writes it. */
function sealEnd(
  bytes: Uint8Array,
  seal: PdfDictionary,
  { number, start }: Entry,
  { gapStart, gapEnd, end }: SignedRange,
  originalLength: number,
): number | null {
  const header = `${number} 0 obj\n`;
  const before = `/SSSOriginalLength ${originalLength}/Contents `;
  const after = `/ByteRange[0 ${gapStart} ${gapEnd} ${end - gapEnd}`;
  if (!isTextAt(bytes, header, start) || seal.start !== start + header.length) return null;
  if (!SIGNATURE_KEYS.test([...seal.entries.keys()].join())) return null;
  if (!isTextAt(bytes, before, gapStart - before.length) || !isTextAt(bytes, after, gapEnd)) return null;
  let at = gapEnd + after.length;
  while (bytes[at] === 0x20) at++;
  const closing = `]>>${END_OF_OBJECT}`;
  return isTextAt(bytes, closing, at) ? at + closing.length : null;
}

/** The value of an object; null if the object is not written as the sealer writes it. */
function objectAt(document: PdfDocument, { number, generation, start }: Entry): PdfValue | null {
  const header = `${number} ${generation} obj\n`;
  try {
    const value = locate(document, { kind: "reference", number, generation, start: 0, end: 0 })?.value;
    if (!isTextAt(document.bytes, header, start) || value?.start !== start + header.length) return null;
    return isTextAt(document.bytes, END_OF_OBJECT, value.end) ? value : null;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function isFieldOf(value: PdfValue, seal: Entry): boolean {
  if (value.kind !== "dictionary" || nameOf(value, "FT") !== "Sig") return false;
  const held = value.entries.get("V");
  return held?.kind === "reference" && held.number === seal.number;
}

/** End of a cross-reference table and its trailer; null if they are not written as the sealer writes them. */
function tableEnd(bytes: Uint8Array, section: XrefSection, entries: readonly Entry[], base: number): number | null {
  const rows = entries.toSorted((one, other) => one.number - other.number);
  const isRestated = section.prev === undefined;
  let text = isRestated ? "xref\n0 1\n0000000000 65535 f \n" : "xref\n";
  let next = -1;
  for (const [index, { number, generation, start }] of rows.entries()) {
    if (number !== next) {
      let count = 1;
      while (rows[index + count]?.number === number + count) count++;
      text += `${number} ${count}\n`;
    }
    text += `${String(start - base).padStart(10, "0")} ${String(generation).padStart(5, "0")} n \n`;
    next = number + 1;
  }
  text += "trailer\n";
  const { trailer, offset } = section;
  if (!isTextAt(bytes, text, offset) || trailer.start !== offset + text.length) return null;
  return hasKeys(trailer, isRestated ? RESTATED_KEYS : TABLE_KEYS) && bytes[trailer.end] === 0x0a
    ? trailer.end + 1
    : null;
}

/**
 * End of a cross-reference stream, which must be the last object that it lists. Null if it is not written as the sealer
 * writes it.
 */
function streamEnd(bytes: Uint8Array, section: XrefSection, entries: readonly Entry[]): number | null {
  const { trailer, offset } = section;
  const header = `${entries.at(-1)?.number} 0 obj\n`;
  const rows = 7 * entries.length;
  if (!isTextAt(bytes, header, offset) || trailer.start !== offset + header.length) return null;
  if (!hasKeys(trailer, STREAM_KEYS) || integers(trailer.entries.get("W")).join() !== WIDTHS) return null;
  if (integerOf(trailer, "Length") !== rows) return null;
  const start = trailer.end + "\nstream\n".length;
  const end = `\nendstream${END_OF_OBJECT}`;
  const good = isTextAt(bytes, "\nstream\n", trailer.end) && isTextAt(bytes, end, start + rows);
  return good ? start + rows + end.length : null;
}

const hasKeys = ({ entries }: PdfDictionary, pattern: RegExp): boolean => pattern.test([...entries.keys()].join());
