import type { PdfRefusalReason } from "../../../kernel/pdf/refusal.ts";

/** Why a document can't be prepared or signed, as reported by a worker. */
export type Refused =
  | { readonly refusal: { readonly reason: PdfRefusalReason; readonly detail: string } }
  | { readonly unfit: { readonly field: number; readonly why: string } };
