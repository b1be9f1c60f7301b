import { manifestLimits } from "../manifest/schema.ts";
import { attachedFile } from "../pdf/attachment.ts";
import { openDocument } from "../pdf/document.ts";
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
  const [seal, another] = withRanges(document, findSignatures(document)).filter(
    ({ byteRange }) => byteRange.ok && byteRange.range.end === bytes.length,
  );
  return {
    manifest: attachedFile(document, manifestAttachmentName, manifestLimits.bytes),
    purpose: seal === undefined || another !== undefined ? null : sealPurposeOf(seal.dictionary),
  };
}
