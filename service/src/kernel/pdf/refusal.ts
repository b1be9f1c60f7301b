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

/**
 * The document can't be used as it is; `reason` is for programs, `detail` says what is wrong where, in printable ASCII.
 * Places are bytes from the start of the file, or of the object stream that holds the object.
 */
export class PdfRefusal extends Error {
  readonly reason: PdfRefusalReason;
  readonly detail: string;

  constructor(reason: PdfRefusalReason, detail: string, options?: ErrorOptions) {
    // It may repeat a name of the document's.
    const printable = detail.replace(/[^ -~]/g, "?").slice(0, 200);
    super(`${reason}: ${printable}`, options);
    this.name = "PdfRefusal";
    this.reason = reason;
    this.detail = printable;
  }
}
