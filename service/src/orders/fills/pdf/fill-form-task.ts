import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { type FillInput, type FillOutput, filledTail } from "./fill-form.ts";
import { Unfillable } from "./form-questions.ts";

export async function run(bytes: Buffer, input: FillInput): Promise<FillOutput> {
  try {
    const texts = [...[...input.answers.values()].flat(), ...input.options];
    return filledTail(bytes, input, await typesetFor(texts));
  } catch (error) {
    if (error instanceof Unfillable) return { whyNot: error.why };
    if (error instanceof PdfRefusal) return { whyNot: error.reason === "encrypted" ? "encrypted" : "unreadable" };
    throw error;
  }
}
