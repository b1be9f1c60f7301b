import { parseSignedData } from "@signsealship/evidence/cms";
import { findSignatures, openUnlocked, originalBoundary, withRanges } from "@signsealship/evidence/pdf";

/** Where the parts of a sealed PDF lie, in bytes from its start. */
export type SealedParts = {
  /** Length of the document as it was handed in. */
  readonly originalLength: number;
  /** The file without `[gapStart, gapEnd)` is what the signature covers. */
  readonly gapStart: number;
  readonly gapEnd: number;
  readonly cmsLength: number;
  /** Where the signature value lies in the CMS. */
  readonly signatureStart: number;
  readonly signatureLength: number;
};

/** Reads the parts of what this service has sealed. @throws Error for any other file */
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
