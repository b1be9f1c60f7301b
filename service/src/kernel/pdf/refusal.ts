/**
 * All reasons to refuse a PDF. The service changes no byte of a file. It accepts a damaged file only if nothing but the
 * cross-reference is unreadable, and `restate` can replace that.
 */
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
 * Thrown for a document that can't be used unchanged. `reason` is a code for programs. `detail` says in printable ASCII
 * what is wrong. Where it helps, it names the byte offset, in the file or in an object stream.
 */
export class PdfRefusal extends Error {
  readonly reason: PdfRefusalReason;
  readonly detail: string;

  constructor(reason: PdfRefusalReason, detail: string, options?: ErrorOptions) {
    // The detail may contain a name from the document, so it is reduced to printable ASCII.
    const printable = detail.replace(/[^ -~]/g, "?").slice(0, 200);
    super(`${reason}: ${printable}`, options);
    this.name = "PdfRefusal";
    this.reason = reason;
    this.detail = printable;
  }
}

/** Refuses a document for which a task exceeded its limits. @throws PdfRefusal */
export function refuseCostly(cause: unknown): never {
  throw new PdfRefusal("too_complex", "reading the document takes too long", { cause });
}
