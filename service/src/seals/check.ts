import type { Task, TaskCall, Workers } from "../platform/workers/task.ts";
import type { CheckInput, CheckOutput } from "./check-task.ts";
import { refuseCostly } from "./pdf/prepare.ts";
import { SealNotVerified } from "./self-check.ts";

const task: Task<CheckInput, CheckOutput> = {
  name: "check a seal",
  module: import.meta.resolve("./check-task.ts"),
  limitMs: 30_000,
};

/** Has a worker do the self-check. @throws SealNotVerified; PdfRefusal when the document takes too long to read */
export async function checkIn(workers: Workers, call: TaskCall<CheckInput>): Promise<void> {
  const failed = await workers.run(task, call).catch(refuseCostly);
  if (failed) throw new SealNotVerified(failed.why, failed.documentAtFault);
}
