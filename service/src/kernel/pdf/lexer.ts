import { LIMITS } from "./limits.ts";
import { PdfRefusal } from "./refusal.ts";

/** A range of bytes that contains exactly one object, without white space around it. */
export type Span = { readonly bytes: Buffer; readonly start: number; readonly end: number };

/** An indirect reference, `num gen R`. */
export type Ref = { readonly num: number; readonly gen: number };

const SPACE = 1;
const DELIMITER = 2;
const DIGIT = 3;
const CLASS = new Uint8Array(256);
for (const code of [0, 9, 10, 12, 13, 32]) CLASS[code] = SPACE;
for (const char of "()<>[]{}/%") CLASS[char.charCodeAt(0)] = DELIMITER;
for (const char of "0123456789") CLASS[char.charCodeAt(0)] = DIGIT;

/** True if the byte at `at` is a decimal digit. */
export function isDigit(bytes: Buffer, at: number): boolean {
  return at < bytes.length && CLASS[bytes[at] ?? 0] === DIGIT;
}

/** The first position from `at` on that is not white space or part of a comment; at most the length. */
export function skipSpace(bytes: Buffer, at: number): number {
  let position = at;
  while (position < bytes.length) {
    const code = bytes[position] ?? 0;
    if (code === 0x25) position = endOfLine(bytes, position);
    else if (CLASS[code] === SPACE) position++;
    else break;
  }
  return position;
}

function endOfLine(bytes: Buffer, at: number): number {
  let position = at;
  while (position < bytes.length && bytes[position] !== 10 && bytes[position] !== 13) position++;
  return position;
}

/** The end of the run of regular characters that begins at `at`. */
export function skipRegular(bytes: Buffer, at: number): number {
  let position = at;
  while (position < bytes.length) {
    const kind = CLASS[bytes[position] ?? 0];
    if (kind === SPACE || kind === DELIMITER) break;
    position++;
  }
  return position;
}

