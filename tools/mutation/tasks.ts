import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** What a worker is asked for, and what it answers. */
export type Task =
  | { readonly kind: "coverage" }
  | { readonly kind: "mutant"; readonly id: number; readonly vectors: readonly number[] };
export type Answer =
  | { readonly kind: "coverage"; readonly reached: readonly (readonly number[])[]; readonly failing: readonly string[] }
  | { readonly kind: "mutant"; readonly id: number; readonly killer: string | null };

/** A mutant may loop without an end, where the rule that it drops was the end. */
const TIMEOUT_MS = 30_000;

const start = (bundle: string) => new Worker(bundle, { resourceLimits: { maxOldGenerationSizeMb: 2048 } });

async function ask(worker: Worker, task: Task): Promise<Answer> {
  const timeout = AbortSignal.timeout(task.kind === "coverage" ? 600_000 : TIMEOUT_MS);
  worker.postMessage(task);
  const [answer] = await once(worker, "message", { signal: timeout });
  return answer;
}

/** What each vector reaches, without a mutant. */
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
 * Runs each mutant against the vectors that it changes something in, on some threads.
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
        // Out of time, out of memory, or an error outside of a vector: a verifier that does so is noticed.
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

/** Some of a list, the same for one seed: by a generator of its own, so that a sample can be drawn again. */
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
