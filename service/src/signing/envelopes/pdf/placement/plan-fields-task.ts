import { PdfRefusal, type PdfRefusalReason } from "../../../../kernel/pdf/refusal.ts";
import type { PlannedField } from "../fields.ts";
import type { PlannedBlock } from "../prepare.ts";
import { type PlanRequest, plan, planBlock } from "./plan.ts";

export type PlanInput = PlanRequest & {
  /** Whether a block for a notary must be planned, too. */
  readonly hasBlock: boolean;
};
export type PlanOutput =
  | { readonly planned: PlannedField[]; readonly block: PlannedBlock | null }
  | { readonly refusal: { readonly reason: PdfRefusalReason; readonly detail: string } };

export async function run(original: Buffer, input: PlanInput): Promise<PlanOutput> {
  try {
    const planned = await plan(original, input);
    return { planned, block: input.hasBlock ? await planBlock(original, planned) : null };
  } catch (error) {
    if (error instanceof PdfRefusal) return { refusal: { reason: error.reason, detail: error.detail } };
    throw error;
  }
}
