import { manifestLimits } from "../manifest/schema.ts";
import { attachedFile } from "../pdf/attachment.ts";
import { openDocument, type PdfDocument } from "../pdf/document.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { type RangedSignature, withRanges } from "../pdf/structure.ts";
import { carriedNote } from "./carried-note.ts";
import { type SealPurpose, sealPurposeOf } from "./purpose.ts";

/** The attachment name of the manifest in a closing passport's certificate. */
const manifestAttachmentName = "manifest.json";

/** The unverified contents of a closing passport's certificate (a PDF). */
export type ClosingCertificate = {
  /** The attached manifest's bytes; null without an attachment of that name. */
  readonly manifest: Uint8Array | null;
  /**
   * The purpose of the signature that covers the whole file. Null unless there is exactly one such signature and it
   * states a known purpose.
   */
  readonly purpose: SealPurpose | null;
};

/**
 * Reads the manifest attached to a closing passport's certificate, and the purpose of its seal.
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
 * The purpose of the signature that covers the whole file. Null unless there is exactly one such signature and it
 * states a known purpose.
 *
 * @throws EvidenceError `pdf`, `limit` or `unsupported` when the file cannot be read
 */
export const readSealPurpose = async (bytes: Uint8Array): Promise<SealPurpose | null> =>
  purposeIn(await openUnlocked(bytes));

/**
 * The checkpoint in the signature that covers the whole file. Null unless there is exactly one such signature and it
 * contains a checkpoint.
 * @throws EvidenceError as `readSealPurpose`
 */
export async function readCarriedCheckpoint(bytes: Uint8Array): Promise<string | null> {
  const seal = sealIn(await openUnlocked(bytes));
  return seal && carriedNote(seal.dictionary);
}

function purposeIn(document: PdfDocument): SealPurpose | null {
  const seal = sealIn(document);
  return seal && sealPurposeOf(seal.dictionary);
}

/** The only signature that covers the whole file; null when there is not exactly one. */
function sealIn(document: PdfDocument): RangedSignature | null {
  const [seal, another] = withRanges(document, findSignatures(document)).filter(
    ({ byteRange }) => byteRange.ok && byteRange.range.end === document.bytes.length,
  );
  return seal === undefined || another !== undefined ? null : seal;
}
