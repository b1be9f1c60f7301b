import type { TriedDocument } from "../../orders/orders.ts";
import { pageCount } from "../../pdf/pages/page-count.ts";
import { refusalWords } from "./refusal-words.ts";
import { type Trial, type Tried, tryAll } from "./trial.ts";

export type TrialOutput = (TriedDocument & Tried) | { readonly refusal: string };

export async function run(original: Buffer, input: Trial): Promise<TrialOutput> {
  try {
    const tried = await tryAll(original, input);
    return { pages: pageCount(original), ...tried };
  } catch (error) {
    const refusal = refusalWords(error, input.fields?.length ?? 0);
    if (refusal === null) throw error;
    return { refusal };
  }
}
