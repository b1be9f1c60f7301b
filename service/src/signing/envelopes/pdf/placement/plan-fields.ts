import { PdfRefusal } from "../../../../kernel/pdf/refusal.ts";
import { type Task, tooCostly, type Workers } from "../../../../kernel/platform/workers/task.ts";
import type { RequestedField } from "../../../../orders/order/order.ts";
import type { PlannedField } from "../fields.ts";
import type { PlanInput, PlanOutput } from "./plan-fields-task.ts";

const task: Task<PlanInput, PlanOutput> = {
  name: "plan the fields of a document",
  module: import.meta.resolve("./plan-fields-task.ts"),
  limitMs: 15_000,
};

/**
 * Where each signer signs a document: where the order says it, else in the document's own empty signature fields, else over its tags. Who has
 * no signature then is given one on the page that `prepareDocument` adds.
 * @param document.signers how many there are
 * @param document.fields as the order asks for them; null when it leaves them to the document
 * @throws PdfRefusal for a document that can't be read, or that names signers whom the order has not
 */
export async function planFields(
  workers: Workers,
  document: { holder: string; bytes: Buffer; signers: number; fields: readonly RequestedField[] | null },
): Promise<PlannedField[]> {
  const { holder, bytes, signers, fields } = document;
  const output = await workers.run(task, { holder, bytes, input: { signers, fields } }).catch((error) => {
    if (!tooCostly(error)) throw error;
    throw new PdfRefusal("too_complex", "reading the document takes too long", { cause: error });
  });
  if ("refusal" in output) throw new PdfRefusal(output.refusal.reason, output.refusal.detail);
  return output.planned;
}
