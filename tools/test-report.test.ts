import assert from "node:assert/strict";
import { test } from "node:test";
import { type Outcome, replaceWithSecondRun, report } from "./test-report.ts";

const outcome = (passed: Record<string, number>, failed: readonly string[]): Outcome => ({
  passed: new Map(Object.entries(passed)),
  failures: failed.map((file) => ({ name: `a test of ${file}`, file, message: "1 !== 2" })),
  unsteady: [],
  skips: [],
  seconds: new Map(),
  summed: new Set(),
});

const printed = (from: Outcome): { code: number; text: string } => {
  let text = "";
  const code = report(from, 0, (part) => {
    text += part;
  });
  return { code, text };
};

test("a test that failed once and passed when its file ran alone is printed by name, and the run passes", () => {
  const first = outcome({ "a.test.ts": 3, "b.test.ts": 1 }, ["b.test.ts"]);
  replaceWithSecondRun(first, outcome({ "b.test.ts": 2 }, []));
  const { code, text } = printed(first);
  assert.equal(code, 0);
  assert.match(text, /UNSTEADY \(it passed when its file ran alone\) a test of b\.test\.ts/);
  assert.match(text, /\n5 passed, 0 failed\n$/);
});

test("a test that fails in both runs fails the run", () => {
  const first = outcome({ "a.test.ts": 3 }, ["b.test.ts", "c.test.ts"]);
  replaceWithSecondRun(first, outcome({ "c.test.ts": 1 }, ["b.test.ts"]));
  const { code, text } = printed(first);
  assert.equal(code, 1);
  assert.match(text, /FAILED a test of b\.test\.ts/);
  assert.match(text, /UNSTEADY .* a test of c\.test\.ts/);
  assert.match(text, /\n4 passed, 1 failed\n$/);
});
