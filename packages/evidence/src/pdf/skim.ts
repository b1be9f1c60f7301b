import { type Cursor, cursorAt, isSpace, peek, skipSpace } from "./cursor.ts";
import { isTextAt } from "./search.ts";

/**
 * `position` is the start of the stream data or, without a stream, the end of the value. `lengths` has the offset after
 * each key that may be /Length; it is null without a stream.
 */
type Skimmed = { readonly position: number; readonly lengths: readonly number[] | null };

const CLOSING = ["endobj", "xref", "trailer", "startxref"];
/** By character code: 1 for white space and delimiters, which end a word, otherwise 0. */
const ENDS_WORD = Uint8Array.from({ length: 256 }, (_, code) =>
  isSpace(code) || "()<>[]{}/%".includes(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * Finds the end of an object's value, or the start of its stream data. Costs less than parsing the value.
 *
 * @returns null when a string, array or dictionary is still open at `limit`
 */
export function skimObject(bytes: Uint8Array, from: number, limit: number): Skimmed | null {
  const cursor = cursorAt(bytes, from, limit);
  const lengths: number[] = [];
  let depth = 0;
  for (;;) {
    skipSpace(cursor);
    const code = peek(cursor);
    if (code < 0) return depth > 0 ? null : { position: cursor.position, lengths: null };
    const double = peek(cursor, 1) === code;
    if (code === 0x28 || (code === 0x3c && !double)) {
      if (!(code === 0x28 ? skipString(cursor) : skipPast(cursor, 0x3e))) return null;
    } else if (code === 0x5b || code === 0x5d || ((code === 0x3c || code === 0x3e) && double)) {
      depth = Math.max(0, depth + (code === 0x5b || code === 0x3c ? 1 : -1));
      cursor.position += code === 0x5b || code === 0x5d ? 1 : 2;
    } else {
      const start = cursor.position;
      skipWord(cursor);
      if (depth === 1 && code === 0x2f && mayBeLength(bytes, start, cursor.position)) lengths.push(cursor.position);
      if (depth > 0 || code < 0x65 || code > 0x78) continue;
      const is = (word: string) => cursor.position - start === word.length && isTextAt(bytes, word, start);
      if (CLOSING.some(is)) return { position: cursor.position, lengths: null };
      if (is("stream")) return { position: dataStart(cursor), lengths };
    }
  }
}

function skipString(cursor: Cursor): boolean {
  let depth = 0;
  do {
    const code = peek(cursor);
    if (code < 0) return false;
    cursor.position += code === 0x5c ? 2 : 1;
    if (code === 0x28) depth++;
    else if (code === 0x29) depth--;
  } while (depth > 0);
  return cursor.position <= cursor.limit;
}

function skipPast(cursor: Cursor, code: number): boolean {
  const at = cursor.bytes.subarray(0, cursor.limit).indexOf(code, cursor.position);
  cursor.position = at + 1;
  return at >= 0;
}

/** Moves past a name, a keyword, a number, or one delimiter. */
function skipWord(cursor: Cursor): void {
  const { bytes, limit } = cursor;
  const first = bytes[cursor.position++] ?? 0;
  if (first !== 0x2f && ENDS_WORD[first] === 1) return;
  while (cursor.position < limit && ENDS_WORD[bytes[cursor.position] ?? 0] === 0) cursor.position++;
}

/** True if a name may be /Length. A name with escapes (`#`) could be any name. */
function mayBeLength(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes.subarray(start, end).includes(0x23) || (end - start === 7 && isTextAt(bytes, "/Length", start));
}

function dataStart(cursor: Cursor): number {
  if (peek(cursor) === 0x0d) cursor.position++;
  if (peek(cursor) === 0x0a) cursor.position++;
  return cursor.position;
}
