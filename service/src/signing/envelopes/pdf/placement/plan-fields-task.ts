import { PdfRefusal, type PdfRefusalReason } from "../../../../kernel/pdf/refusal.ts";
import type { PlannedField } from "../fields.ts";
import type { PlannedBlock } from "../prepare.ts";
import { type PlanRequest, plan, planBlock } from "./plan.ts";
import { TooLongForTags, UnmatchedTag } from "./unmatched-tag.ts";

export type PlanInput = Omit<PlanRequest, "closesUnusable"> & {
  /** True to plan the notary's block in addition to the signers' fields. */
  readonly hasBlock: boolean;
};
export type PlanOutput =
  | { readonly planned: PlannedField[]; readonly block: PlannedBlock | null }
  | { readonly refusal: { readonly reason: PdfRefusalReason; readonly detail: string } };

export async function run(original: Buffer, input: PlanInput): Promise<PlanOutput> {
  try {
    const planned = await plan(original, { ...input, closesUnusable: true });
    return { planned, block: input.hasBlock ? await planBlock(original, planned) : null };
  } catch (error) {
    if (error instanceof PdfRefusal) return { refusal: { reason: error.reason, detail: error.detail } };
    if (error instanceof TooLongForTags) return { refusal: { reason: "too_complex", detail: error.message } };
    if (error instanceof UnmatchedTag) return { refusal: { reason: "needs_repair", detail: error.message } };
    throw error;
  }
}
