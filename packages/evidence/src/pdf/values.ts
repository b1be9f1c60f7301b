import { EvidenceError } from "../errors.ts";
import type { StringDecryption } from "./encryption/decryption.ts";

/** The span of a value's text in its source bytes: `start` inclusive, `end` exclusive. */
type Span = { readonly start: number; readonly end: number };

type PdfNull = Span & { readonly kind: "null" };
type PdfBoolean = Span & { readonly kind: "boolean"; readonly value: boolean };
type PdfNumber = Span & { readonly kind: "number"; readonly value: number; readonly integer: boolean };
export type PdfName = Span & { readonly kind: "name"; readonly value: string };
/** A string. Its text stays undecoded in `source`; the span includes the delimiters. */
export type PdfString = Span & {
  readonly kind: "string";
  readonly hexadecimal: boolean;
  readonly source: Uint8Array;
  /**
   * Decrypts the string. Undefined when the document's strings are not encrypted, or this string is in an object
   * stream.
   */
  readonly decrypt: StringDecryption | undefined;
};
export type PdfReference = Span & {
  readonly kind: "reference";
  readonly number: number;
  readonly generation: number;
};
type PdfArray = Span & { readonly kind: "array"; readonly items: readonly PdfValue[] };
/**
 * A dictionary. `entries` has the first occurrence of each key; `repeated` contains every key that occurs more than
 * once.
 */
export type PdfDictionary = Span & {
  readonly kind: "dictionary";
  readonly entries: ReadonlyMap<string, PdfValue>;
  readonly repeated: readonly string[];
};

/** An object of ISO 32000-2 section 7.3, as written in the file. */
export type PdfValue = PdfNull | PdfBoolean | PdfNumber | PdfName | PdfString | PdfReference | PdfArray | PdfDictionary;

/**
 * An indirect object (`7 0 obj ... endobj`). `streamStart` is the offset of its stream data; undefined without a
 * stream.
 */
export type IndirectObject = {
  readonly number: number;
  readonly generation: number;
  readonly start: number;
  readonly end: number;
  readonly value: PdfValue;
  readonly streamStart: number | undefined;
};

/**
 * Returns the dictionary. Throws if it has a repeated key, because some readers use the key's first value and some the
 * last.
 *
 * @param what a noun phrase for the dictionary, used in the error message
 * @throws EvidenceError `pdf` when a key occurs twice
 */
export function unambiguous(dictionary: PdfDictionary, what: string): PdfDictionary {
  const [key] = dictionary.repeated;
  if (key === undefined) return dictionary;
  throw new EvidenceError("pdf", `/${key} stands twice in ${what} at ${dictionary.start}`);
}

/** The value of the dictionary's key `key` if that value is a name, else undefined. */
export function nameOf(dictionary: PdfDictionary, key: string): string | undefined {
  const value = dictionary.entries.get(key);
  return value?.kind === "name" ? value.value : undefined;
}

/** The value of the dictionary's key `key` if that value is an integer, else undefined. */
export function integerOf(dictionary: PdfDictionary, key: string): number | undefined {
  const value = dictionary.entries.get(key);
  return value?.kind === "number" && value.integer ? value.value : undefined;
}

/**
 * The flags under `key`: 0 when absent. Null when they are not a direct integer, because PDF readers disagree on such
 * values.
 */
export function flagsOf(dictionary: PdfDictionary, key: string): number | null {
  return dictionary.entries.has(key) ? (integerOf(dictionary, key) ?? null) : 0;
}
