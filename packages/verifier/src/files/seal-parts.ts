import { parseSignedData, signatureTimeStampTokens } from "@signsealship/evidence/cms";
import { EvidenceError } from "@signsealship/evidence/errors";
import { findSignatures, openUnlocked, originalBoundary, withRanges } from "@signsealship/evidence/pdf";
import { type SealPurpose, sealPurposeOf } from "@signsealship/evidence/seal";

type Slice = { readonly start: number; readonly length: number };

/** Byte offsets of the parts of a sealed PDF, with which other tools can extract these parts. */
export type SealParts = {
  /** The gap for the signature value. The signature covers the file without `[gapStart, gapEnd)`. */
  readonly gapStart: number;
  readonly gapEnd: number;
  readonly cmsLength: number;
  /** Length in bytes of the original document; null when the seal does not state it, or states it wrongly. */
  readonly originalLength: number | null;
  /** The positions of the signature value and of its first time-stamp token, inside the CMS. */
  readonly signature: Slice | null;
  readonly token: Slice | null;
  readonly purpose: SealPurpose | null;
};

/**
 * Finds the parts of a sealed PDF, from the signature that covers the whole file. Null if the file is unreadable, or if
 * it has no such signature or more than one.
 */
export async function sealPartsOf(bytes: Uint8Array): Promise<SealParts | null> {
  try {
    const document = await openUnlocked(bytes);
    const [seal, another] = withRanges(document, findSignatures(document)).filter(
      ({ byteRange }) => byteRange.ok && byteRange.range.end === bytes.length,
    );
    if (!seal?.byteRange.ok || another !== undefined) return null;
    const { gapStart, gapEnd, contents } = seal.byteRange.range;
    const boundary = originalBoundary(document, seal);
    return {
      gapStart,
      gapEnd,
      cmsLength: contents.length,
      originalLength: boundary.kind === "length" ? boundary.length : null,
      purpose: sealPurposeOf(seal.dictionary),
      ...cmsParts(contents),
    };
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function cmsParts(contents: Uint8Array): Pick<SealParts, "signature" | "token"> {
  const slice = (part: Uint8Array | undefined): Slice | null =>
    part?.buffer === contents.buffer ? { start: part.byteOffset - contents.byteOffset, length: part.length } : null;
  try {
    const [signer] = parseSignedData(contents).signerInfos;
    if (signer === undefined) return { signature: null, token: null };
    return { signature: slice(signer.signature), token: slice(signatureTimeStampTokens(signer)[0]) };
  } catch (error) {
    if (error instanceof EvidenceError) return { signature: null, token: null };
    throw error;
  }
}
