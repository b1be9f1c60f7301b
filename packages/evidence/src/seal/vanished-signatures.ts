import { EvidenceError } from "../errors.ts";
import { COST, spend } from "../pdf/budget.ts";
import { lockPermission } from "../pdf/changes/changes.ts";
import { cursorAt } from "../pdf/cursor.ts";
import type { PdfDocument } from "../pdf/document.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { readValue } from "../pdf/lexer.ts";
import { searchWholeFile } from "../pdf/search.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { type RangedSignature, withRanges } from "../pdf/structure.ts";

const KEY = "/ByteRange";
const nextKey = searchWholeFile(KEY);
/**
 * Limit, in bytes, of a /ByteRange array with its padding. The sealer pads it with up to a thousand spaces; other
 * programs may use more.
 */
const MAX_LENGTH = 4096;

/**
 * Finds signatures in earlier revisions that are missing in the document. It searches all bytes of the file, because an
 * attacker who removes a signature can also remove it from the cross-reference sections.
 *
 * @param present the signatures of the document
 * @throws EvidenceError `limit` when more than `max` revisions would have to be opened
 */
export async function vanishedSignatures(
  document: PdfDocument,
  present: readonly RangedSignature[],
  max: number,
): Promise<RangedSignature[]> {
  const { bytes } = document;
  const found: RangedSignature[] = [];
  const opened = new Map<number, readonly RangedSignature[]>();
  for (let at = nextKey(bytes, 0, bytes.length); at >= 0; at = nextKey(bytes, at + 1, bytes.length)) {
    // True if `at` is inside the signature's dictionary. A dictionary in an object stream has no offsets in the file,
    // so they can't be compared with `at`.
    const covers = ({ start, dictionary }: RangedSignature) =>
      start !== undefined && dictionary.start < at && at < dictionary.end;
    spend(document.budget, COST.candidate);
    if (present.some(covers) || found.some(covers)) continue;
    const end = signedEnd(document, at);
    if (end === null) continue;
    if (!opened.has(end) && opened.size >= max)
      throw new EvidenceError("limit", "more than 64 signatures, including those of earlier revisions");
    const state = opened.get(end) ?? (await signaturesOf(document, end));
    opened.set(end, state);
    found.push(...state.filter((one) => covers(one) && one.byteRange.ok && one.byteRange.range.end === end));
  }
  return found;
}

/**
 * The permission (/P) in a signature's locks, as of the revision that the signature covers. Null when the locks state
 * none, and when the signed bytes are unreadable or do not contain the signature.
 *
 * @param end where the signed bytes end
 */
export async function lockInItsState(document: PdfDocument, { start }: RangedSignature, end: number) {
  try {
    const state = await openUnlocked(document.bytes.subarray(0, end), document);
    const own = findSignatures(state).find((one) => one.start === start);
    return own === undefined ? null : lockPermission(state, own);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/** The end of the signed range of the /ByteRange at `at`; null unless its gap could contain a signature value. */
function signedEnd({ bytes, budget }: PdfDocument, at: number): number | null {
  const cursor = cursorAt(bytes, at + KEY.length, Math.min(bytes.length, at + MAX_LENGTH));
  let numbers: readonly number[];
  try {
    const value = readValue(cursor);
    numbers =
      value.kind === "array" ? value.items.map((item) => (item.kind === "number" ? item.value : Number.NaN)) : [];
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  } finally {
    spend(budget, cursor.position - at);
  }
  const [start, gapStart = Number.NaN, gapEnd = Number.NaN, length = Number.NaN] = numbers;
  const end = gapEnd + length;
  const fits = numbers.length === 4 && start === 0 && gapStart < gapEnd && end <= bytes.length && at < end;
  return fits && bytes[gapStart] === 0x3c && bytes[gapEnd - 1] === 0x3e ? end : null;
}

/** The signatures in the first `end` bytes; empty when these bytes are not a readable document. */
async function signaturesOf(document: PdfDocument, end: number): Promise<readonly RangedSignature[]> {
  try {
    const state = await openUnlocked(document.bytes.subarray(0, end), document);
    return withRanges(state, findSignatures(state), "foreign");
  } catch (error) {
    if (error instanceof EvidenceError) return [];
    throw error;
  }
}
