import { pageCount } from "../../../kernel/pdf/pages/page-count.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import type { RequestedField } from "../../../orders/order/order.ts";
import { textsOf } from "../pdf/fields.ts";
import { elementNames } from "../pdf/placement/asked.ts";
import { plan } from "../pdf/placement/plan.ts";
import { type Preparation, type Prepared, prepareDocument } from "../pdf/prepare.ts";
import { requirePlaces } from "./require-places.ts";
import { refusalWords } from "./trial-task.ts";

/** The data for a preview besides the document. */
export type ToPreview = Pick<Preparation, "page" | "docSha256"> & {
  /** The signers' names. */
  readonly signers: readonly string[];
  readonly fields: readonly RequestedField[] | null;
};

export type PreviewOutput =
  | (Pick<Prepared, "tail" | "fields"> & { readonly pages: number })
  | { readonly refusal: string };

/** Prepares a document as an order would, with the rules of an order, and signs nothing. */
export async function run(original: Buffer, input: ToPreview): Promise<PreviewOutput> {
  const { signers, fields: requested, page, docSha256 } = input;
  try {
    const planned = await plan(original, { signers: signers.length, fields: requested });
    const typeset = await typesetFor([...planned.flatMap(textsOf), page.title, page.note]);
    const preparation = { planned, signers: signers.length, page, docSha256 };
    const { tail, fields } = prepareDocument(original, preparation, typeset);
    requirePlaces(lookUpPdf(original), planned, elementNames(requested ?? []));
    return { tail, fields, pages: pageCount(original) ?? 0 };
  } catch (error) {
    const refusal = refusalWords(error, input);
    if (refusal === null) throw error;
    return { refusal };
  }
}
