import { type ByteRangeResult, type ContentsEncoding, readByteRange, type SignedRange } from "./byte-range.ts";
import { type PdfDocument, startxrefValue } from "./document.ts";
import { reachOver } from "./reach-over.ts";
import { tailProblem } from "./seal-tail.ts";
import { indexOfText, isTextAt, lastIndexOfText } from "./search.ts";
import type { SignatureInPdf } from "./signatures.ts";
import { integerOf } from "./values.ts";

/** A signature and its parsed /ByteRange. */
export type RangedSignature = SignatureInPdf & { readonly byteRange: ByteRangeResult };

/**
 * Reads the ranges of all signatures of a document.
 * @param encoding `foreign` for signatures that are not seals
 */
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

/**
 * The signatures that claim to cover the whole file.
 * @param length the length of the file in bytes
 */
export const coveringFile = <Signature extends RangedSignature>(length: number, signatures: readonly Signature[]) =>
  signatures.filter(({ byteRange }) => byteRange.ok && byteRange.range.end === length);

/**
 * Says why there is not exactly one signature that covers the whole file.
 * @param length the length of the file in bytes
 */
export function whyNotCovered(length: number, signatures: readonly RangedSignature[]): string {
  if (coveringFile(length, signatures).length > 1) return "Several signatures claim the whole file.";
  const last = signatures.at(-1)?.byteRange;
  if (last === undefined) return "The PDF bears no signature.";
  if (!last.ok) return `The last signature's /ByteRange or /Contents is not acceptable (${last.problem}).`;
  return `The last signature covers ${last.range.end} of ${length} bytes: something was added after it.`;
}

/** The text of `structureProblem` for a signature by another program. */
export const lengthNotStated = "The signature does not state the length of the document, as a seal does";

/**
 * Describes a wrong position or form of the signature that covers the whole file; null if there is none. The signed
 * bytes do not determine where the gap for the signature value is. So a file with the same bytes but a moved gap must
 * not be accepted.
 *
 * @param seal the signature that covers the whole file
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
  // No search for `startxref` in the gap is needed, because the gap contains only hexadecimal digits.
  const inHead = indexOfText(bytes, "startxref", seal.start, range.gapStart) >= 0;
  if (inHead || indexOfText(bytes, "startxref", range.gapEnd, bytes.length) !== document.startxref) {
    return "The signature is not in the last revision";
  }
  const boundary = originalBoundary(document, seal);
  // A wrong stated length is not reported here, because a separate claim fails for it.
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

/**
 * The two texts that the sealer writes directly before and after the signature value, joined. They are adjacent in the
 * signed bytes, which omit the value.
 */
const MEETING = "/Contents /ByteRange[";
const BEFORE = "/Contents ".length;

/**
 * True if the signature value can be at only one position in the signed bytes. A moved value leaves the signed bytes
 * the same but makes another file. The sealer writes a fixed text around the value, so the position is unique if that
 * text occurs once.
 */
export function isOnlyPlace(range: SignedRange): boolean {
  const [head, rest] = range.signedBytes;
  const here =
    isTextAt(head, MEETING.slice(0, BEFORE), head.length - BEFORE) && isTextAt(rest, MEETING.slice(BEFORE), 0);
  return here && indexOfText(head, MEETING, 0, head.length) < 0 && indexOfText(rest, MEETING, 0, rest.length) < 0;
}

/** The position where the sealed document ends and the seal's appended bytes begin, or the reason why it is unknown. */
export type OriginalBoundary =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "not-stated" }
  | { readonly kind: "wrong"; readonly why: string };

/**
 * Reads the size of the original document that a seal states (/SSSOriginalLength). The signature object must begin
 * exactly there (after one line feed if the document has no final line end). In addition, the document's own last
 * startxref must be the /Prev of the appended section, or that section must list every object of the document.
 */
export function originalBoundary(document: PdfDocument, seal: RangedSignature): OriginalBoundary {
  const { bytes } = document;
  if (!seal.dictionary.entries.has("SSSOriginalLength")) return { kind: "not-stated" };
  const length = integerOf(seal.dictionary, "SSSOriginalLength");
  const wrong = (why: string): OriginalBoundary => ({ kind: "wrong", why });
  if (length === undefined || length < 1) {
    return wrong("The stated length of the document cannot be its length");
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
  // A cross-reference section without /Prev lists every object of the document again. The sealer writes such a section
  // if the document's own cross-reference is unreadable.
  if (newest.prev === undefined && newest.kind === "table") return { kind: "length", length };
  const startxref = lastIndexOfText(bytes, "startxref", length, 0);
  const value = startxref < 0 ? undefined : startxrefValue(bytes, startxref);
  if (value === undefined || value !== newest.prev) {
    return wrong("The seal does not continue the document that precedes it");
  }
  return { kind: "length", length };
}
