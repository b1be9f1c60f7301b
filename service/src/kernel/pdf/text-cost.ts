import { constants, inflateSync } from "node:zlib";
import { type Drawing, drawnBytes, drawnCharacters, namesIn, type Root } from "./drawn-streams.ts";
import { LIMITS } from "./limits.ts";
import { headerOffset, openPdf } from "./open.ts";
import { reachedStreams } from "./reached-streams.ts";
import { PdfRefusal } from "./refusal.ts";
import { restate } from "./xref/restate.ts";

/**
 * Matches the dictionaries of streams that contain neither text nor a character mapping: images, fonts, profiles,
 * metadata and cross-references.
 */
const notText = /\/Image\b|\/Length[123]\b|\/(?:Type1C|CIDFontType0C|OpenType|Metadata|XRef|XML)\b|\/Alternate\b/;
const otherFilter = /\/(?:ASCII85|A85|ASCIIHex|AHx|LZW|RunLength|RL|Crypt)/;
const predicted = /\/Predictor\s+[2-9]/;
/** The most bytes between the start of a stream's dictionary and its data. */
const dictionaryWithin = 4096;
/** The most filters of one stream that are decoded. */
const maxFilters = 4;

/**
 * The data of each stream that may contain text. Streams are found by their keywords, as lenient readers find them.
 * Yields `unread` for a stream with a filter that is not supported here. Yields `too large`, and ends, when all the
 * data together exceed `LIMITS.inflatedBytes`, or when a stream has too many filters.
 */
export function* textStreams(bytes: Buffer): Generator<Buffer | "unread" | "too large", void, undefined> {
  let left: number = LIMITS.inflatedBytes;
  for (let at = bytes.indexOf("stream"); at >= 0; at = bytes.indexOf("stream", at + 6)) {
    const start = dataStart(bytes, at + 6);
    if (start === null || bytes.toString("latin1", at - 3, at) === "end") continue;
    const dictionary = dictionaryBefore(bytes, at);
    if (notText.test(dictionary)) continue;
    const end = bytes.indexOf("endstream", start);
    if (otherFilter.test(dictionary) || predicted.test(dictionary)) yield "unread";
    else {
      const filters = dictionary.match(/\/Fl(?:ateDecode)?\b/g)?.length ?? 0;
      const data = undone(bytes.subarray(start, end < 0 ? bytes.length : end), filters, left);
      left -= data?.length ?? left + 1;
      if (data === null || left < 0) {
        yield "too large";
        return;
      }
      yield data;
    }
    at = end < 0 ? bytes.length : end;
  }
}

function dataStart(bytes: Buffer, at: number): number | null {
  if (bytes[at] === 10) return at + 1;
  return bytes[at] === 13 && bytes[at + 1] === 10 ? at + 2 : null;
}

function dictionaryBefore(bytes: Buffer, at: number): string {
  const text = bytes.toString("latin1", Math.max(0, at - dictionaryWithin), at);
  return text.slice(text.lastIndexOf(" obj") + 1);
}

/**
 * The data after this many FlateDecode filters. Truncated data are decoded as far as possible; damaged data become
 * empty. Null when the result exceeds `max` bytes, or when there are too many filters.
 */
function undone(raw: Buffer, filters: number, max: number): Buffer | null {
  if (filters > maxFilters) return null;
  let data = raw;
  try {
    for (let filter = 0; filter < filters; filter++)
      data = inflateSync(data, { maxOutputLength: Math.max(max, 1), finishFlush: constants.Z_SYNC_FLUSH });
    return data;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? null : Buffer.alloc(0);
  }
}

/** The operator BT begins text. Every content stream with text has it, and other data rarely do. */
export const beginsText = /(?:^|[\s\]])BT\s/;

/**
 * The limits for all content streams of one document together, far above any document that people sign. pdf.js needs
 * about 35 ms for 1 MiB that is drawn. So a document at the limit `drawnBytes` takes about 9 s.
 */
export const textLimits = {
  characters: 1_000_000,
  contentBytes: 16 * 1024 * 1024,
  drawnBytes: 256 * 1024 * 1024,
} as const;

