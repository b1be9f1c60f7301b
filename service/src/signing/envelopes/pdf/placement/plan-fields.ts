import { PdfRefusal, refuseCostly } from "../../../../kernel/pdf/refusal.ts";
import { runOr, type Task, type Workers } from "../../../../kernel/platform/workers/task.ts";
import type { RequestedField } from "../../../../orders/order/order.ts";
import type { PlannedField } from "../fields.ts";
import type { PlanInput, PlanOutput } from "./plan-fields-task.ts";

const task: Task<PlanInput, PlanOutput> = {
  name: "plan the fields of a document",
  module: import.meta.resolve("./plan-fields-task.ts"),
  limitMs: 15_000,
};

type ToPlan = { holder: string; bytes: Buffer; signers: number; fields: readonly RequestedField[] | null };

/**
 * Plans where each signer signs, from the sources that `plan` lists. Leaves out form fields that are named for a signer
 * but break a rule.
 * @param document.signers the number of signers
 * @param document.fields the fields that the order requests; null to use the document's own fields or tags
 * @throws PdfRefusal for a document that can't be read. Also for tags that break a rule or name signers that the order
 * does not have
 */
export async function planFields(workers: Workers, document: ToPlan): Promise<PlannedField[]> {
  return (await planIn(workers, document, false)).planned;
}

/** Plans the fields, and the place for the block of a notary who signs after the signers. @throws PdfRefusal */
export const planFieldsAndBlock = (workers: Workers, document: ToPlan) => planIn(workers, document, true);

async function planIn(workers: Workers, { holder, bytes, signers, fields }: ToPlan, hasBlock: boolean) {
  const input = { signers, fields, hasBlock };
  const output = await runOr(workers, task, { holder, bytes, input }, refuseCostly);
  if ("refusal" in output) throw new PdfRefusal(output.refusal.reason, output.refusal.detail);
  return output;
}
