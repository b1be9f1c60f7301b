import { PdfRefusal, type PdfRefusalReason } from "../../kernel/pdf/refusal.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { SealKeyError } from "./keys/seal-key.ts";
import { SealNotVerified } from "./self-check.ts";

/** The contract's message for an upload that is not a form with one PDF of the right size. */
export const expectedFile = "Expected a multipart 'file' PDF part up to 35MB.";

const refused: Readonly<Record<PdfRefusalReason, string>> = {
  not_a_pdf: "Uploaded bytes are not a PDF.",
  encrypted: "The PDF is encrypted: remove its encryption and send it again.",
  needs_repair: "The PDF needs repair: it can't be sealed without changing what is in it.",
  docmdp_forbids_changes: "The PDF is certified, and its certification (DocMDP) forbids changes: it can't be sealed.",
  too_large: expectedFile,
  no_pages: "The PDF has no pages.",
  too_complex: "The PDF is too complex: its structure exceeds what is read of a document.",
};

/**
 * The message of a refusal, with the fault and the fault's place in the file. Two messages stay unchanged, because the
 * contract defines their exact text.
 */
function messageOf({ reason, detail }: PdfRefusal): string {
  const message = refused[reason];
  return reason === "not_a_pdf" || reason === "too_large" ? message : `${message} Found: ${detail}.`;
}

/**
 * Returns the ServiceError for the caller when a document was refused, a seal does not verify, or the seal key failed.
 * Returns any other error unchanged.
 */
export function sealRefusal(error: unknown): unknown {
  if (error instanceof PdfRefusal) return new ServiceError("validation", messageOf(error), { cause: error });
  if (error instanceof SealNotVerified && error.documentAtFault) {
    return invalid(`The PDF can't be sealed so that its seal verifies: ${error.why}`);
  }
  if (error instanceof SealNotVerified || error instanceof SealKeyError) {
    return new ServiceError("unavailable", "The seal can't be made now. Try again later.", { cause: error });
  }
  return error;
}
