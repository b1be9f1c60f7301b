import assert from "node:assert/strict";
import { test } from "node:test";
import { createWorkerPool } from "../../../src/kernel/platform/workers/pool.ts";
import { printsIn } from "../../../src/orders/templates/prints.ts";
import { costlyForm } from "./costly-form.ts";

test("recognizing a deliberately slow form ends after three seconds of processor time, without a result", async () => {
  const form = costlyForm(30);
  assert.ok(form.length < 240_000, `${form.length} bytes`);
  const killed: string[] = [];
  const workers = createWorkerPool({
    size: 1,
    heapMb: 512,
    processMb: 16_384,
    onKilled: (task, why) => killed.push(`${task}: ${why}`),
  });
  try {
    const before = process.cpuUsage();
    assert.equal(await printsIn(workers, "firm", form), null);
    const { user, system } = process.cpuUsage(before);
    assert.deepEqual(killed, ["recognize a form: time"]);
    // The measured CPU time includes the start and the end of the worker thread.
    assert.ok((user + system) / 1e6 < 6, `${(user + system) / 1e6} s`);
  } finally {
    await workers.close();
  }
});
