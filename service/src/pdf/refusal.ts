/** Every reason for which a PDF is not read any further. Nothing is repaired: what needs it is refused. */
export const PDF_REFUSALS = [
  "not_a_pdf",
  "encrypted",
  "needs_repair",
  "docmdp_forbids_changes",
  "too_large",
  "no_pages",
  "too_complex",
] as const;

export type PdfRefusalReason = (typeof PDF_REFUSALS)[number];

/** The document can't be used as it is; `reason` is for programs, `detail` for a log line. */
export class PdfRefusal extends Error {
  readonly reason: PdfRefusalReason;
  readonly detail: string;

  constructor(reason: PdfRefusalReason, detail: string) {
    super(`${reason}: ${detail}`);
    this.name = "PdfRefusal";
    this.reason = reason;
    this.detail = detail;
  }
}
