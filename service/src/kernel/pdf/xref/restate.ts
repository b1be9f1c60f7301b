import type { PdfFile } from "../file.ts";
import { hasWord, readObjectHeader, skipRegular, skipSpace, skipValue } from "../lexer.ts";
import { LIMITS, newBudget, spendLexed } from "../limits.ts";
import { PdfRefusal } from "../refusal.ts";
import { asName, type Dict, entry, isDict, readDict } from "../values.ts";
import { type XrefTable, xrefRows } from "./xref-table.ts";

/**
 * An indirect object that the scan found. `at` is the offset of its number. `dict` is null if the object's value is not
 * a dictionary.
 */
type Found = { readonly gen: number; readonly at: number; readonly dict: Dict | null };

type Walk = { readonly objects: Map<number, Found>; trailer: Dict | null };

/**
 * Reads a document whose own cross-reference is unreadable, if there is only one way to find its objects. No number may
 * be used twice, and no stream may contain anything that looks like an object. All trailers must name the same Root and
 * Info; without a trailer, there must be only one catalog. Then all readers that scan for objects find the same ones. A
 * revision of such a document lists every object and has no /Prev (docs/evidence-format.md, section 2.1).
 * @param header the offset of `%PDF-`
 * @throws PdfRefusal `needs_repair` when objects can be found in several ways or not at all, `too_complex`
 */
export function restate(bytes: Buffer, header: number): PdfFile {
  const budget = newBudget();
  const walk: Walk = { objects: new Map(), trailer: null };
  let at = header;
  while (at < bytes.length) {
    const next = skipSpace(bytes, at);
    const end = next === bytes.length ? next : skipPart(bytes, next, walk);
    spendLexed(budget, 1 + Math.min(end - at, LIMITS.nesting));
    at = end;
  }
  const trailer = walk.trailer ?? catalogTrailer(walk);
  const restated = [...walk.objects].map(([num, { gen, at }]) => ({ ref: { num, gen }, offset: at - header }));
  restated.sort((one, other) => one.ref.num - other.ref.num);
  const table: XrefTable = xrefRows(restated);
  return {
    bytes,
    base: header,
    startxref: 0,
    restated,
    sections: [{ table, stream: null, trailer }],
    budget,
    objectStreams: new Map(),
    encryption: null,
  };
}

const several = (at: number, why: string): PdfRefusal =>
  new PdfRefusal("needs_repair", `its cross-reference can't be read, and at ${at} ${why}`);

/**
 * Reads the object or trailer that begins at `at`, or skips any other word.
 * @returns the position after it
 */
function skipPart(bytes: Buffer, at: number, walk: Walk): number {
  const header = readObjectHeader(bytes, at);
  if (header.end >= 0) return skipObject(bytes, at, header, walk);
  if (hasWord(bytes, at, "trailer")) return skipTrailer(bytes, at + "trailer".length, walk);
  return Math.max(at + 1, skipRegular(bytes, at));
}

/**
 * Reads a trailer. Ignores an unreadable one; without another trailer, the document must then have only one catalog.
 * @param at the position after the keyword
 */
function skipTrailer(bytes: Buffer, at: number, walk: Walk): number {
  const start = skipSpace(bytes, at);
  const trailer = isDict({ bytes, start }) ? readable(() => readDict(bytes, start)) : null;
  if (trailer === null) return at;
  if (trailer.repeated !== null) throw several(at, "a trailer has a key twice");
  const same = (key: string) => text(walk.trailer, key) === text(trailer, key);
  if (walk.trailer !== null && !(same("Root") && same("Info"))) throw several(at, "a second trailer differs");
  walk.trailer = trailer;
  return trailer.end;
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof PdfRefusal && error.reason === "needs_repair") return null;
    throw error;
  }
}

function text(dict: Dict | null, key: string): string | undefined {
  const span = dict === null ? undefined : entry(dict, key);
  return span?.bytes.toString("latin1", span.start, span.end);
}

function skipObject(
  bytes: Buffer,
  at: number,
  { num, gen, end: start }: { num: number; gen: number; end: number },
  walk: Walk,
): number {
  if (num === 0 || num > LIMITS.objectNumber || gen > 65_535) throw several(at, "an object has a number out of range");
  if (walk.objects.has(num)) throw several(at, `object ${num} stands a second time`);
  if (walk.objects.size === LIMITS.treeNodes) throw new PdfRefusal("too_complex", "it has too many objects to list");
  const isEmpty = hasWord(bytes, start, "endobj");
  const dict = !isEmpty && isDict({ bytes, start }) ? readDict(bytes, start) : null;
  const end = isEmpty ? start : (dict?.end ?? skipValue(bytes, start));
  const type = dict && asName(dict.entries.get("Type"));
  if (type === "ObjStm" || type === "XRef") throw several(at, "a stream lists objects");
  const after = skipSpace(bytes, end);
  const data = dict !== null && hasWord(bytes, after, "stream") ? streamStart(bytes, after) : null;
  walk.objects.set(num, { gen, at, dict });
  if (data === null) return hasWord(bytes, after, "endobj") ? after + "endobj".length : end;
  const word = bytes.indexOf("endstream", data, "latin1");
  if (word < 0) throw several(data, "a stream has no end");
  refuseInner(bytes, data, word);
  const behind = skipSpace(bytes, word + "endstream".length);
  return hasWord(bytes, behind, "endobj") ? behind + "endobj".length : behind;
}

function streamStart(bytes: Buffer, keyword: number): number {
  const at = keyword + "stream".length;
  if (bytes[at] === 13) return bytes[at + 1] === 10 ? at + 2 : at + 1;
  return bytes[at] === 10 ? at + 1 : at;
}

/** Some readers also scan the data of streams for objects, so data that look like an object are refused. */
function refuseInner(bytes: Buffer, from: number, to: number): void {
  for (let at = bytes.indexOf("obj", from, "latin1"); at >= 0 && at < to; at = bytes.indexOf("obj", at + 3, "latin1")) {
    const before = bytes.toString("latin1", Math.max(from, at - 32), at);
    if (/\d\s*$/.test(before)) throw several(at, "an object stands in the data of a stream");
  }
}

/** Makes a trailer for a document without one. The document must have only one catalog. */
function catalogTrailer({ objects }: Walk): Dict {
  const catalogs = [...objects].filter(([, { dict }]) => dict && asName(dict.entries.get("Type")) === "Catalog");
  const [only, ...others] = catalogs;
  if (only === undefined || others.length > 0) throw several(0, "there is no trailer, and not one catalog");
  const bytes = Buffer.from(`<</Root ${only[0]} ${only[1].gen} R>>`, "latin1");
  return readDict(bytes, 0);
}
