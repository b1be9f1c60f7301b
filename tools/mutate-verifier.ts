// Removes the verifier's refusals of bad input, one at a time, and checks whether a test vector then fails: bin/run
// tools/mutate-verifier.ts [--sample N] [--seed N] [--only TEXT] [--record]
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { bundleMutants } from "./mutation/bundle.ts";
import { nameOf } from "./mutation/mutants.ts";
import { isUncovered, reasonFor, staleSurvivors, survivorsFile, survivorsText } from "./mutation/reasons.ts";
import { coverageOf, killersOf, sampleOf } from "./mutation/tasks.ts";

const { values } = parseArgs({
  options: {
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    record: { type: "boolean", default: false },
  },
});
const { path, mutants } = await bundleMutants();
const { reached, failing } = await coverageOf(path);
// A vector that fails without a mutant is only reported here. The vectors' own tests fail on it.
for (const name of failing) console.log(`fails without a mutant: ${name}`);
const vectorsOf = new Map<number, number[]>();
reached.forEach((ids, vector) => {
  for (const id of ids) vectorsOf.set(id, [...(vectorsOf.get(id) ?? []), vector]);
});
const asked = [...mutants.entries()].filter(([, { file }]) => file.includes(values.only));
const chosen = values.sample === undefined ? asked : sampleOf(asked, Number(values.sample), Number(values.seed));
const tasks = chosen.flatMap(([id]) => {
  const vectors = vectorsOf.get(id);
  return vectors === undefined ? [] : [{ kind: "mutant", id, vectors } as const];
});
const killers = await killersOf(path, tasks, availableParallelism());
const survivors = chosen.filter(([id]) => (killers.get(id) ?? null) === null);
const open = survivors.filter(([, mutant]) => reasonFor(mutant) === undefined);
const unexplained = open.filter(([, mutant]) => !isUncovered(mutant));
const isWhole = values.sample === undefined && values.only === "";
if (values.record && isWhole) {
  writeFileSync(survivorsFile, survivorsText(open.map(([, mutant]) => mutant)));
} else {
  for (const [id, mutant] of unexplained) {
    console.log(`survived: ${nameOf(mutant)}${vectorsOf.has(id) ? "" : " (no vector would change)"}`);
  }
}
const killed = chosen.filter(([id]) => (killers.get(id) ?? null) !== null).map(([, mutant]) => mutant);
const stale = isWhole && !values.record ? staleSurvivors(mutants, killed) : [];
for (const line of stale) console.log(`killed, and still on the list of survivors: ${line}`);
const reasoned = survivors.length - open.length;
console.log(`${reached.length} vectors; of the survivors ${reasoned} have a reason, ${open.length} have no vector yet`);
console.log(`${chosen.length} mutants, ${killed.length} killed, ${survivors.length} survived`);
process.exitCode = (values.record || unexplained.length === 0) && stale.length === 0 ? 0 : 1;
