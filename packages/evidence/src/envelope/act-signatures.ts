import { toHex } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import type { SignedRange } from "../pdf/byte-range.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { withRanges } from "../pdf/structure.ts";
import { stringBytes } from "../pdf/text.ts";
import { integerOf, type PdfDictionary } from "../pdf/values.ts";
import { type SealPurpose, sealPurposeOf } from "../seal/purpose.ts";

/** A signature of a document, as the form of its newest revision holds it. */
export type PlacedSignature = {
  readonly range: SignedRange;
  /** Hex of /SSSActSha256; null for a signature that is not an act. */
  readonly actSha256: string | null;
  /** /SSSOriginalLength; null where it is not stated as a direct integer. */
  readonly originalLength: number | null;
  /** The purpose that /Reason states, as a seal's does. */
  readonly purpose: SealPurpose | null;
};

/**
 * The signatures of a document by the end of what they sign. Encrypted documents that open without a password are
 * decrypted: in them the hash of an act is not plain text.
 *
 * @returns an EvidenceError for a file that can't be read, or two acts that end at one byte
 */
export async function placedSignatures(bytes: Uint8Array): Promise<Map<number, PlacedSignature> | EvidenceError> {
  try {
    const document = await openUnlocked(bytes);
    const placed = new Map<number, PlacedSignature>();
    for (const { dictionary, byteRange } of withRanges(document, findSignatures(document), "foreign")) {
      if (!byteRange.ok) continue;
      const { range } = byteRange;
      const actSha256 = actSha256In(dictionary);
      const before = placed.get(range.end);
      if (before && (actSha256 !== null || before.actSha256 !== null))
        throw new EvidenceError("pdf", "two signatures over one revision");
      placed.set(range.end, {
        range,
        actSha256,
        originalLength: integerOf(dictionary, "SSSOriginalLength") ?? null,
        purpose: sealPurposeOf(dictionary),
      });
    }
    return placed;
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

/** The hash of the act that a signature dictionary states; null where it states none. */
export function actSha256In({ entries }: PdfDictionary): string | null {
  const value = entries.get("SSSActSha256");
  return value?.kind === "string" ? toHex(stringBytes(value)) : null;
}
