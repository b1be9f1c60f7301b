import { EvidenceError } from "../errors.ts";
import { type Budget, COST, spend } from "./budget.ts";
import {
  CLASSES,
  type Cursor,
  classOf,
  cursorAt,
  isDigit,
  isSpace,
  peek,
  REGULAR,
  readKeyword,
  readUnsigned,
  skipSpace,
} from "./cursor.ts";
import type { Decryption } from "./encryption/decryption.ts";
import type { IndirectObject, PdfName, PdfValue } from "./values.ts";

const MAX_DEPTH = 64;
/** Limit of the bytes in a name, far above the 127 bytes that ISO 32000-1 annex C allows. */
const MAX_NAME = 4096;

function readNumber(cursor: Cursor): PdfValue {
  const start = cursor.position;
  let sign = 1;
  let whole = 0;
  let fraction = 0;
  let scale = 1;
  let digits = 0;
  let point = false;
  if (peek(cursor) === 0x2d || peek(cursor) === 0x2b) {
    if (peek(cursor) === 0x2d) sign = -1;
    cursor.position++;
  }
  for (; ; cursor.position++) {
    const code = peek(cursor);
    if (isDigit(code)) {
      digits++;
      if (point) {
        scale /= 10;
        fraction += (code - 0x30) * scale;
      } else whole = whole * 10 + (code - 0x30);
    } else if (code === 0x2e && !point) point = true;
    else break;
  }
  if (digits === 0 || classOf(peek(cursor)) === REGULAR) throw broken(cursor, "malformed number");
  const value = sign * (whole + fraction);
  return { kind: "number", value, integer: !point && Number.isSafeInteger(value), start, end: cursor.position };
}

function readName(cursor: Cursor): PdfName {
  const { bytes, limit, position: start } = cursor;
  let end = start + 1;
  let escaped = false;
  for (; end < limit; end++) {
    const code = bytes[end] ?? 0;
    if (CLASSES[code] !== REGULAR) break;
    if (code === 0x23) escaped = true;
  }
  cursor.position = end;
  if (end - start > MAX_NAME) throw new EvidenceError("limit", "a name is too long");
  const written: string = Reflect.apply(String.fromCharCode, null, bytes.subarray(start + 1, end));
  return { kind: "name", value: escaped ? unescapedName(written) : written, start, end };
}

