import { createHash } from "node:crypto";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { pageTexts } from "../service/src/signing/envelopes/pdf/placement/tags/page-texts.ts";
import { mayHoldTags } from "../service/src/signing/envelopes/pdf/placement/tags/tag-fields.ts";
import { tryAll } from "../service/src/signing/envelopes/preflight/trial.ts";
import { atMost, type Result } from "./result.ts";

const rounds = 31;
async function milliseconds(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function readAll(bytes: Buffer): Promise<void> {
  for await (const _ of pageTexts(bytes));
}

/**
 * The cost of an order's trial signing, and of the quick search for text tags that mark fields. Both are compared with
 * the full text extraction, which the quick search avoids.
 */
export async function run(): Promise<Result[]> {
  const bytes = makePdf({ pages: 3, bytes: 100 * 1024 });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const trial = { sha256, signers: ["Jane Doe", "Bob Roe"], fields: null };
  const times = { trial: [] as number[], look: [] as number[], reader: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.trial.push(await milliseconds(() => tryAll(bytes, trial)));
    times.look.push(await milliseconds(() => mayHoldTags(bytes)));
    times.reader.push(await milliseconds(() => readAll(bytes)));
  }
  return [
    atMost("trial of signing, 100 KB PDF, 2 signers", times.trial, times.reader, "ms", 1),
    atMost("look for tags, 100 KB PDF without any", times.look, times.reader, "ms", 0.1),
  ];
}
