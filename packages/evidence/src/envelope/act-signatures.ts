import { toHex } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import type { SignedRange } from "../pdf/byte-range.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { withRanges } from "../pdf/structure.ts";
import { stringBytes } from "../pdf/text.ts";
import { integerOf, type PdfDictionary } from "../pdf/values.ts";
import { type SealPurpose, sealPurposeOf } from "../seal/purpose.ts";

/** A signature as the document's newest revision contains it. */
export type DocumentSignature = {
  readonly range: SignedRange;
  /** Hex of /SSSActSha256; null for a signature that is not an act. */
  readonly actSha256: string | null;
  /** /SSSOriginalLength; null unless it is a direct integer. */
  readonly originalLength: number | null;
  /** The purpose of the seal, recognized by the wording of /Reason; null for any other wording. */
  readonly purpose: SealPurpose | null;
};

/**
 * Maps the signatures of a document by the end of their signed range, in bytes. Leaves out signatures without a valid
 * range. If the document is encrypted, the hashes of the acts are encrypted too. So the function decrypts a document
 * that opens without a password.
 *
 * @returns an EvidenceError for an unreadable file, or for an act and another signature whose signed ranges end at the
 * same byte
 */
export async function signaturesByEnd(bytes: Uint8Array): Promise<Map<number, DocumentSignature> | EvidenceError> {
  try {
    const document = await openUnlocked(bytes);
    const signatures = new Map<number, DocumentSignature>();
    for (const { dictionary, byteRange } of withRanges(document, findSignatures(document), "foreign")) {
      if (!byteRange.ok) continue;
      const { range } = byteRange;
      const actSha256 = actSha256In(dictionary);
      const before = signatures.get(range.end);
      if (before && (actSha256 !== null || before.actSha256 !== null))
        throw new EvidenceError("pdf", "two signatures over one revision");
      signatures.set(range.end, {
        range,
        actSha256,
        originalLength: integerOf(dictionary, "SSSOriginalLength") ?? null,
        purpose: sealPurposeOf(dictionary),
      });
    }
    return signatures;
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

/** The hash of the act that a signature dictionary states; null when it states none. */
export function actSha256In({ entries }: PdfDictionary): string | null {
  const value = entries.get("SSSActSha256");
  return value?.kind === "string" ? toHex(stringBytes(value)) : null;
}
