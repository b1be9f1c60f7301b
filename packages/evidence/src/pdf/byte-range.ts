import { derFromBer } from "../asn1/ber.ts";
import { EvidenceError } from "../errors.ts";
import { type Budget, COST, newBudget, spend } from "./budget.ts";
import type { PdfDictionary } from "./values.ts";

/** The reasons for refusing a signature dictionary's /ByteRange and /Contents. */
type ByteRangeProblem =
  | "repeated-key"
  | "byte-range-missing"
  | "byte-range-not-four-integers"
  | "byte-range-not-from-start"
  | "byte-range-outside-file"
  | "contents-missing"
  | "contents-not-in-file"
  | "contents-not-hexadecimal"
  | "contents-mixed-case"
  | "gap-is-not-contents"
  | "contents-not-der"
  | "padding-not-zero";

/** A well-formed /ByteRange and /Contents: bytes `[0, gapStart)` and `[gapEnd, end)` are signed. */
export type SignedRange = {
  readonly gapStart: number;
  readonly gapEnd: number;
  readonly end: number;
  /** The two signed ranges, views of the file. */
  readonly signedBytes: readonly [Uint8Array, Uint8Array];
  /** The DER of the signature, without the zero padding. */
  readonly contents: Uint8Array;
};

/** The accepted encodings of a signature value. `foreign` also accepts other programs' BER, and converts it to DER. */
export type ContentsEncoding = "der" | "foreign";

export type ByteRangeResult =
  | { readonly ok: true; readonly range: SignedRange }
  | { readonly ok: false; readonly problem: ByteRangeProblem };

const refuse = (problem: ByteRangeProblem): ByteRangeResult => ({ ok: false, problem });

/**
 * Strictly reads /ByteRange and /Contents of a signature dictionary (ISO 32000-2 section 12.8.1). /ByteRange must be
 * four direct integers, starting with byte 0. Its gap must be exactly the hexadecimal string of /Contents in this
 * dictionary. That string must contain one DER object and zero padding. Any other form is refused, with the name of the
 * problem.
 *
 * @param bytes the whole file
 * @param dictionary the signature dictionary, read from `bytes`
 * @param inFile whether the dictionary was read from the file itself and not from an object stream
 * @param encoding `foreign` also accepts BER, for signatures that are never seals
 * @param budget pays for reading BER
 */
export function readByteRange(
  bytes: Uint8Array,
  dictionary: PdfDictionary,
  inFile: boolean,
  encoding: ContentsEncoding = "der",
  budget: Budget = newBudget(),
): ByteRangeResult {
  if (dictionary.repeated.length > 0) return refuse("repeated-key");
  const byteRange = dictionary.entries.get("ByteRange");
  if (byteRange === undefined) return refuse("byte-range-missing");
  const numbers: number[] = [];
  for (const item of byteRange.kind === "array" ? byteRange.items : []) {
    if (item.kind !== "number" || !item.integer || item.value < 0) return refuse("byte-range-not-four-integers");
    numbers.push(item.value);
  }
  const [start, gapStart, gapEnd, length, ...more] = numbers;
  if (
    start === undefined ||
    gapStart === undefined ||
    gapEnd === undefined ||
    length === undefined ||
    more.length > 0
  ) {
    return refuse("byte-range-not-four-integers");
  }
  const contents = dictionary.entries.get("Contents");
  if (contents === undefined) return refuse("contents-missing");
  if (!inFile) return refuse("contents-not-in-file");
  if (contents.kind !== "string" || !contents.hexadecimal) return refuse("contents-not-hexadecimal");
  if (start !== 0) return refuse("byte-range-not-from-start");
  const end = gapEnd + length;
  if (end > bytes.length || gapEnd > bytes.length || gapStart >= gapEnd) return refuse("byte-range-outside-file");
  if (contents.start !== gapStart || contents.end !== gapEnd || dictionary.end > end)
    return refuse("gap-is-not-contents");
  const read = encoding === "der" ? readContents : readForeignContents;
  const der = read(bytes, gapStart + 1, gapEnd - 1, budget);
  if (typeof der === "string") return refuse(der);
  const signedBytes = [bytes.subarray(0, gapStart), bytes.subarray(gapEnd, end)] as const;
  return { ok: true, range: { gapStart, gapEnd, end, signedBytes, contents: der } };
}