/** True if the bytes from `at` on begin with this ASCII word. The byte after the word is not checked. */
export function hasWord(bytes: Buffer, at: number, word: string): boolean {
  if (at + word.length > bytes.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return false;
  return true;
}

/**
 * Reads an unsigned decimal number at `at`. Returns its value and the position of its end. If there is no number at
 * `at`, or if it has more than ten digits, the value is -1 and the end is `at`.
 */
export function readDigits(bytes: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  let position = at;
  while (isDigit(bytes, position)) {
    value = value * 10 + ((bytes[position] ?? 0) - 0x30);
    position++;
  }
  return position === at || position - at > 10 ? { value: -1, end: at } : { value, end: position };
}

/**
 * The end of the object that begins at `at`. The byte at `at` must not be white space.
 * @throws PdfRefusal `needs_repair` for a malformed object, `too_complex` for an object that nests too deeply
 */
export function skipValue(bytes: Buffer, at: number, depth = 0): number {
  switch (bytes[at]) {
    case 0x2f: // /
      return skipRegular(bytes, at + 1);
    case 0x28: // (
      return skipLiteralString(bytes, at);
    case 0x5b: // [
      return skipArray(bytes, at, depth);
    case 0x3c: // <
      return bytes[at + 1] === 0x3c ? skipDictionary(bytes, at, depth) : skipHexString(bytes, at);
    default:
      return isDigit(bytes, at) ? skipIntegerOrReference(bytes, at) : skipWord(bytes, at);
  }
}

function skipLiteralString(bytes: Buffer, at: number): number {
  let open = 0;
  for (let position = at; position < bytes.length; position++) {
    const code = bytes[position];
    if (code === 0x5c) position++;
    else if (code === 0x28) open++;
    else if (code === 0x29 && --open === 0) return position + 1;
  }
  throw new PdfRefusal("needs_repair", `the string at ${at} has no end`);
}

function skipHexString(bytes: Buffer, at: number): number {
  for (let position = at + 1; position < bytes.length; position++) {
    const code = bytes[position] ?? 0;
    if (code === 0x3e) return position + 1;
    const lower = code | 0x20;
    const hex = CLASS[code] === DIGIT || (lower >= 0x61 && lower <= 0x66);
    if (!hex && CLASS[code] !== SPACE) break;
  }
  throw new PdfRefusal("needs_repair", `the hexadecimal string at ${at} is not well-formed`);
}

function skipArray(bytes: Buffer, at: number, depth: number): number {
  let position = skipSpace(bytes, at + 1);
  while (bytes[position] !== 0x5d) {
    position = skipSpace(bytes, skipValue(bytes, position, deeper(depth)));
  }
  return position + 1;
}

function skipDictionary(bytes: Buffer, at: number, depth: number): number {
  let position = skipSpace(bytes, at + 2);
  while (bytes[position] === 0x2f) {
    const value = skipSpace(bytes, skipRegular(bytes, position + 1));
    position = skipSpace(bytes, skipValue(bytes, value, deeper(depth)));
  }
  if (bytes[position] === 0x3e && bytes[position + 1] === 0x3e) return position + 2;
  throw new PdfRefusal("needs_repair", `the dictionary at ${at} is not well-formed`);
}

/**
 * Adds one to a nesting depth.
 * @throws PdfRefusal `too_complex` beyond the limit
 */
export function deeper(depth: number): number {
  if (depth >= LIMITS.nesting) throw new PdfRefusal("too_complex", `objects nest deeper than ${LIMITS.nesting}`);
  return depth + 1;
}

function skipIntegerOrReference(bytes: Buffer, at: number): number {
  const end = skipRegular(bytes, at);
  const gen = skipSpace(bytes, end);
  if (!isDigit(bytes, gen) || gen === end) return wholeNumber(bytes, at, end);
  let genEnd = gen;
  while (isDigit(bytes, genEnd)) genEnd++;
  const keyword = skipSpace(bytes, genEnd);
  if (bytes[keyword] !== 0x52 || keyword === genEnd || skipRegular(bytes, keyword) !== keyword + 1) {
    return wholeNumber(bytes, at, end);
  }
  return keyword + 1;
}

function wholeNumber(bytes: Buffer, at: number, end: number): number {
  let points = 0;
  for (let position = at; position < end; position++) {
    if (isDigit(bytes, position)) continue;
    // Some producers write a sign inside a number, such as `1-2`. Every reader accepts that, and the service doesn't
    // need the value of such a number.
    const code = bytes[position];
    if (code === 0x2e) points++;
    else if (code !== 0x2d && !(code === 0x2b && position === at)) points = 2;
    if (points > 1) throw new PdfRefusal("needs_repair", `no number at ${at}`);
  }
  return end;
}

function skipWord(bytes: Buffer, at: number): number {
  const end = skipRegular(bytes, at);
  const first = bytes[at];
  if (first === 0x2b || first === 0x2d || first === 0x2e) return wholeNumber(bytes, at, end);
  if (end - at === 4 && (hasWord(bytes, at, "true") || hasWord(bytes, at, "null"))) return end;
  if (end - at === 5 && hasWord(bytes, at, "false")) return end;
  throw new PdfRefusal("needs_repair", `no object at ${at}`);
}

/** Reads `num gen obj` at `at`. `end` is the position of the object's value, or -1 if there is no such header. */
export function readObjectHeader(bytes: Buffer, at: number): { num: number; gen: number; end: number } {
  const num = readDigits(bytes, skipSpace(bytes, at));
  const gen = readDigits(bytes, skipSpace(bytes, num.end));
  const keyword = skipSpace(bytes, gen.end);
  const found = num.value >= 0 && gen.value >= 0 && hasWord(bytes, keyword, "obj");
  return { num: num.value, gen: gen.value, end: found ? skipSpace(bytes, keyword + 3) : -1 };
}
