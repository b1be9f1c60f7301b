import { pageCount } from "../../../kernel/pdf/pages/page-count.ts";
import type { TriedDocument } from "../../../orders/order/order.ts";
import { refusalWords } from "./refusal-words.ts";
import { type Trial, type Tried, tryAll, tryNotarizing } from "./trial.ts";

export type TrialOutput = (Pick<TriedDocument, "pages"> & Tried) | { readonly refusal: string };

export async function run(original: Buffer, input: Trial): Promise<TrialOutput> {
  try {
    const { signers, sha256 } = input;
    const tried = await (signers.length === 0 ? tryNotarizing(original, sha256) : tryAll(original, input));
    return { pages: pageCount(original), ...tried };
  } catch (error) {
    const refusal = refusalWords(error, input);
    if (refusal === null) throw error;
    return { refusal };
  }
}
