import { ServiceError } from "../../../kernel/platform/errors.ts";
import { runOr, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { DocumentText } from "./read-text-task.ts";

export type { DocumentText } from "./read-text-task.ts";

const task: Task<null, DocumentText | null> = {
  name: "read the text of a document",
  module: import.meta.resolve("./read-text-task.ts"),
  limitMs: 15_000,
};

/**
 * The text of a document, for people who use a screen reader or can't read its drawn pages.
 * @throws ServiceError `conflict` when the text can't be read
 */
export async function readTextIn(workers: Workers, call: { holder: string; bytes: Buffer }): Promise<DocumentText> {
  const text = await runOr(workers, task, { ...call, input: null }, () => null);
  if (!text) throw new ServiceError("conflict", "The text of this document can't be read.");
  return text;
}
