import { runOr, type Task, type Workers } from "../../platform/workers/task.ts";

const task: Task<null, number | null> = {
  name: "count pages",
  module: import.meta.resolve("./count-pages-task.ts"),
  limitMs: 10_000,
};

/**
 * Runs `pageCount` in a worker, because the document is untrusted. Null when it can't be read or the worker times out.
 */
export const countPagesIn = (workers: Workers, holder: string, bytes: Buffer): Promise<number | null> =>
  runOr(workers, task, { holder, bytes, input: null }, () => null);