/**
 * The reason why a document's text costs too much memory to read; null when the text may be read. pdf.js uses at least
 * 100 bytes for each character. It holds all elements of an array or dictionary in memory until it has read the last
 * element.
 */
export function tooMuchText(bytes: Buffer): string | null {
  const found = costOfFound(bytes);
  if (found !== null) return found;
  try {
    return costOfReached(bytes);
  } catch (error) {
    if (!(error instanceof PdfRefusal)) throw error;
    // The page tree can't be followed, so any stream may be a content stream.
    return costOfAll(bytes);
  }
}

/**
 * Adds up the cost of content streams. Each method that adds a cost returns null, or the reason once the sum is too
 * high.
 */
function costs() {
  let [inflated, content, characters] = [0, 0, 0];
  return {
    left: () => LIMITS.inflatedBytes - inflated,
    add(length: number): string | null {
      inflated += length;
      return inflated > LIMITS.inflatedBytes ? tooLarge : null;
    },
    addText(length: number, weight: () => number): string | null {
      content += length;
      if (content > textLimits.contentBytes)
        return `its contents with text inflate to more than ${textLimits.contentBytes / 1024 ** 2} MiB`;
      return this.addWeight(weight());
    },
    addWeight(weight: number): string | null {
      characters += weight;
      return characters > textLimits.characters ? tooManyCharacters : null;
    },
  };
}

const tooManyCharacters = `its text has more than ${textLimits.characters.toLocaleString("en-US")} characters`;
const tooMuchDrawn = `its pages draw more than ${textLimits.drawnBytes / 1024 ** 2} MiB of contents`;
const tooLarge = `its contents inflate to more than ${LIMITS.inflatedBytes / 1024 ** 2} MiB`;

/**
 * The reason why the streams that look like content streams cost too much; null when they don't. Finds these streams by
 * keywords, as lenient readers do.
 */
function costOfFound(bytes: Buffer): string | null {
  const cost = costs();
  for (const data of textStreams(bytes)) {
    if (data === "unread") continue;
    if (data === "too large") return tooLarge;
    if (isNoise(data) || !beginsText.test(data.toString("latin1"))) continue;
    const why = cost.addText(data.length, () => weightOf(data));
    if (why !== null) return why;
  }
  return null;
}

/**
 * The reason why the streams reachable from the pages cost too much; null when they don't. Ignores the types in the
 * streams' dictionaries.
 * @throws PdfRefusal
 */
function costOfReached(bytes: Buffer): string | null {
  const cost = costs();
  const drawings = new Map<number, Drawing>();
  const roots: Root[] = [];
  for (const stream of reachedStreams(opened(bytes), cost.left)) {
    const { num, data, length, isContent, isRoot, named, ofPage } = stream;
    if (stream.isOfEarlierPage) {
      roots.push({ num, ofPage });
      continue;
    }
    const showsText = isContent && (data === null || mayShowText(data));
    const characters = !isContent ? 0 : data === null ? length : weightOf(data);
    const why = cost.add(length) ?? (showsText ? cost.addText(length, () => characters) : cost.addWeight(characters));
    if (why !== null) return why;
    if (isContent) drawings.set(num, { characters, names: data && namesIn(data, named), length, named });
    if (isRoot) roots.push({ num, ofPage });
  }
  const { characters, drawnBytes: bytesDrawn } = textLimits;
  if (drawnCharacters(drawings, roots, characters) > characters) return tooManyCharacters;
  return drawnBytes(drawings, roots, bytesDrawn) > bytesDrawn ? tooMuchDrawn : null;
}

/**
 * True if a content stream may have an operator that shows text. Searches for the operator's letters only, so that no
 * notation is missed.
 */
const mayShowText = (data: Buffer): boolean => ["Tj", "TJ", "'", '"'].some((operator) => data.includes(operator));

function opened(bytes: Buffer) {
  try {
    return openPdf(bytes);
  } catch (error) {
    if (!(error instanceof PdfRefusal) || error.reason !== "needs_repair") throw error;
    return restate(bytes, headerOffset(bytes));
  }
}

/**
 * The reason why all streams together cost too much; null when they don't. For a document whose page tree can't be
 * followed: any stream counts as content, so only a small document passes.
 */
