import { type ByteRangeResult, type ContentsEncoding, readByteRange, type SignedRange } from "./byte-range.ts";
import { type PdfDocument, startxrefValue } from "./document.ts";
import { indexOfText, lastIndexOfText } from "./search.ts";
import type { SignatureInPdf } from "./signatures.ts";
import { integerOf } from "./values.ts";
import { entriesOf } from "./xref.ts";

/** A signature with what its /ByteRange says. */
export type RangedSignature = SignatureInPdf & { readonly byteRange: ByteRangeResult };

/** Reads the ranges of all signatures of a document. @param encoding `foreign` for those that are no seals */
export function withRanges<Signature extends SignatureInPdf>(
  bytes: Uint8Array,
  signatures: readonly Signature[],
  encoding: ContentsEncoding = "der",
): (Signature & RangedSignature)[] {
  return signatures.map((signature) => ({
    ...signature,
    byteRange: readByteRange(bytes, signature.dictionary, signature.start !== undefined, encoding),
  }));
}

/**
 * What is odd about the way the whole-file signature sits in the file, or null. The signed bytes alone do not say
 * where the gap belongs, so the same bytes around a moved gap must not pass for the same document.
 *
 * @param seal the signature whose range is the whole file
 * @param all every signature of the document, the seal included
 */
export function structureProblem(
  document: PdfDocument,
  seal: RangedSignature,
  range: SignedRange,
  all: readonly RangedSignature[],
): string | null {
  const { bytes } = document;
  if (seal.start === undefined) return "The signature dictionary is in an object stream";
  if (seal.fieldCount !== 1) return "The signature is the value of several form fields, or of none";
  for (const other of all) {
    if (other === seal) continue;
    const otherStart = other.start ?? -1;
    if (otherStart > seal.start) return "Another signature follows the one that covers the whole file";
    if (other.dictionary.end > seal.start) return "Two signatures share bytes";
    if (other.byteRange.ok && other.byteRange.range.end > seal.start) return "Two signatures claim the same bytes";
  }
  // The gap between is hexadecimal digits only.
  const inHead = indexOfText(bytes, "startxref", seal.start, range.gapStart) >= 0;
  if (inHead || indexOfText(bytes, "startxref", range.gapEnd, bytes.length) !== document.startxref) {
    return "The signature is not in the last revision";
  }
  const newest = document.revisions[0]?.main;
  if (newest === undefined) return "There is no cross-reference section";
  for (const [, entry] of entriesOf(newest)) {
    const offset = entry.type === "offset" ? entry.offset + document.base : -1;
    if (offset > range.gapStart && offset < range.gapEnd) return "An object is said to lie inside the signature value";
  }
  return null;
}

/** Where the sealed document ends and the seal's tail begins, or why that cannot be said. */
export type OriginalBoundary =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "not-stated" }
  | { readonly kind: "wrong"; readonly why: string };

/**
 * Reads /SSSOriginalLength of a seal: how many bytes of the file are the document as it was handed in. It is believed
 * only when the signature object begins right there (after one line feed when the document does not end in a line end)
 * and the document's own last startxref is the /Prev of the tail.
 */
export function originalBoundary(document: PdfDocument, seal: RangedSignature): OriginalBoundary {
  const { bytes } = document;
  if (!seal.dictionary.entries.has("SSSOriginalLength")) return { kind: "not-stated" };
  const length = integerOf(seal.dictionary, "SSSOriginalLength");
  const wrong = (why: string): OriginalBoundary => ({ kind: "wrong", why });
  if (length === undefined || length < 1 || seal.start === undefined || length > seal.start) {
    return wrong("The stated length of the document is no length of it");
  }
  const last = bytes[length - 1];
  const endsLine = last === 0x0a || last === 0x0d;
  if (seal.start !== (endsLine ? length : length + 1) || (!endsLine && bytes[length] !== 0x0a)) {
    return wrong("The seal does not begin where the document is said to end");
  }
  const newest = document.revisions[0]?.main;
  if (newest === undefined || newest.offset < seal.dictionary.end) {
    return wrong("The seal is not followed by the cross-reference section that names it");
  }
  const startxref = lastIndexOfText(bytes, "startxref", length, 0);
  const value = startxref < 0 ? undefined : startxrefValue(bytes, startxref);
  if (value === undefined || value !== newest.prev) {
    return wrong("The seal does not continue the document that precedes it");
  }
  return { kind: "length", length };
}
