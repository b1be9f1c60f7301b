import { pageCount } from "../../../kernel/pdf/pages/page-count.ts";
import { PdfRefusal, type PdfRefusalReason } from "../../../kernel/pdf/refusal.ts";
import { UnseenContent } from "../../../kernel/pdf/unseen/notice.ts";
import type { ToSign, TriedDocument } from "../../../orders/order/order.ts";
import { elementNames } from "../pdf/placement/asked.ts";
import { UnmatchedTag } from "../pdf/placement/unmatched-tag.ts";
import { UnfitField } from "../pdf/prepare.ts";
import { type Trial, type Tried, tryAll, tryNotarizing } from "./trial.ts";

export type TrialOutput = (Pick<TriedDocument, "pages"> & Tried) | { readonly refusal: string };

export async function run(original: Buffer, input: Trial): Promise<TrialOutput> {
  try {
    const tried = await (input.signers.length === 0 ? tryNotarizing(original, input) : tryAll(original, input));
    return { pages: pageCount(original), ...tried };
  } catch (error) {
    const refusal = refusalWords(error, input);
    if (refusal === null) throw error;
    return { refusal };
  }
}

const because: Readonly<Record<PdfRefusalReason, string>> = {
  not_a_pdf: "it is not a PDF",
  encrypted: "it is encrypted",
  needs_repair: "it needs repair",
  docmdp_forbids_changes: "its certification (DocMDP) forbids changes",
  too_large: "it is too large",
  no_pages: "it has no pages",
  too_complex: "it is too complex",
};

/** The reason why the order can't be placed with this document. Null for an error with another cause. */
export function refusalWords(error: unknown, { signers, fields }: Pick<ToSign, "signers" | "fields">): string | null {
  const refused = `document can't be ${signers.length === 0 ? "notarized" : "signed"}`;
  if (error instanceof UnfitField) {
    const element = elementNames(fields ?? [])[error.field];
    return element === undefined ? `${refused}: a field ${error.message}.` : `${element} ${error.message}.`;
  }
  if (error instanceof UnmatchedTag || error instanceof UnseenContent) return `${refused}: ${error.message}.`;
  if (!(error instanceof PdfRefusal)) return null;
  return `${refused}: ${because[error.reason]}. Found: ${error.detail}.`;
}