function costOfAll(bytes: Buffer): string | null {
  if (bytes.includes("/Encrypt") || otherFilter.test(bytes.toString("latin1"))) return "its contents can't be found";
  const cost = costs();
  for (let at = bytes.indexOf("stream"); at >= 0; at = bytes.indexOf("stream", at + 6)) {
    const end = bytes.indexOf("endstream", at + 6);
    let data: Buffer | null = bytes.subarray(at + 6, end < 0 ? bytes.length : end);
    while (data[0] === 13 || data[0] === 10) data = data.subarray(1);
    for (let filter = 0; filter < maxFilters && looksDeflated(data); filter++) {
      data = undone(data, 1, cost.left());
      if (data === null) return tooLarge;
    }
    const all = data;
    const why =
      cost.add(all.length) ??
      (mayShowText(all) && !isNoise(all) ? cost.addText(all.length, () => weightOf(all)) : null);
    if (why !== null) return why;
    at = end < 0 ? bytes.length : end;
  }
  return null;
}

/** True if data begin like a zlib stream (RFC 1950, section 2.2). */
const looksDeflated = (data: Buffer): boolean =>
  data.length > 2 && ((data[0] ?? 0) & 15) === 8 && data.readUInt16BE(0) % 31 === 0;

const looked = 4096;

/**
 * True if a stream begins with many binary bytes. An embedded file may begin so, but a content stream never does.
 * Binary data can contain text operators by chance.
 */
function isNoise(data: Buffer): boolean {
  const start = data.subarray(0, looked);
  const odd = start.reduce((sum, byte) => sum + (byte > 126 || (byte < 32 && (byte < 9 || byte > 13)) ? 1 : 0), 0);
  return odd > start.length / 4;
}

const [open, close, backslash, less, greater] = [0x28, 0x29, 0x5c, 0x3c, 0x3e];
const [bracket, endBracket, slash, percent, newLine, carriageReturn] = [0x5b, 0x5d, 0x2f, 0x25, 10, 13];

/** Indexed by a byte's value: 1 for each byte that ends a token (ISO 32000-2, section 7.2.3). */
const endsToken = new Uint8Array(256);
for (const byte of [0, 9, newLine, 12, carriageReturn, 32, ...Buffer.from("()<>[]{}/%")]) endsToken[byte] = 1;

/**
 * Estimates how much of a content stream a reader holds in memory at once: the bytes of its strings (ISO 32000-2,
 * section 7.3.4) or the elements of its arrays and dictionaries, whichever is more. An empty string counts as one byte.
 * In a comment, an opening bracket counts and a closing one doesn't, so that a comment can't hide elements.
 */
function weightOf(data: Buffer): number {
  let [count, elements, depth] = [0, 0, 0];
  let isComment = false;
  const within: number[] = [];
  const element = (kind?: number) => {
    if (within.length > 0) elements++;
    if (kind !== undefined) within.push(kind);
  };
  const end = (kind: number) => {
    if (!isComment && within.at(-1) === kind) within.pop();
  };
  for (let at = 0; at < data.length && elements <= textLimits.characters; at++) {
    const byte = data[at] ?? 0;
    if (depth > 0) {
      if (byte === backslash) at++;
      else if (byte === open) depth++;
      else if (byte === close) depth--;
      if (depth > 0) count++;
    } else if (byte === open) {
      depth = 1;
      count++;
    } else if (byte === less && data[at + 1] === less) {
      element(less);
      at++;
    } else if (byte === less) {
      const stop = data.indexOf(greater, at);
      if (stop < 0) break;
      count += 1 + (stop - at) / 2;
      at = stop;
    } else if (byte === bracket) element(bracket);
    else if (byte === endBracket) end(bracket);
    else if (byte === greater && data[at + 1] === greater) {
      end(less);
      at++;
    } else if (byte === percent) isComment = true;
    else if (byte === newLine || byte === carriageReturn) isComment = false;
    else if (byte === slash) element();
    else if (!endsToken[byte] && endsToken[data[at - 1] ?? 32] && data[at - 1] !== slash) element();
  }
  return Math.max(count, elements);
}
