import { manifestLimits } from "../manifest/schema.ts";
import { attachedFile } from "../pdf/attachment.ts";
import { openDocument, type PdfDocument } from "../pdf/document.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { withRanges } from "../pdf/structure.ts";
import { type SealPurpose, sealPurposeOf } from "./purpose.ts";

/** The name under which a certificate PDF holds its manifest. */
const manifestAttachmentName = "manifest.json";

/** What a certificate PDF says, before anything of it is verified. */
export type ClosingCertificate = {
  /** The attached manifest's bytes; null when nothing is attached under its name. */
  readonly manifest: Uint8Array | null;
  /** What the signature that covers the whole file was made for; null when there is none or it does not say. */
  readonly purpose: SealPurpose | null;
};

/**
 * Reads the manifest that is attached to a certificate PDF, and what its seal was made for.
 *
 * @throws EvidenceError `pdf`, `limit` or `unsupported` when the file cannot be read
 */
export function readClosingCertificate(bytes: Uint8Array): ClosingCertificate {
  const document = openDocument(bytes);
  return {
    manifest: attachedFile(document, manifestAttachmentName, manifestLimits.bytes),
    purpose: purposeIn(document),
  };
}

/**
 * What the signature that covers the whole file was made for, whatever else is in the file; null when there is none or it
 * does not say.
 *
 * @throws EvidenceError `pdf`, `limit` or `unsupported` when the file cannot be read
 */
export const readSealPurpose = async (bytes: Uint8Array): Promise<SealPurpose | null> =>
  purposeIn(await openUnlocked(bytes));

function purposeIn(document: PdfDocument): SealPurpose | null {
  const [seal, another] = withRanges(document, findSignatures(document)).filter(
    ({ byteRange }) => byteRange.ok && byteRange.range.end === document.bytes.length,
  );
  return seal === undefined || another !== undefined ? null : sealPurposeOf(seal.dictionary);
}
