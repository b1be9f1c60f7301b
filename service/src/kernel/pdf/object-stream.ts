import { readDigits, skipSpace } from "./lexer.ts";
import { type Budget, LIMITS, spendLexed } from "./limits.ts";
import { PdfRefusal } from "./refusal.ts";
import { asInteger, asName, type Dict, entry } from "./values.ts";

/** An inflated object stream (ISO 32000-1 7.5.7), with the numbers and offsets of its objects. */
export type ObjectStream = {
  readonly data: Buffer;
  readonly numbers: readonly number[];
  readonly offsets: readonly number[];
};

/** Reads the header of a decoded object stream. @throws PdfRefusal `needs_repair`, `too_complex` */
export function readObjectStream(dict: Dict, data: Buffer, budget: Budget): ObjectStream {
  const count = asInteger(entry(dict, "N"));
  const first = asInteger(entry(dict, "First"));
  // The header has more than one byte for each object, so a count above the length of `data` is wrong.
  if (asName(entry(dict, "Type")) !== "ObjStm" || count === undefined || first === undefined || count > data.length) {
    throw new PdfRefusal("needs_repair", `no object stream at ${dict.start}`);
  }
  budget.compressedObjects -= count;
  if (budget.compressedObjects < 0) {
    throw new PdfRefusal("too_complex", `more than ${LIMITS.compressedObjects} objects in object streams`);
  }
  const numbers: number[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const number = readDigits(data, skipSpace(data, at));
    const offset = readDigits(data, skipSpace(data, number.end));
    if (number.value < 0 || offset.value < 0 || offset.end > first) {
      throw new PdfRefusal("needs_repair", `the object stream at ${dict.start} has a damaged header`);
    }
    numbers.push(number.value);
    offsets.push(first + offset.value);
    at = offset.end;
  }
  spendLexed(budget, at);
  return { data, numbers, offsets };
}

/**
 * The position of an object in the stream, by its index. The object must have the expected number.
 * @throws PdfRefusal `needs_repair`
 */
export function compressedObject(stream: ObjectStream, index: number, num: number) {
  const offset = stream.offsets[index];
  if (offset === undefined || stream.numbers[index] !== num) {
    throw new PdfRefusal("needs_repair", `object ${num} is not where its object stream should have it`);
  }
  return { bytes: stream.data, start: skipSpace(stream.data, offset) };
}
