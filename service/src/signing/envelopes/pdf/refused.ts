import type { PdfRefusalReason } from "../../../kernel/pdf/refusal.ts";

/** The reason why a worker could not prepare or sign a document. */
export type Refused =
  | { readonly refusal: { readonly reason: PdfRefusalReason; readonly detail: string } }
  | { readonly unfit: { readonly field: number; readonly why: string } };
