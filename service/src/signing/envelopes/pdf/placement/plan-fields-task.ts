import { PdfRefusal, type PdfRefusalReason } from "../../../../kernel/pdf/refusal.ts";
import type { PlannedField } from "../fields.ts";
import { type PlanRequest, plan } from "./plan.ts";

export type PlanInput = PlanRequest;
export type PlanOutput =
  | { readonly planned: PlannedField[] }
  | { readonly refusal: { readonly reason: PdfRefusalReason; readonly detail: string } };

export async function run(original: Buffer, input: PlanInput): Promise<PlanOutput> {
  try {
    return { planned: await plan(original, input) };
  } catch (error) {
    if (error instanceof PdfRefusal) return { refusal: { reason: error.reason, detail: error.detail } };
    throw error;
  }
}
