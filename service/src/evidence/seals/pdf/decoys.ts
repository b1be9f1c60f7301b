import { isDigit } from "../../../kernel/pdf/lexer.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import type { Tail } from "../../../kernel/pdf/revision/revision.ts";
import type { Random } from "../../../kernel/platform/random.ts";

/** The number of search steps that even a short document may use. */
const MIN_STEPS = 4 * 1024 * 1024;
/**
 * The number of further search steps for each byte of the document. Only a document full of brackets and comments needs
 * more.
 */
const STEPS = 4;
const OPEN = 0x5b;

/** The random lengths of one signature: the bytes reserved for it, and the spaces after /ByteRange. */
export type Draw = { readonly reserve: number; readonly padding: number };

/** Limits of the random additions, which make the final length of a signed file unpredictable. */
const spare = { reserve: 256, padding: 1024 };
const draws = 4;

/**
 * Draws several sets of lengths, to try until the file contains no decoy. Fixed lengths would make /ByteRange
 * predictable. The author of a hostile document could then write numbers into the document that name another place for
 * the signature.
 * @param needed the bytes that the signature needs
 */
export const drawLengths = (random: Pick<Random, "below">, needed: number): Draw[] =>
  Array.from({ length: draws }, () => ({
    reserve: needed + random.below(spare.reserve),
    padding: random.below(spare.padding),
  }));

/**
 * True if the document, or the appended revision, contains a decoy. A decoy is four numbers in brackets that would be a
 * valid /ByteRange if the signature value were at another place. The signed bytes alone don't determine that place. Our
 * verifier reads the place from the signature itself, but other PDF readers don't.
 * @throws PdfRefusal `too_complex`
 */
export function holdsDecoy(original: Buffer, { tail, contentsStart, contentsEnd, byteRange }: Tail): boolean {
  const [, head, , rest] = byteRange;
  const search = { steps: STEPS * original.length + MIN_STEPS, signed: head + rest };
  // The place of the `[` of the seal's own /ByteRange, which directly follows the signature value. The second search
  // begins after it.
  const own = contentsEnd + "/ByteRange".length;
  if (findRange(tail, 0, contentsStart, search) || findRange(tail, own + 1, tail.length, search)) return true;
  return findRange(original, 0, original.length, search);
}

type Search = { steps: number; readonly signed: number };

function findRange(bytes: Buffer, from: number, to: number, search: Search): boolean {
  for (let at = nextBracket(bytes, from); at >= 0 && at < to; at = nextBracket(bytes, at + 1)) {
    const [start, first, , last] = numbersAt(bytes, at + 1, search);
    if (start === 0 && first !== undefined && last !== undefined && first + last === search.signed) return true;
  }
  return false;
}

/**
 * The place of the first `[` at or after `from`. Compares the next bytes one by one. Calling `indexOf` for each bracket
 * would be slow in a document with many brackets next to each other.
 */
function nextBracket(bytes: Buffer, from: number): number {
  const near = Math.min(from + 24, bytes.length);
  for (let at = from; at < near; at++) if (bytes[at] === OPEN) return at;
  return bytes.indexOf(OPEN, near);
}

/**
 * The numbers up to the closing bracket, parsed as leniently as any reader does; empty unless there are exactly four
 * and the first is 0.
 */
function numbersAt(bytes: Buffer, from: number, search: Search): number[] {
  const numbers: number[] = [];
  let at = skip(bytes, from, search);
  for (; numbers.length < 4; at = skip(bytes, at, search)) {
    const end = numberEnd(bytes, at);
    if (end === at) return [];
    numbers.push(Math.trunc(Number.parseFloat(bytes.toString("latin1", at, end))));
    if (numbers[0] !== 0) return [];
    at = end;
  }
  return bytes[at] === 0x5d ? numbers : [];
}

function numberEnd(bytes: Buffer, from: number): number {
  const sign = bytes[from];
  let at = sign === 0x2b || sign === 0x2d ? from + 1 : from;
  const digits = at;
  while (at - from < 32 && (isDigit(bytes, at) || bytes[at] === 0x2e)) at++;
  return at === digits ? from : at;
}

/** Skips white space and comments. */
function skip(bytes: Buffer, from: number, search: Search): number {
  let at = from;
  for (let comment = false; at < bytes.length; at++) {
    const code = bytes[at] ?? 0;
    if (code === 0x0a || code === 0x0d) comment = false;
    else if (code === 0x25) comment = true;
    else if (!comment && code !== 0x20 && code !== 0x09 && code !== 0x0c && code !== 0) break;
  }
  search.steps -= at - from;
  if (search.steps < 0) throw new PdfRefusal("too_complex", "reading its brackets and comments takes too many steps");
  return at;
}