/** Decodes the escapes in a name: `#` and two hexadecimal digits stand for a byte (ISO 32000-2, section 7.3.5). */
function unescapedName(written: string): string {
  return written.replace(/#([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function readLiteralString(cursor: Cursor): PdfValue {
  const start = cursor.position++;
  let depth = 1;
  while (depth > 0) {
    const code = peek(cursor);
    if (code < 0) throw broken(cursor, "unterminated string");
    cursor.position += code === 0x5c ? 2 : 1;
    if (code === 0x28) depth++;
    else if (code === 0x29) depth--;
  }
  return {
    kind: "string",
    hexadecimal: false,
    source: cursor.bytes,
    start,
    end: Math.min(cursor.position, cursor.limit),
    decrypt: cursor.decrypt,
  };
}

function readHexString(cursor: Cursor): PdfValue {
  const start = cursor.position;
  const close = cursor.bytes.indexOf(0x3e, start + 1);
  if (close < 0 || close >= cursor.limit) throw broken(cursor, "unterminated hexadecimal string");
  cursor.position = close + 1;
  return { kind: "string", hexadecimal: true, source: cursor.bytes, start, end: close + 1, decrypt: cursor.decrypt };
}

function readArray(cursor: Cursor, depth: number): PdfValue {
  const start = cursor.position++;
  const items: PdfValue[] = [];
  for (;;) {
    skipSpace(cursor);
    if (peek(cursor) === 0x5d) break;
    items.push(readValue(cursor, depth + 1));
  }
  cursor.position++;
  return { kind: "array", items, start, end: cursor.position };
}

function readDictionary(cursor: Cursor, depth: number): PdfValue {
  const start = cursor.position;
  cursor.position += 2;
  spend(cursor.budget, COST.dictionary);
  const entries = new Map<string, PdfValue>();
  const repeated: string[] = [];
  for (;;) {
    skipSpace(cursor);
    if (peek(cursor) === 0x3e && peek(cursor, 1) === 0x3e) break;
    if (peek(cursor) !== 0x2f) throw broken(cursor, "a dictionary key that is not a name");
    spend(cursor.budget, COST.entry);
    const key = readName(cursor);
    const value = readValue(cursor, depth + 1);
    if (entries.has(key.value)) repeated.push(key.value);
    else entries.set(key.value, value);
  }
  cursor.position += 2;
  return { kind: "dictionary", entries, repeated, start, end: cursor.position };
}

function readNumberOrReference(cursor: Cursor): PdfValue {
  const first = readNumber(cursor);
  const after = cursor.position;
  if (first.kind !== "number" || !first.integer || first.value < 0 || !isSpace(peek(cursor))) return first;
  skipSpace(cursor);
  const generation = readUnsigned(cursor);
  if (generation !== undefined && isSpace(peek(cursor))) {
    skipSpace(cursor);
    if (readKeyword(cursor, "R")) {
      return { kind: "reference", number: first.value, generation, start: first.start, end: cursor.position };
    }
  }
  cursor.position = after;
  return first;
}

/**
 * Reads one object (ISO 32000-2 section 7.3) and leaves the cursor after it.
 *
 * @throws EvidenceError `pdf` when the bytes are not an object, `limit` when nesting or size exceed the limits
 */
export function readValue(cursor: Cursor, depth = 0): PdfValue {
  if (depth > MAX_DEPTH) throw new EvidenceError("limit", "objects are nested too deeply");
  spend(cursor.budget, COST.value);
  skipSpace(cursor);
  const code = peek(cursor);
  const start = cursor.position;
  if (code === 0x2f) return readName(cursor);
  if (isDigit(code)) return readNumberOrReference(cursor);
  if (code === 0x2b || code === 0x2d || code === 0x2e) return readNumber(cursor);
  if (code === 0x28) return readLiteralString(cursor);
  if (code === 0x5b) return readArray(cursor, depth);
  if (code === 0x3c) return peek(cursor, 1) === 0x3c ? readDictionary(cursor, depth) : readHexString(cursor);
  if (readKeyword(cursor, "true")) return { kind: "boolean", value: true, start, end: cursor.position };
  if (readKeyword(cursor, "false")) return { kind: "boolean", value: false, start, end: cursor.position };
  if (readKeyword(cursor, "null")) return { kind: "null", start, end: cursor.position };
  throw broken(cursor, "no object");
}

/**
 * Reads `number generation obj value` at `position`, up to the start of stream data, if any. Undefined without an
 * object header.
 *
 * @param budget pays for the bytes that are examined, readable or not
 * @param decryption decrypts the object's strings
 * @throws EvidenceError when there is a header but the object after it is unreadable
 */
export function readIndirectObject(
  bytes: Uint8Array,
  position: number,
  budget?: Budget,
  decryption?: Pick<Decryption, "strings">,
): IndirectObject | undefined {
  const cursor = cursorAt(bytes, position, bytes.length, budget);
  try {
    return readObject(cursor, decryption);
  } finally {
    cursor.budget.left -= cursor.position - position;
  }
}

function readObject(cursor: Cursor, decryption: Pick<Decryption, "strings"> | undefined): IndirectObject | undefined {
  skipSpace(cursor);
  const start = cursor.position;
  const number = readUnsigned(cursor);
  if (number === undefined || !isSpace(peek(cursor))) return undefined;
  skipSpace(cursor);
  const generation = readUnsigned(cursor);
  if (generation === undefined) return undefined;
  skipSpace(cursor);
  if (!readKeyword(cursor, "obj")) return undefined;
  cursor.decrypt = decryption?.strings(number, generation);
  const value = readValue(cursor);
  const end = cursor.position;
  if (value.kind !== "dictionary") return { number, generation, start, end, value, streamStart: undefined };
  skipSpace(cursor);
  if (!readKeyword(cursor, "stream")) return { number, generation, start, end, value, streamStart: undefined };
  if (peek(cursor) === 0x0d) cursor.position++;
  if (peek(cursor) === 0x0a) cursor.position++;
  return { number, generation, start, end, value, streamStart: cursor.position };
}

function broken(cursor: Cursor, what: string): EvidenceError {
  return new EvidenceError("pdf", `${what} at byte ${cursor.position}`);
}
