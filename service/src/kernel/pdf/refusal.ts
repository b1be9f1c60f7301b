/** All reasons to stop reading a PDF. Nothing is repaired: a file that needs it is refused. */
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
 * The document can't be used unchanged; `reason` is for programs, `detail` names the fault and its place, in
 * printable ASCII.
 * Places are bytes from the start of the file, or of the object stream that contains the object.
 */
export class PdfRefusal extends Error {
  readonly reason: PdfRefusalReason;
  readonly detail: string;

  constructor(reason: PdfRefusalReason, detail: string, options?: ErrorOptions) {
    // It may contain a name from the document.
    const printable = detail.replace(/[^ -~]/g, "?").slice(0, 200);
    super(`${reason}: ${printable}`, options);
    this.name = "PdfRefusal";
    this.reason = reason;
    this.detail = printable;
  }
}
