import { pageCount } from "../../pdf/pages/page-count.ts";
import { refusalWords } from "./refusal-words.ts";
import { type Trial, tryAll } from "./trial.ts";

export type TrialOutput = { readonly pages: number | null } | { readonly refusal: string };

export async function run(original: Buffer, input: Trial): Promise<TrialOutput> {
  try {
    await tryAll(original, input);
    return { pages: pageCount(original) };
  } catch (error) {
    const refusal = refusalWords(error, input.fields?.length ?? 0);
    if (refusal === null) throw error;
    return { refusal };
  }
}
