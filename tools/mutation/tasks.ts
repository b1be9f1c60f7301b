import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** A request to a worker, and its answer. */
export type Task =
  | { readonly kind: "coverage" }
  | { readonly kind: "mutant"; readonly id: number; readonly vectors: readonly number[] };
export type Answer =
  | { readonly kind: "coverage"; readonly reached: readonly (readonly number[])[]; readonly failing: readonly string[] }
  | { readonly kind: "mutant"; readonly id: number; readonly killer: string | null };

/** Time limit of a mutant: a mutant loops forever if it drops the rule that ends a loop. */
const TIMEOUT_MS = 30_000;

const start = (bundle: string) => new Worker(bundle, { resourceLimits: { maxOldGenerationSizeMb: 2048 } });

async function ask(worker: Worker, task: Task): Promise<Answer> {
  const timeout = AbortSignal.timeout(task.kind === "coverage" ? 600_000 : TIMEOUT_MS);
  worker.postMessage(task);
  const [answer] = await once(worker, "message", { signal: timeout });
  return answer;
}

/**
 * Runs all vectors without an active mutant. @returns for each vector, the mutants that would change something in it
 */
export async function coverageOf(bundle: string): Promise<Extract<Answer, { kind: "coverage" }>> {
  const worker = start(bundle);
  try {
    const answer = await ask(worker, { kind: "coverage" });
    if (answer.kind !== "coverage") throw new Error("a worker answered something else");
    return answer;
  } finally {
    await worker.terminate();
  }
}

/**
 * Runs each mutant against the vectors that it can affect, in several threads.
 *
 * @returns the vector that kills each mutant; null for a survivor
 */
export async function killersOf(
  bundle: string,
  tasks: readonly Extract<Task, { kind: "mutant" }>[],
  threads: number,
): Promise<ReadonlyMap<number, string | null>> {
  const killers = new Map<number, string | null>();
  const waiting = tasks.values();
  const serve = async () => {
    let worker = start(bundle);
    for (const task of waiting) {
      try {
        const answer = await ask(worker, task);
        if (answer.kind === "mutant") killers.set(answer.id, answer.killer);
      } catch {
        // The mutant counts as killed if its worker times out, runs out of memory, or fails while no vector runs.
        killers.set(task.id, "(no answer)");
        await worker.terminate();
        worker = start(bundle);
      }
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: threads }, serve));
  return killers;
}

/** A sample of a list. The seeded generator makes it reproducible. */
export function sampleOf<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  let state = seed | 1;
  const ranked = items.map((item) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return [state >>> 0, item] as const;
  });
  return ranked
    .toSorted(([one], [other]) => one - other)
    .slice(0, count)
    .map(([, item]) => item);
}
