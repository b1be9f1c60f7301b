import type { PdfString } from "./values.ts";

const ESCAPES: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12 };

/**
 * The decoded bytes of a string (ISO 32000-2 sections 7.3.4.2 and 7.3.4.3), decrypted if it is encrypted.
 *
 * @throws EvidenceError `unsupported` for an encrypted string of a document that was opened without its key
 */
export function stringBytes({ source, start, end, hexadecimal, decrypt }: PdfString): Uint8Array {
  const inner = source.subarray(start + 1, end - 1);
  const bytes = Uint8Array.from(hexadecimal ? hexBytes(inner) : literalBytes(inner));
  return decrypt === undefined ? bytes : decrypt(bytes);
}

/**
 * The text of a text string (ISO 32000-2, section 7.9.2.2): UTF-16 or UTF-8 with its byte order mark, else
 * PDFDocEncoding. Of PDFDocEncoding, only printable ASCII and the Latin-1 characters from 0xA1 are supported. The rest,
 * including line ends, becomes U+FFFD.
 */
export function stringText(string: PdfString): string {
  const bytes = stringBytes(string);
  const [first, second, third] = bytes;
  if (first === 0xfe && second === 0xff)
    return new TextDecoder("utf-16be", { ignoreBOM: true }).decode(bytes.subarray(2));
  if (first === 0xef && second === 0xbb && third === 0xbf)
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(3));
  let text = "";
  for (const byte of bytes) text += (byte >= 32 && byte < 127) || byte > 160 ? String.fromCharCode(byte) : "\ufffd";
  return text;
}

function hexBytes(inner: Uint8Array): number[] {
  let digits = "";
  for (const byte of inner) {
    const char = String.fromCharCode(byte);
    if (/[0-9A-Fa-f]/.test(char)) digits += char;
  }
  if (digits.length % 2 === 1) digits += "0";
  return Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

function literalBytes(inner: Uint8Array): number[] {
  const out: number[] = [];
  for (let at = 0; at < inner.length; at++) {
    const byte = inner[at] ?? 0;
    if (byte === 13) {
      // Any end of line in a string means a line feed (ISO 32000-2, section 7.3.4.2).
      out.push(10);
      if (inner[at + 1] === 10) at++;
    } else if (byte !== 0x5c) {
      out.push(byte);
    } else {
      at = escaped(inner, at + 1, out);
    }
  }
  return out;
}

/**
 * Decodes an escape sequence and appends the result to `out`.
 * @param at the position after the backslash
 * @returns the position of the sequence's last byte
 */
function escaped(inner: Uint8Array, at: number, out: number[]): number {
  const byte = inner[at];
  if (byte === undefined) return at;
  const char = String.fromCharCode(byte);
  if (byte === 13) return inner[at + 1] === 10 ? at + 1 : at;
  if (byte === 10) return at;
  const octal = /^[0-7]{1,3}/.exec(String.fromCharCode(...inner.subarray(at, at + 3)))?.[0];
  if (octal !== undefined) {
    out.push(Number.parseInt(octal, 8) & 0xff);
    return at + octal.length - 1;
  }
  out.push(ESCAPES[char] ?? byte);
  return at;
}
