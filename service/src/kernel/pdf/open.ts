import { openEncryption } from "./encryption/encryption.ts";
import type { PdfFile, Section } from "./file.ts";
import { hasWord, readDigits, readObjectHeader, skipSpace } from "./lexer.ts";
import { type Budget, LIMITS, newBudget, spendLexed } from "./limits.ts";
import { PdfRefusal } from "./refusal.ts";
import { asInteger, asName, type Dict, entry, readDict, unambiguous } from "./values.ts";
import { readXrefStream, type XrefStream } from "./xref/xref-stream.ts";
import { readXrefTable } from "./xref/xref-table.ts";

/**
 * Opens a document: finds its header and last `startxref`, and follows the chain of cross-reference sections. Doesn't
 * repair anything.
 * @param maxBytes the largest length accepted
 * @throws PdfRefusal `not_a_pdf`, `too_large`, `encrypted`, `needs_repair`, `too_complex`
 */
export function openPdf(bytes: Buffer, maxBytes: number = LIMITS.fileBytes): PdfFile {
  const header = headerOffset(bytes);
  if (bytes.length > maxBytes) throw new PdfRefusal("too_large", `${bytes.length} bytes, at most ${maxBytes}`);
  const { value: startxref, end } = findStartxref(bytes);
  // Objects after the last cross-reference are from a revision whose cross-reference is lost. Readers that repair files
  // would show these objects, others would not.
  const lost = bytes.indexOf("endobj", end, "latin1");
  if (lost >= 0) {
    throw new PdfRefusal("needs_repair", `an object ends at ${lost}, after the last cross-reference section`);
  }
  const file = openChain(bytes, header, startxref);
  // During the search for the encryption key, object streams may have been cached without decryption. An empty cache
  // replaces them.
  return { ...file, objectStreams: new Map(), encryption: openEncryption(file) };
}

/**
 * Opens the document by its cross-reference sections, beginning with the one that the last `startxref` names. Null when
 * the sections need repair. Doesn't check for encryption, or for objects after the last section.
 * @param header the offset of `%PDF-`
 */
export function readableChain(bytes: Buffer, header: number): PdfFile | null {
  try {
    return openChain(bytes, header, findStartxref(bytes).value);
  } catch (error) {
    if (error instanceof PdfRefusal && error.reason === "needs_repair") return null;
    throw error;
  }
}

function openChain(bytes: Buffer, header: number, startxref: number): PdfFile {
  const budget = newBudget();
  // By ISO 32000-1, offsets count from the `%PDF-` header. Some producers count from the start of the file.
  const base = isSection(bytes, startxref + header) ? header : 0;
  const sections = readSections(bytes, base, startxref, budget);
  return { bytes, base, startxref, restated: null, sections, budget, objectStreams: new Map(), encryption: null };
}

/** The offset of `%PDF-`. @throws PdfRefusal `not_a_pdf` */
export function headerOffset(bytes: Buffer): number {
  const header = bytes.subarray(0, LIMITS.headerSearch + 5).indexOf("%PDF-", 0, "latin1");
  if (header < 0) throw new PdfRefusal("not_a_pdf", "no %PDF- header");
  return header;
}

function findStartxref(bytes: Buffer): { value: number; end: number } {
  const searched = Math.max(0, bytes.length - LIMITS.startxrefSearch);
  const keyword = bytes.subarray(searched).lastIndexOf("startxref", undefined, "latin1");
  if (keyword < 0) throw new PdfRefusal("needs_repair", "no startxref");
  const { value, end } = readDigits(bytes, skipSpace(bytes, searched + keyword + 9));
  if (value <= 0) throw new PdfRefusal("needs_repair", `no offset after the startxref at ${searched + keyword}`);
  return { value, end };
}

function isSection(bytes: Buffer, at: number): boolean {
  return hasWord(bytes, skipSpace(bytes, at), "xref") || readObjectHeader(bytes, at).end >= 0;
}

function readSections(bytes: Buffer, base: number, startxref: number, budget: Budget): Section[] {
  const sections: Section[] = [];
  const seen = new Set<number>();
  for (let offset: number | undefined = startxref; offset !== undefined; ) {
    if (seen.has(offset)) throw new PdfRefusal("too_complex", `the cross-reference sections go round at ${offset}`);
    if (seen.size === LIMITS.sections) {
      throw new PdfRefusal("too_complex", `more than ${LIMITS.sections} cross-reference sections`);
    }
    seen.add(offset);
    const section: Section = readSection(bytes, base, offset, budget);
    sections.push(section);
    offset = previous(bytes, base, section.trailer);
  }
  return sections;
}

/**
 * The offset of the section before this one; undefined if there is none. In that case, some producers write the offset
 * 0. Refuses a 0 when a section really begins at offset 0, because some readers would read that section and others
 * would not.
 */
function previous(bytes: Buffer, base: number, trailer: Dict): number | undefined {
  const offset = offsetEntry(trailer, "Prev");
  if (offset !== 0) return offset;
  const at = skipSpace(bytes, base);
  const { end } = readObjectHeader(bytes, at);
  const stream = end >= 0 && hasWord(bytes, end, "<<") && asName(entry(readDict(bytes, end), "Type")) === "XRef";
  if (stream || hasWord(bytes, at, "xref")) {
    throw new PdfRefusal("needs_repair", `/Prev 0 leads to a cross-reference section at ${at}`);
  }
  return undefined;
}

function offsetEntry(trailer: Dict, key: string): number | undefined {
  const span = entry(trailer, key);
  if (!span) return undefined;
  const offset = asInteger(span);
  if (offset === undefined)
    throw new PdfRefusal("needs_repair", `/${key} of the trailer at ${trailer.start} is not an offset`);
  return offset;
}

function readSection(bytes: Buffer, base: number, offset: number, budget: Budget): Section {
  const at = skipSpace(bytes, base + offset);
  if (!hasWord(bytes, at, "xref")) {
    const stream = readStreamSection(bytes, at, budget);
    return { table: null, stream, trailer: stream.dict };
  }
  const table = readXrefTable(bytes, at, budget);
  const trailer = unambiguous(readDict(bytes, table.trailerAt), "the trailer");
  spendLexed(budget, trailer.end - base - offset);
  // Some writers count a table from 1 by mistake, so that it lists object 0 as object 1. If an earlier section exists,
  // readers take the wrong numbers literally and treat object 1 as free.
  if (table.countsFrom1 && trailer.entries.has("Prev"))
    throw new PdfRefusal("needs_repair", `the table at ${at} counts from 1, and has an earlier one`);
  const hybrid = offsetEntry(trailer, "XRefStm");
  const stream = hybrid === undefined ? null : readStreamSection(bytes, base + hybrid, budget);
  return { table, stream, trailer };
}

function readStreamSection(bytes: Buffer, at: number, budget: Budget): XrefStream {
  const { end } = readObjectHeader(bytes, at);
  if (end < 0 || !hasWord(bytes, end, "<<")) {
    throw new PdfRefusal("needs_repair", `no cross-reference section at ${at}`);
  }
  const dict = unambiguous(readDict(bytes, end), "the cross-reference stream");
  spendLexed(budget, dict.end - at);
  return readXrefStream(dict, budget);
}
