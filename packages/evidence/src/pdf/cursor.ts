import { type Budget, newBudget } from "./budget.ts";
import type { StringDecryption } from "./encryption/decryption.ts";

export const REGULAR = 0;
const SPACE = 1;
const DELIMITER = 2;
export const CLASSES = characterClasses();

/**
 * A reading position in `bytes`; bytes at or past `limit` are never read. Each string value that is read keeps
 * `decrypt`, which decrypts it later.
 */
export type Cursor = {
  readonly bytes: Uint8Array;
  readonly limit: number;
  readonly budget: Budget;
  position: number;
  decrypt: StringDecryption | undefined;
};

export function cursorAt(
  bytes: Uint8Array,
  position: number,
  limit = bytes.length,
  budget: Budget = newBudget(),
): Cursor {
  return { bytes, limit, budget, position, decrypt: undefined };
}

/** The byte `ahead` positions after the cursor, or -1 at or past the limit. */
export const peek = (cursor: Cursor, ahead = 0): number => {
  const at = cursor.position + ahead;
  return at >= 0 && at < cursor.limit ? (cursor.bytes[at] ?? -1) : -1;
};

export function classOf(code: number): number {
  return code < 0 ? SPACE : (CLASSES[code] ?? REGULAR);
}

export function isSpace(code: number): boolean {
  return code >= 0 && CLASSES[code] === SPACE;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Moves past white space and comments (ISO 32000-2 sections 7.2.3 and 7.2.4). */
export function skipSpace(cursor: Cursor): void {
  const { bytes, limit } = cursor;
  let at = cursor.position;
  let inComment = false;
  for (; at < limit; at++) {
    const code = bytes[at] ?? 0;
    if (inComment) inComment = code !== 0x0a && code !== 0x0d;
    else if (code === 0x25) inComment = true;
    else if (CLASSES[code] !== SPACE) break;
  }
  cursor.position = Math.min(at, limit);
}

/** If `word` is under the cursor as a whole word, moves past it and returns true. */
export function readKeyword(cursor: Cursor, word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    if (peek(cursor, index) !== word.charCodeAt(index)) return false;
  }
  if (classOf(peek(cursor, word.length)) === REGULAR) return false;
  cursor.position += word.length;
  return true;
}

/** Reads an unsigned integer of at most 15 digits. Returns undefined for anything else, and does not move the cursor. */
export function readUnsigned(cursor: Cursor): number | undefined {
  let length = 0;
  let value = 0;
  for (let code = peek(cursor); isDigit(code); code = peek(cursor, length)) {
    value = value * 10 + (code - 0x30);
    length++;
    if (length > 15) return undefined;
  }
  if (length === 0) return undefined;
  cursor.position += length;
  return value;
}

function characterClasses(): Uint8Array {
  const classes = new Uint8Array(256);
  for (const code of [0, 9, 10, 12, 13, 32]) classes[code] = SPACE;
  for (const char of "()<>[]{}/%") classes[char.charCodeAt(0)] = DELIMITER;
  return classes;
}
