import { constants, inflateSync } from "node:zlib";
import { LIMITS } from "../../../../pdf/limits.ts";

/** What streams are that hold no text and no mapping of characters: images, fonts, profiles, metadata, cross-references. */
const notText = /\/Image\b|\/Length[123]\b|\/(?:Type1C|CIDFontType0C|OpenType|Metadata|XRef|XML)\b|\/Alternate\b/;
const otherFilter = /\/(?:ASCII85|ASCIIHex|LZW|RunLength|Crypt)/;
const predicted = /\/Predictor\s+[2-9]/;
/** How far before its data the dictionary of a stream may begin. */
const dictionaryWithin = 4096;

/**
 * Whether the text of a document may hold `{{`. Finds out in a millisecond or less, mostly, what would take a whole reader to know; errs
 * towards true.
 */
export function mayHoldTags(bytes: Buffer): boolean {
  if (bytes.includes("/Encrypt") || bytes.includes("/braceleft")) return true;
  let left: number = LIMITS.inflatedBytes;
  for (let at = bytes.indexOf("stream"); at >= 0; at = bytes.indexOf("stream", at + 6)) {
    const start = dataStart(bytes, at + 6);
    if (start === null || bytes.toString("latin1", at - 3, at) === "end") continue;
    const dictionary = dictionaryBefore(bytes, at);
    if (notText.test(dictionary)) continue;
    if (otherFilter.test(dictionary) || predicted.test(dictionary)) return true;
    const end = bytes.indexOf("endstream", start);
    const raw = bytes.subarray(start, end < 0 ? bytes.length : end);
    const data = /\/Fl(?:ateDecode)?\b/.test(dictionary) ? inflated(raw, left) : raw;
    if (data === null) return true;
    left -= data.length;
    if (left < 0 || showsBraces(data.toString("latin1"))) return true;
    at = end < 0 ? bytes.length : end;
  }
  return false;
}

function dataStart(bytes: Buffer, at: number): number | null {
  if (bytes[at] === 10) return at + 1;
  return bytes[at] === 13 && bytes[at + 1] === 10 ? at + 2 : null;
}

function dictionaryBefore(bytes: Buffer, at: number): string {
  const text = bytes.toString("latin1", Math.max(0, at - dictionaryWithin), at);
  return text.slice(text.lastIndexOf(" obj") + 1);
}

/** What can be read of it, as lenient readers do; null when it is more than `most` bytes. */
function inflated(raw: Buffer, most: number): Buffer | null {
  try {
    return inflateSync(raw, { maxOutputLength: Math.max(most, 1), finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? null : Buffer.alloc(0);
  }
}

/** What every content stream with text has, and other data hardly ever. */
const beginsText = /(?:^|[\s\]])BT\s/;
const showsText = /[)\]>]\s*(?:T[jJ]|['"])/;

/** Two braces one after the other in strings of a content stream, whatever stands between them to move the second. */
const literalBraces = /\{[\s\0()\d.\-\\[\]TJjDdm*<>]{0,60}\{/;
const hexBraces = /7b[\s<>\d.-]{0,60}?(?:00)?7b/i;
const escapedBraces = /\\173/;

function showsBraces(text: string): boolean {
  if (text.includes("/braceleft")) return true;
  if (/begin(?:bf|cid)/.test(text)) return mapsBrace(text);
  if (!beginsText.test(text) || !showsText.test(text)) return false;
  return literalBraces.test(text) || hexBraces.test(text) || escapedBraces.test(text);
}

const brace = 0x7b;

/** Whether a ToUnicode map gives another code than its own to `{`. */
function mapsBrace(cmap: string): boolean {
  if (/<\s*007b\s*>/i.test(cmap)) return true;
  for (const [, low = "", high = "", to = ""] of cmap.matchAll(/<([0-9a-f]+)>\s*<([0-9a-f]+)>\s*<([0-9a-f]{4})>/gi)) {
    const [first, last, text] = [low, high, to].map((digits) => Number.parseInt(digits, 16));
    if (first === undefined || last === undefined || text === undefined || first === text) continue;
    if (text <= brace && brace <= text + last - first) return true;
  }
  return false;
}
