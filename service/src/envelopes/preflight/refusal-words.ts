import { PdfRefusal, type PdfRefusalReason } from "../../pdf/refusal.ts";
import { UnseenContent } from "../../pdf/unseen/notice.ts";
import { UnmatchedTag } from "../pdf/placement/unmatched-tag.ts";
import { UnfitField } from "../pdf/prepare.ts";

const because: Readonly<Record<PdfRefusalReason, string>> = {
  not_a_pdf: "it is not a PDF",
  encrypted: "it is encrypted",
  needs_repair: "it needs repair",
  docmdp_forbids_changes: "its certification (DocMDP) forbids changes",
  too_large: "it is too large",
  no_pages: "it has no pages",
  too_complex: "it is too complex",
};

/**
 * Why a document can't be signed, as an order is refused for it; null for an error that is not the document's.
 * @param requested how many fields the order asked for: a field that does not fit may be one of them
 */
export function refusalWords(error: unknown, requested: number): string | null {
  if (error instanceof UnfitField)
    return error.field < requested
      ? `fields[${error.field}] ${error.message}.`
      : `document can't be signed: a field ${error.message}.`;
  if (error instanceof UnmatchedTag || error instanceof UnseenContent)
    return `document can't be signed: ${error.message}.`;
  if (!(error instanceof PdfRefusal)) return null;
  return `document can't be signed: ${because[error.reason]}. Found: ${error.detail}.`;
}
