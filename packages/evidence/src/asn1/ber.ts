import { concatBytes } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import { MAX_DEPTH, TAG } from "./der.ts";
import { constructed, type DerValue, encode, octetString, primitive } from "./writer.ts";

/** Limit of the values in one encoding. A signature with certificates and revocation lists has a few thousand. */
const MAX_VALUES = 200_000;
const CONSTRUCTED = 0x20;

type Reading = { readonly source: Uint8Array; readonly max: number; values: number };
type Part = { readonly value: DerValue; readonly end: number };

/**
 * Converts the BER value at the front of the bytes (X.690, section 8) to definite, minimal lengths. Each octet string
 * is written in one piece.
 *
 * Primitive values and the order of sets stay unchanged. They need no conversion: even programs that write BER use DER
 * for the parts that a signature covers.
 *
 * @param max limit of the values to read
 * @returns the converted value, where the BER ended, and how many values were read
 * @throws EvidenceError `der` when malformed, `limit` past the bounds, `unsupported` for tags over 30
 */
export function derFromBer(
  source: Uint8Array,
  max = MAX_VALUES,
): { readonly der: Uint8Array; readonly end: number; readonly values: number } {
  const reading: Reading = { source, max: Math.min(max, MAX_VALUES), values: 0 };
  const { value, end } = read(reading, 0, source.length, 0);
  return { der: encode(value), end, values: reading.values };
}

function read(reading: Reading, start: number, limit: number, depth: number): Part {
  const { source } = reading;
  if (++reading.values > reading.max || depth > MAX_DEPTH)
    throw new EvidenceError("limit", "There are too many values");
  const tag = source[start];
  const first = source[start + 1];
  if (tag === undefined || first === undefined || start + 2 > limit) throw cutOff();
  if (tag === 0) throw new EvidenceError("der", "Tag 0 is reserved");
  if ((tag & 0x1f) === 0x1f) throw new EvidenceError("unsupported", "Tag numbers over 30 are not read");
  const isConstructed = (tag & CONSTRUCTED) !== 0;
  if (first === 0x80) {
    if (!isConstructed) throw new EvidenceError("der", "A primitive value of indefinite length");
    const { parts, end } = partsOf(reading, start + 2, limit, depth, true);
    return { value: whole(tag, parts), end: end + 2 };
  }
  const { length, at } = definiteLength(source, start + 1, limit);
  const end = at + length;
  if (end > limit) throw cutOff();
  if (!isConstructed) return { value: primitive(tag, source.subarray(at, end)), end };
  return { value: whole(tag, partsOf(reading, at, end, depth, false).parts), end };
}

function partsOf(reading: Reading, start: number, limit: number, depth: number, indefinite: boolean) {
  const { source } = reading;
  const parts: DerValue[] = [];
  let at = start;
  while (indefinite ? source[at] !== 0 || source[at + 1] !== 0 : at < limit) {
    const part = read(reading, at, limit, depth + 1);
    parts.push(part.value);
    at = part.end;
  }
  if (at + (indefinite ? 2 : 0) > limit) throw cutOff();
  return { parts, end: at };
}

function whole(tag: number, parts: readonly DerValue[]): DerValue {
  if (tag !== (TAG.octetString | CONSTRUCTED)) return constructed(tag, parts);
  const contents = parts.map((part) => {
    if (part.tag === TAG.octetString && part.body instanceof Uint8Array) return part.body;
    throw new EvidenceError("der", "An octet string has parts of another type");
  });
  return octetString(concatBytes(contents));
}

function definiteLength(source: Uint8Array, start: number, limit: number): { length: number; at: number } {
  const first = source[start] ?? 0;
  if (first < 0x80) return { length: first, at: start + 1 };
  const at = start + 1 + (first & 0x7f);
  if (at > limit) throw cutOff();
  let length = 0;
  for (let index = start + 1; index < at; index++) length = length * 256 + (source[index] ?? 0);
  if (!Number.isSafeInteger(length)) throw cutOff();
  return { length, at };
}

const cutOff = (): EvidenceError => new EvidenceError("der", "Value is cut off");
