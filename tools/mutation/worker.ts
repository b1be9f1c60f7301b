// Runs vectors under one mutant after another, in a worker thread. The bundle has a switch at each mutant.
import { parentPort } from "node:worker_threads";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import { logChecks } from "../../packages/evidence/test/log/log-vectors.ts";
import { partChecks } from "../../packages/evidence/test/part-checks.ts";
import { plainChecks } from "../../packages/evidence/test/plain-vectors.ts";
import { sealChecks } from "../../packages/evidence/test/seal/seal-vectors.ts";
import { structureChecks, type VectorCheck } from "../../packages/evidence/test/vector-cases.ts";
import { wholeChecks } from "../../packages/verifier/test/whole-checks.ts";
import type { Answer, Task } from "./tasks.ts";

declare const $mutation: { active: number; seen: Set<number> | null };

const crypto = createWebCrypto(globalThis.crypto.subtle);
const checks: readonly VectorCheck[] = [
  ...structureChecks(crypto),
  ...plainChecks(),
  ...partChecks(crypto),
  ...logChecks(),
  ...sealChecks(crypto),
  ...wholeChecks(),
];

/** For each vector: the mutants that may affect it. A mutant is left out if its switch would never change a value. */
async function coverage(): Promise<Answer> {
  const reached: number[][] = [];
  const failing: string[] = [];
  for (const { name, run } of checks) {
    $mutation.seen = new Set();
    try {
      await run();
      reached.push([...$mutation.seen]);
    } catch {
      // A vector that fails without a mutant counts as affected by no mutant. Otherwise it would kill every mutant that
      // it reaches.
      failing.push(name);
      reached.push([]);
    }
  }
  $mutation.seen = null;
  return { kind: "coverage", reached, failing };
}

/** The first vector that distinguishes the mutant from the verifier; null when none does. */
async function killerOf(id: number, vectors: readonly number[]): Promise<string | null> {
  $mutation.active = id;
  try {
    for (const index of vectors) {
      const check = checks[index];
      try {
        await check?.run();
      } catch {
        return check?.name ?? "";
      }
    }
    return null;
  } finally {
    $mutation.active = -1;
  }
}

parentPort?.on("message", async (task: Task) => {
  const answer: Answer =
    task.kind === "coverage"
      ? await coverage()
      : { kind: "mutant", id: task.id, killer: await killerOf(task.id, task.vectors) };
  parentPort?.postMessage(answer);
});
