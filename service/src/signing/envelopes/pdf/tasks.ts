import { PdfRefusal, refuseCostly } from "../../../kernel/pdf/refusal.ts";
import type { Tail } from "../../../kernel/pdf/revision/revision.ts";
import { ownBuffer, runOr, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { ActInput, ActOutput } from "./act-task.ts";
import type { CheckActInput } from "./check-act-task.ts";
import { type Preparation, type Prepared, UnfitField } from "./prepare.ts";
import type { Refused } from "./refused.ts";

const preparing: Task<Preparation, Prepared | Refused> = {
  name: "prepare a document for its signers",
  module: import.meta.resolve("./prepare-task.ts"),
  limitMs: 30_000,
};

const acting: Task<ActInput, ActOutput> = {
  name: "build an act",
  module: import.meta.resolve("./act-task.ts"),
  limitMs: 30_000,
};

const checking: Task<CheckActInput, string | null> = {
  name: "check an act",
  module: import.meta.resolve("./check-act-task.ts"),
  limitMs: 30_000,
};

type Call<Input> = { readonly holder: string; readonly bytes: Buffer | readonly Buffer[]; readonly input: Input };

/** Prepares a document in a worker. @throws PdfRefusal, UnfitField */
export async function prepareIn(workers: Workers, call: Call<Preparation>): Promise<Prepared> {
  const output = await runOr(workers, preparing, call, refuseCostly);
  if ("tail" in output) return { ...output, tail: ownBuffer(output.tail) };
  return refuse(output);
}

/** Builds the revision of an act in a worker. @throws PdfRefusal */
export async function buildActIn(workers: Workers, call: Call<ActInput>): Promise<Tail> {
  const output = await runOr(workers, acting, call, refuseCostly);
  if (output === "decoys")
    throw new PdfRefusal("too_complex", "it holds numbers that name another place for the signature");
  if (!("tail" in output)) return refuse(output);
  return { ...output.tail, tail: ownBuffer(output.tail.tail) };
}

/** Verifies a signed document in a worker. @throws PdfRefusal when the verifier rejects it */
export async function checkActIn(workers: Workers, call: Call<CheckActInput>): Promise<void> {
  const why = await runOr(workers, checking, call, refuseCostly);
  if (why !== null) throw new PdfRefusal("needs_repair", `the signature does not verify: ${why}`);
}

function refuse(refused: Refused): never {
  if ("unfit" in refused) throw new UnfitField(refused.unfit.field, refused.unfit.why);
  throw new PdfRefusal(refused.refusal.reason, refused.refusal.detail);
}
