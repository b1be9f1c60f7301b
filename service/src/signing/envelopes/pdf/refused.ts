import type { PdfRefusalReason } from "../../../kernel/pdf/refusal.ts";

/** Why a document can't be prepared or signed, as a worker says it. */
export type Refused =
  | { readonly refusal: { readonly reason: PdfRefusalReason; readonly detail: string } }
  | { readonly unfit: { readonly field: number; readonly why: string } };
