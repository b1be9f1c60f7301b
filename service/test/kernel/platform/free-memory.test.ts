import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const source = import.meta.resolve("../../../src/kernel/platform/bounds/free-memory.ts");

// V8 reports an unknown flag on standard error, and continues.
test("sets a flag that this version of V8 has", async () => {
  const script = `import { keepRowsYoung } from ${JSON.stringify(source)}; keepRowsYoung(); console.log("set");`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  assert.deepEqual({ stdout, stderr }, { stdout: "set\n", stderr: "" });
});
