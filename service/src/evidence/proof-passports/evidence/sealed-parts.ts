import { parseSignedData } from "@signsealship/evidence/cms";
import { findSignatures, openUnlocked, originalBoundary, withRanges } from "@signsealship/evidence/pdf";

/** The parts of a sealed PDF, as byte offsets in the file unless stated otherwise. */
export type SealedParts = {
  /** The length of the document as uploaded. */
  readonly originalLength: number;
  /** The signature covers the file without the bytes `[gapStart, gapEnd)`. */
  readonly gapStart: number;
  readonly gapEnd: number;
  readonly cmsLength: number;
  /** The offset of the signature value within the CMS. */
  readonly signatureStart: number;
  readonly signatureLength: number;
};

/**
 * Finds the parts of a PDF that this service sealed.
 * @throws Error for any other file
 */
export async function sealedParts(bytes: Buffer): Promise<SealedParts> {
  const document = await openUnlocked(bytes);
  const signatures = withRanges(document, findSignatures(document));
  const seal = signatures.find(({ byteRange }) => byteRange.ok && byteRange.range.end === bytes.length);
  const boundary = seal && originalBoundary(document, seal);
  if (!seal?.byteRange.ok || boundary?.kind !== "length") throw new Error("not a sealed PDF of this service");
  const { contents, gapStart, gapEnd } = seal.byteRange.range;
  const [signer] = parseSignedData(contents).signerInfos;
  if (!signer) throw new Error("the seal has no signer");
  return {
    originalLength: boundary.length,
    gapStart,
    gapEnd,
    cmsLength: contents.length,
    signatureStart: signer.signature.byteOffset - contents.byteOffset,
    signatureLength: signer.signature.length,
  };
}
