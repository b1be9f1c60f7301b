import { EvidenceError } from "../errors.ts";
import { type Budget, COST, spend } from "./budget.ts";
import { cursorAt, readUnsigned, skipSpace } from "./cursor.ts";
import { readValue } from "./lexer.ts";
import type { PdfValue } from "./values.ts";

/** An object stream (ISO 32000-2 section 7.5.7): its data, and the number and offset of each object. */
export type ObjectStream = {
  readonly data: Uint8Array;
  readonly numbers: readonly number[];
  readonly offsets: readonly number[];
};

/**
 * Parses the number and offset of each object at the start of the data; the objects begin at byte `first`.
 * @throws EvidenceError `pdf` or `limit`
 */
export function indexObjectStream(
  data: Uint8Array,
  { count, first }: { readonly count: number; readonly first: number },
  budget: Budget,
): ObjectStream {
  spend(budget, COST.value * count);
  const numbers: number[] = [];
  const offsets: number[] = [];
  const cursor = cursorAt(data, 0);
  for (let index = 0; index < count; index++) {
    skipSpace(cursor);
    const number = readUnsigned(cursor);
    skipSpace(cursor);
    const offset = readUnsigned(cursor);
    if (number === undefined || offset === undefined) throw new EvidenceError("pdf", "a broken object stream");
    numbers.push(number);
    offsets.push(first + offset);
  }
  // An object number must occur only once, because readers disagree on a repeated number. Some find an object by its
  // index, some use the first object with the number, and some the last.
  if (new Set(numbers).size !== numbers.length) throw new EvidenceError("pdf", "an object twice in an object stream");
  return { data, numbers, offsets };
}

/**
 * The object at `index`, which must have this number.
 * @throws EvidenceError `pdf` or `limit`
 */
export function valueIn(
  { data, numbers, offsets }: ObjectStream,
  { index, number }: { readonly index: number; readonly number: number },
  budget: Budget,
): PdfValue {
  const offset = offsets[index];
  if (offset === undefined || numbers[index] !== number) {
    throw new EvidenceError("pdf", `object ${number} is not in the object stream that should hold it`);
  }
  const value = readValue(cursorAt(data, offset, data.length, budget));
  spend(budget, value.end - offset);
  return value;
}
