import { EvidenceError } from "../errors.ts";
import type { StringDecryption } from "./encryption/decryption.ts";

/** Where a value's own text lies in the bytes it was read from: `start` inclusive, `end` exclusive. */
type Span = { readonly start: number; readonly end: number };

type PdfNull = Span & { readonly kind: "null" };
type PdfBoolean = Span & { readonly kind: "boolean"; readonly value: boolean };
type PdfNumber = Span & { readonly kind: "number"; readonly value: number; readonly integer: boolean };
export type PdfName = Span & { readonly kind: "name"; readonly value: string };
/** The text is left undecoded in `source`, the bytes it was read from: the span covers the delimiters too. */
export type PdfString = Span & {
  readonly kind: "string";
  readonly hexadecimal: boolean;
  readonly source: Uint8Array;
  /** Undefined where the document's strings are not encrypted, or this one is in an object stream. */
  readonly decrypt: StringDecryption | undefined;
};
export type PdfReference = Span & {
  readonly kind: "reference";
  readonly number: number;
  readonly generation: number;
};
type PdfArray = Span & { readonly kind: "array"; readonly items: readonly PdfValue[] };
/** `repeated` holds every key that occurs more than once: the first occurrence is the one kept in `entries`. */
export type PdfDictionary = Span & {
  readonly kind: "dictionary";
  readonly entries: ReadonlyMap<string, PdfValue>;
  readonly repeated: readonly string[];
};

/** An object of ISO 32000-2 section 7.3, as it stands in the file. */
export type PdfValue = PdfNull | PdfBoolean | PdfNumber | PdfName | PdfString | PdfReference | PdfArray | PdfDictionary;

/** `7 0 obj ... endobj`: `streamStart` is the first byte of stream data when a stream follows the dictionary. */
export type IndirectObject = {
  readonly number: number;
  readonly generation: number;
  readonly start: number;
  readonly end: number;
  readonly value: PdfValue;
  readonly streamStart: number | undefined;
};

/**
 * The dictionary, once it is known that all readers find the same in it: of two equal keys some take the first and some
 * the last.
 *
 * @param what the dictionary, in words that follow "stands twice in"
 * @throws EvidenceError `pdf` when a key stands twice
 */
export function unambiguous(dictionary: PdfDictionary, what: string): PdfDictionary {
  const [key] = dictionary.repeated;
  if (key === undefined) return dictionary;
  throw new EvidenceError("pdf", `/${key} stands twice in ${what} at ${dictionary.start}`);
}

/** The member `key` when it is a name, else undefined. */
export function nameOf(dictionary: PdfDictionary, key: string): string | undefined {
  const value = dictionary.entries.get(key);
  return value?.kind === "name" ? value.value : undefined;
}

/** The member `key` when it is an integer, else undefined. */
export function integerOf(dictionary: PdfDictionary, key: string): number | undefined {
  const value = dictionary.entries.get(key);
  return value?.kind === "number" && value.integer ? value.value : undefined;
}

/** Flags: 0 where there are none, null where the member is no direct integer, which readers read differently. */
export function flagsOf(dictionary: PdfDictionary, key: string): number | null {
  return dictionary.entries.has(key) ? (integerOf(dictionary, key) ?? null) : 0;
}
