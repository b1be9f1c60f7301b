import type { Span } from "./lexer.ts";

const NEWLINE = 10;
const RETURN = 13;
const BACKSLASH = 0x5c;
const ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: 10, r: 13, t: 9, b: 8, f: 12 }).map(([letter, code]) => [letter.charCodeAt(0), code]),
);

/** The bytes of a string (ISO 32000-1 7.3.4); `span` is a well-formed string with its delimiters. */
export function stringBytes({ bytes, start, end }: Span): Buffer {
  const inner = bytes.subarray(start + 1, end - 1);
  return bytes[start] === 0x28 ? literalBytes(inner) : hexBytes(inner);
}

/**
 * The text of a text string (ISO 32000-2 7.9.2.2). Bytes in PDFDocEncoding are read as Latin-1, so characters that
 * Latin-1 lacks come out wrong.
 */
export const textOf = (span: Span): string => textOfBytes(stringBytes(span)) ?? "";

/** True if a code means different characters in PDFDocEncoding and in Latin-1 (ISO 32000-2 annex D.2). */
const isOther = (code: number): boolean =>
  (code >= 0x18 && code < 0x20) || (code >= 0x7f && code <= 0xa0) || code === 0xad;

/**
 * The text of the bytes of a text string.
 * @param exact `exact` to return null for text with PDFDocEncoding characters that Latin-1 lacks
 */
export function textOfBytes(bytes: Buffer, exact?: "exact"): string | null {
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return bytes
      .subarray(2, bytes.length & ~1)
      .swap16()
      .toString("utf16le");
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.toString("utf8", 3);
  return exact && bytes.some(isOther) ? null : bytes.toString("latin1");
}

function hexBytes(inner: Buffer): Buffer {
  const digits = inner.toString("latin1").replace(/[^0-9a-fA-F]/g, "");
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, "hex");
}

function literalBytes(inner: Buffer): Buffer {
  const out = Buffer.allocUnsafe(inner.length);
  let length = 0;
  for (let at = 0; at < inner.length; at++) {
    const code = inner[at] ?? 0;
    if (code === RETURN) {
      // ISO 32000-2 section 7.3.4.2: CR and CRLF are read as LF.
      out[length++] = NEWLINE;
      if (inner[at + 1] === NEWLINE) at++;
    } else if (code === BACKSLASH) {
      const { value, last } = escaped(inner, at + 1);
      if (value !== null) out[length++] = value;
      at = last;
    } else out[length++] = code;
  }
  return out.subarray(0, length);
}

/**
 * Reads an escape sequence.
 * @param at the position after the backslash
 * @returns the position of the sequence's last byte, and the character's value; the value is null for a sequence that
 * adds no character
 */
function escaped(inner: Buffer, at: number): { value: number | null; last: number } {
  const code = inner[at];
  if (code === undefined || code === NEWLINE) return { value: null, last: at };
  if (code === RETURN) return { value: null, last: inner[at + 1] === NEWLINE ? at + 1 : at };
  const octal = /^[0-7]{1,3}/.exec(inner.toString("latin1", at, at + 3))?.[0];
  if (octal) return { value: Number.parseInt(octal, 8) & 0xff, last: at + octal.length - 1 };
  return { value: ESCAPES.get(code) ?? code, last: at };
}
