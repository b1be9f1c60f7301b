import { EvidenceError } from "../errors.ts";
import { type Cursor, isDigit, isSpace, peek } from "./cursor.ts";

/** The location of one object (ISO 32000-2 sections 7.5.4 and 7.5.8.3). */
export type XrefEntry =
  | { readonly type: "free" }
  | { readonly type: "offset"; readonly offset: number; readonly generation: number }
  | { readonly type: "compressed"; readonly stream: number; readonly index: number };

/** The length of a row `nnnnnnnnnn ggggg n`, without its line end. */
export const ROW = 18;

/**
 * The distance between the starts of two rows of a table: 20 bytes, in some files 19 or 21. Counts the white space
 * after the first row, at the cursor. Undefined for any other distance.
 */
export function strideAt(cursor: Cursor): number | undefined {
  let stride = ROW;
  while (stride < 22 && isSpace(peek(cursor, stride))) stride++;
  return stride > ROW && stride < 22 ? stride : undefined;
}

export function isEntry(bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < 16; index++) {
    if (index !== 10 && !isDigit(bytes[at + index] ?? -1)) return false;
  }
  const kind = bytes[at + 17];
  return (
    isSpace(bytes[at - 1] ?? -1) &&
    bytes[at + 10] === 0x20 &&
    bytes[at + 16] === 0x20 &&
    (kind === 0x6e || kind === 0x66)
  );
}

export function isListHead(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 17] === 0x66 && decimal(bytes, at + 11, 5) === 65_535;
}

export function tableEntry(bytes: Uint8Array, at: number): XrefEntry {
  if (!isEntry(bytes, at)) throw malformed("broken entry", at);
  const offset = decimal(bytes, at, 10);
  const generation = decimal(bytes, at + 11, 5);
  return bytes[at + 17] === 0x66 ? { type: "free" } : { type: "offset", offset, generation };
}

function decimal(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = 0; index < length; index++) value = value * 10 + ((bytes[at + index] ?? 0x30) - 0x30);
  return value;
}

export function malformed(what: string, offset: number): EvidenceError {
  return new EvidenceError("pdf", `cross-reference section at byte ${offset}: ${what}`);
}
