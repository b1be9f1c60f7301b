import { PdfRefusal } from "../../pdf/refusal.ts";
import type { Tail } from "../../pdf/revision/revision.ts";
import { type Task, type TaskCall, tooCostly, type Workers } from "../../platform/workers/task.ts";
import type { PrepareInput, PrepareOutput } from "./prepare-task.ts";

const task: Task<PrepareInput, PrepareOutput> = {
  name: "prepare a seal",
  module: import.meta.resolve("./prepare-task.ts"),
  limitMs: 15_000,
};

/**
 * Has a worker build the revision to append to a document.
 * @returns null when the document holds numbers that name another place for the signature, whatever the lengths
 * @throws PdfRefusal when the document can't be continued as it is, or takes too long to read
 */
export async function prepareIn(workers: Workers, call: TaskCall<PrepareInput>): Promise<Tail | null> {
  const output = await workers.run(task, call).catch(refuseCostly);
  if (output === "decoys") return null;
  if ("refusal" in output) throw new PdfRefusal(output.refusal.reason, output.refusal.detail);
  const { tail } = output.tail;
  return { ...output.tail, tail: Buffer.from(tail.buffer, tail.byteOffset, tail.length) };
}

/** @throws PdfRefusal in place of a task that was killed for what it cost, and any other error */
export function refuseCostly(error: unknown): never {
  if (!tooCostly(error)) throw error;
  throw new PdfRefusal("too_complex", "reading the document takes too long", { cause: error });
}
