import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sealReasons } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { sealChainPem } from "../../../src/evidence/seals/certificate/certificate.ts";
import { createSealer, sealOwnDocument } from "../../../src/evidence/seals/sealer.ts";
import { systemRandom } from "../../../src/kernel/platform/random.ts";
import { createWorkerPool } from "../../../src/kernel/platform/workers/pool.ts";
import { type Task, type TaskCall, tooCostly, type Workers } from "../../../src/kernel/platform/workers/task.ts";
import type { OddInput } from "../../kernel/platform/workers/odd-task.ts";
import { memoryKey, selfSigned } from "./signers.ts";

const pool = createWorkerPool({ size: 1, heapMb: 512, processMb: 16_384 });
const clock = () => new Date();
const reason = sealReasons.closing.test;

const key = memoryKey("p-256");
const certificate = await selfSigned(key, Date.now());
const identity = { key, chain: [certificate] as const, chainPem: sealChainPem([certificate]) };
after(pool.close);

const endless = import.meta.resolve("../../kernel/platform/workers/odd-task.ts");

/** A sealer whose first runs of the named task loop until they are killed. */
function sealerOf(times: number, name: string) {
  let kills = 0;
  const workers: Workers = {
    run<Input, Output>(task: Task<Input, Output>, call: TaskCall<Input>) {
      if (task.name !== name || kills++ >= times) return pool.run(task, call);
      const odd: Task<OddInput, Output> = { name, module: endless, limitMs: 50 };
      return pool.run(odd, { holder: call.holder, input: { do: "loop" } });
    },
  };
  return createSealer({ workers, random: systemRandom, identity, clock, stamp: null });
}

for (const task of ["prepare a seal", "check a seal"]) {
  test(`a document of our own whose task "${task}" was killed for its time is sealed by another thread`, async () => {
    const { bytes } = await sealOwnDocument(sealerOf(1, task), { bytes: makePdf(), reason });
    assert.ok(bytes.length > makePdf().length);
  });

  test(`"${task}", killed twice, gives a temporary refusal that does not blame the document`, async () => {
    await assert.rejects(sealOwnDocument(sealerOf(2, task), { bytes: makePdf(), reason }), {
      name: "ServiceError",
      code: "unavailable",
    });
  });
}

test("a document that cannot be sealed is tried once, and counts as our own fault", async () => {
  const error = await sealOwnDocument(sealerOf(0, ""), { bytes: Buffer.from("no PDF"), reason }).catch(
    (e: unknown) => e,
  );
  assert.ok(error instanceof Error && !("code" in error) && !tooCostly(error), String(error));
});

test("a stranger's document that is killed for its time is refused as too costly, once", async () => {
  await assert.rejects(sealerOf(1, "prepare a seal")({ bytes: makePdf(), reason }), { code: "validation" });
});
