import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { textsOf } from "./fields.ts";
import { type Preparation, type Prepared, prepareDocument, UnfitField } from "./prepare.ts";
import type { Refused } from "./refused.ts";

export async function run(original: Buffer, preparation: Preparation): Promise<Prepared | Refused> {
  const { planned, page } = preparation;
  const texts = planned.flatMap(textsOf);
  try {
    return prepareDocument(original, preparation, await typesetFor([...texts, page.title, page.note]));
  } catch (error) {
    if (error instanceof PdfRefusal) return { refusal: { reason: error.reason, detail: error.detail } };
    if (error instanceof UnfitField) return { unfit: { field: error.field, why: error.message } };
    throw error;
  }
}