const HEX_VALUES = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit++) {
  HEX_VALUES["0123456789abcdef".charCodeAt(digit)] = digit;
  HEX_VALUES["0123456789ABCDEF".charCodeAt(digit)] = digit;
}

function readContents(bytes: Uint8Array, from: number, to: number): Uint8Array | ByteRangeProblem {
  if ((to - from) % 2 !== 0) return "contents-not-hexadecimal";
  const header = decodeHex(bytes, from, Math.min(to, from + 12));
  if (header === undefined) return "contents-not-hexadecimal";
  const length = derLength(header);
  if (length === undefined || length * 2 > to - from) return "contents-not-der";
  const der = decodeHex(bytes, from, from + length * 2);
  if (der === undefined) return "contents-not-hexadecimal";
  if (isMixedCase(bytes, from, from + length * 2)) return "contents-mixed-case";
  return isZeroPadding(bytes, from + length * 2, to) ? der : "padding-not-zero";
}

function readForeignContents(
  bytes: Uint8Array,
  from: number,
  to: number,
  budget: Budget,
): Uint8Array | ByteRangeProblem {
  if ((to - from) % 2 !== 0) return "contents-not-hexadecimal";
  const value = decodeHex(bytes, from, to);
  if (value === undefined) return "contents-not-hexadecimal";
  try {
    const { der, end, values } = derFromBer(value, budget.left / COST.berValue);
    spend(budget, COST.berValue * values);
    if (isMixedCase(bytes, from, from + 2 * end)) return "contents-mixed-case";
    return isZeroPadding(bytes, from + 2 * end, to) ? der : "padding-not-zero";
  } catch (error) {
    if (error instanceof EvidenceError) return "contents-not-der";
    throw error;
  }
}

/**
 * Total length of the SEQUENCE that these bytes begin with; undefined for other tags, and for indefinite or non-minimal
 * lengths.
 */
function derLength([tag, first = 0x80, ...rest]: Uint8Array): number | undefined {
  if (tag !== 0x30) return undefined;
  if (first < 0x80) return 2 + first;
  const octets = rest.slice(0, first - 0x80);
  if (first === 0x80 || first > 0x84 || octets.length < first - 0x80) return undefined;
  const length = octets.reduce((value, octet) => value * 256 + octet, 0);
  if (octets[0] === 0 || length < 0x80) return undefined;
  return 2 + octets.length + length;
}

function decodeHex(bytes: Uint8Array, from: number, to: number): Uint8Array | undefined {
  const decoded = new Uint8Array((to - from) >> 1);
  let wrong = 0;
  for (let at = from, index = 0; at + 1 < to; at += 2, index++) {
    const value = ((HEX_VALUES[bytes[at] ?? 0] ?? -1) << 4) | (HEX_VALUES[bytes[at + 1] ?? 0] ?? -1);
    wrong |= value;
    decoded[index] = value;
  }
  return wrong < 0 ? undefined : decoded;
}

/** True if hexadecimal digits are in mixed case. No signature covers their case, so it could hide a message. */
function isMixedCase(bytes: Uint8Array, from: number, to: number): boolean {
  let lower = 0;
  let upper = 0;
  for (let at = from; at < to; at++) {
    const code = bytes[at] ?? 0;
    // In ASCII, letters have bit 6 set and digits don't. Of the letters, only lowercase ones have bit 5 set.
    lower |= code & (code >> 1) & 0x20;
    upper |= ~code & (code >> 1) & 0x20;
  }
  return lower !== 0 && upper !== 0;
}

/** True if all bytes are the digit 0. Compares four at a time, because a seal's value is mostly padding. */
function isZeroPadding(bytes: Uint8Array, from: number, to: number): boolean {
  let different = 0;
  let at = from;
  for (; at < to && (bytes.byteOffset + at) % 4 !== 0; at++) different |= (bytes[at] ?? 0) ^ 0x30;
  const words = at < to ? new Int32Array(bytes.buffer, bytes.byteOffset + at, (to - at) >> 2) : new Int32Array(0);
  for (let index = 0; index < words.length; index++) different |= (words[index] ?? 0) ^ 0x30303030;
  for (at += words.length * 4; at < to; at++) different |= (bytes[at] ?? 0) ^ 0x30;
  return different === 0;
}
