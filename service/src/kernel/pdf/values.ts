import { deeper, type Ref, readDigits, type Span, skipRegular, skipSpace, skipValue } from "./lexer.ts";
import { LIMITS } from "./limits.ts";
import { PdfRefusal } from "./refusal.ts";

/** A dictionary: its range (`<<` to `>>`) and the range of each key's value. The values are not parsed. */
export type Dict = Span & {
  readonly entries: ReadonlyMap<string, Span>;
  /** Keys that occur more than once; null when there are none. */
  readonly repeated: ReadonlySet<string> | null;
};

/**
 * Reads one level of a dictionary, without parsing nested values.
 * @throws PdfRefusal `needs_repair`, `too_complex`
 */
export function readDict(bytes: Buffer, start: number): Dict {
  const entries = new Map<string, Span>();
  let repeated: Set<string> | null = null;
  let at = skipSpace(bytes, start + 2);
  for (let keys = 1; bytes[at] === 0x2f; keys++) {
    if (keys > LIMITS.keys) throw new PdfRefusal("too_complex", `a dictionary with more than ${LIMITS.keys} keys`);
    const nameEnd = skipRegular(bytes, at + 1);
    const key = decodeName(bytes, at + 1, nameEnd);
    const value = skipSpace(bytes, nameEnd);
    const end = skipValue(bytes, value, deeper(0));
    const span = { bytes, start: value, end };
    const earlier = entries.get(key);
    if (earlier) {
      repeated ??= new Set();
      repeated.add(key);
    }
    // Two different values for one key are replaced by a mark, because some readers use the first value and others the
    // second. Code that reads the key then refuses the document.
    entries.set(key, earlier && !sameBytes(earlier, span) ? AMBIGUOUS : span);
    at = skipSpace(bytes, end);
  }
  if (bytes[at] !== 0x3e || bytes[at + 1] !== 0x3e) {
    throw new PdfRefusal("needs_repair", `the dictionary at ${start} is not well-formed`);
  }
  return { bytes, start, end: at + 2, entries, repeated };
}

const AMBIGUOUS: Span = { bytes: Buffer.alloc(0), start: 0, end: 0 };

function sameBytes(a: Span, b: Span): boolean {
  return a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end) === 0;
}

/**
 * The value of a key; undefined when it is absent or null.
 * @throws PdfRefusal `needs_repair` for a key with two different values
 */
export function entry(dict: Dict, key: string): Span | undefined {
  const span = dict.entries.get(key);
  if (span === AMBIGUOUS)
    throw new PdfRefusal("needs_repair", `/${key} stands twice in the dictionary at ${dict.start}`);
  return span === undefined || isNull(span) ? undefined : span;
}

/**
 * Returns the dictionary, but throws if one of its keys occurs twice. Readers could use either value, and a sealed
 * document must have one meaning.
 * @param what the dictionary's name for the message, after "stands twice in"
 * @throws PdfRefusal `needs_repair`
 */
export function unambiguous(dict: Dict, what: string): Dict {
  const [key] = dict.repeated ?? [];
  if (key !== undefined) throw new PdfRefusal("needs_repair", `/${key} stands twice in ${what} at ${dict.start}`);
  return dict;
}

/** True if the span is the null object. */
export function isNull(span: Span): boolean {
  return span.bytes[span.start] === 0x6e;
}

/** True if the span is a dictionary. */
export function isDict(span: Pick<Span, "bytes" | "start">): boolean {
  return span.bytes[span.start] === 0x3c && span.bytes[span.start + 1] === 0x3c;
}

/** True if the span is an array. */
export function isArray(span: Span): boolean {
  return span.bytes[span.start] === 0x5b;
}

/** True if the span is a string, literal or hexadecimal. */
export function isString(span: Span): boolean {
  return span.bytes[span.start] === 0x28 || (span.bytes[span.start] === 0x3c && !isDict(span));
}

/** The span as an unsigned integer; undefined when it is anything else. */
export function asInteger(span: Span | undefined): number | undefined {
  if (!span) return undefined;
  const { value, end } = readDigits(span.bytes, span.start);
  return value >= 0 && end === span.end ? value : undefined;
}

/** The span as an integer of up to ten digits with or without a sign; undefined when it is anything else. */
export function asSignedInteger(span: Span | undefined): number | undefined {
  const text = span?.bytes.toString("latin1", span.start, span.end) ?? "";
  return /^[-+]?\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** The span as an indirect reference; undefined when it is anything else. */
export function asRef(span: Span | undefined): Ref | undefined {
  if (span?.bytes[span.end - 1] !== 0x52) return undefined;
  const num = readDigits(span.bytes, span.start);
  if (num.value < 0) return undefined;
  const gen = readDigits(span.bytes, skipSpace(span.bytes, num.end));
  return gen.value < 0 ? undefined : { num: num.value, gen: gen.value };
}

/** The span as a name, decoded, without its slash; undefined when it is anything else. */
export function asName(span: Span | undefined): string | undefined {
  if (span?.bytes[span.start] !== 0x2f) return undefined;
  return decodeName(span.bytes, span.start + 1, span.end);
}

/**
 * The elements of an array, without parsing nested values.
 * @throws PdfRefusal
 */
export function* elements(array: Span): Generator<Span, void, undefined> {
  const { bytes } = array;
  let at = skipSpace(bytes, array.start + 1);
  while (at < array.end - 1) {
    const end = skipValue(bytes, at, deeper(0));
    yield { bytes, start: at, end };
    at = skipSpace(bytes, end);
  }
}

function decodeName(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString("latin1", start, end);
  if (!raw.includes("#")) return raw;
  return raw.replace(/#([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
