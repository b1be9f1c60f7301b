import { type ByteRangeResult, type ContentsEncoding, readByteRange, type SignedRange } from "./byte-range.ts";
import { type PdfDocument, startxrefValue } from "./document.ts";
import { reachOver } from "./reach-over.ts";
import { tailProblem } from "./seal-tail.ts";
import { indexOfText, isTextAt, lastIndexOfText } from "./search.ts";
import type { SignatureInPdf } from "./signatures.ts";
import { integerOf } from "./values.ts";

/** A signature with what its /ByteRange says. */
export type RangedSignature = SignatureInPdf & { readonly byteRange: ByteRangeResult };

/** Reads the ranges of all signatures of a document. @param encoding `foreign` for those that are no seals */
export function withRanges<Signature extends SignatureInPdf>(
  { bytes, budget }: PdfDocument,
  signatures: readonly Signature[],
  encoding: ContentsEncoding = "der",
): (Signature & RangedSignature)[] {
  return signatures.map((signature) => ({
    ...signature,
    byteRange: readByteRange(bytes, signature.dictionary, signature.start !== undefined, encoding, budget),
  }));
}

/** What `structureProblem` says of a signature that other programs made. */
export const lengthNotStated = "The signature does not state the length of the document, as a seal does";

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
    if (other.dictionary.end > seal.start) return "Another signature follows the one that covers the whole file";
    if (other.byteRange.ok && other.byteRange.range.end > seal.start) return "Two signatures claim the same bytes";
  }
  // The gap between is hexadecimal digits only.
  const inHead = indexOfText(bytes, "startxref", seal.start, range.gapStart) >= 0;
  if (inHead || indexOfText(bytes, "startxref", range.gapEnd, bytes.length) !== document.startxref) {
    return "The signature is not in the last revision";
  }
  const boundary = originalBoundary(document, seal);
  // What is wrong with a stated length is a claim of its own.
  if (boundary.kind === "wrong") return null;
  if (boundary.kind === "not-stated") return lengthNotStated;
  if (!isLowercase(bytes, range)) return "The signature value is not in lowercase digits";
  return tailProblem(document, seal, range, boundary.length) ?? reachOver(document, boundary.length);
}

function isLowercase(bytes: Uint8Array, { gapStart, contents }: SignedRange): boolean {
  const end = gapStart + 1 + 2 * contents.length;
  for (let at = gapStart + 1; at < end; at++) {
    const code = bytes[at] ?? 0;
    if (code >= 0x41 && code <= 0x46) return false;
  }
  return true;
}

/** How the sealer writes what stands before and behind the value: the place where the two meet in the signed bytes. */
const MEETING = "/Contents /ByteRange[";
const BEFORE = "/Contents ".length;

/**
 * Whether the signed bytes allow no other place for the value. They are what stands before and behind it, and do not
 * say where the one ends and the other begins: moved elsewhere, the value leaves them as they are and makes another file
 * of them. But the sealer writes the same text around it always, and where that text stands once, there is one place.
 */
export function isOnlyPlace(range: SignedRange): boolean {
  const [head, rest] = range.signedBytes;
  const here =
    isTextAt(head, MEETING.slice(0, BEFORE), head.length - BEFORE) && isTextAt(rest, MEETING.slice(BEFORE), 0);
  return here && indexOfText(head, MEETING, 0, head.length) < 0 && indexOfText(rest, MEETING, 0, rest.length) < 0;
}

/** Where the sealed document ends and the seal's tail begins, or why that cannot be said. */
export type OriginalBoundary =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "not-stated" }
  | { readonly kind: "wrong"; readonly why: string };

/**
 * Reads /SSSOriginalLength of a seal: how many bytes of the file are the document as it was handed in. It is believed
 * only when the signature object begins right there (after one line feed when the document does not end in a line end)
 * and the document's own last startxref is the /Prev of the tail, or the tail names every object of the document itself.
 */
export function originalBoundary(document: PdfDocument, seal: RangedSignature): OriginalBoundary {
  const { bytes } = document;
  if (!seal.dictionary.entries.has("SSSOriginalLength")) return { kind: "not-stated" };
  const length = integerOf(seal.dictionary, "SSSOriginalLength");
  const wrong = (why: string): OriginalBoundary => ({ kind: "wrong", why });
  if (length === undefined || length < 1) {
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
  // A section without /Prev restates the cross-reference of a document whose own can't be read.
  if (newest.prev === undefined && newest.kind === "table") return { kind: "length", length };
  const startxref = lastIndexOfText(bytes, "startxref", length, 0);
  const value = startxref < 0 ? undefined : startxrefValue(bytes, startxref);
  if (value === undefined || value !== newest.prev) {
    return wrong("The seal does not continue the document that precedes it");
  }
  return { kind: "length", length };
}
