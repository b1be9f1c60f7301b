import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { temporaryFolder } from "@signsealship/testing/service";
import { bundle } from "../../../src/web/ui/bundle.ts";

const folder = temporaryFolder();
after(() => folder.remove());

function bundled(files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  return bundle(pathToFileURL(join(folder.path, "entry.ts")));
}

function run(files: Record<string, string>): unknown {
  const scope: { outcome?: unknown } = {};
  runInNewContext(bundled(files), scope);
  return scope.outcome;
}

describe("a bundle", () => {
  test("runs modules once each, before those that import them, without their types", () => {
    const outcome = run({
      "entry.ts": `import { a as first, type T } from "./a.ts";
import {
  b,
} from "./b.ts";
import type { U } from "./nowhere.ts";
const t: T & Partial<U> = { n: first() };
globalThis.outcome = [t.n, b, new (class extends Error {})("x").message].join();
`,
      "a.ts": `import { b } from "./b.ts";
export type T = { n: number };
export function a(): number { return b + 1; }
`,
      "b.ts": `globalThis.runs = (globalThis.runs ?? 0) + 1;
export const b: number = 40 + globalThis.runs;
`,
    });
    assert.equal(outcome, "42,41,x");
  });

  test("keeps modules' own names apart, and carries re-exports, renames, classes and async functions", () => {
    const outcome = run({
      "entry.ts": `import { one, Two, three } from "./a.ts";
const local = "entry";
globalThis.outcome = [local, one, new Two().name, typeof three().then].join();
`,
      "a.ts": `export { local as one } from "./b.ts";
const local = "a";
export class Two { name = local; }
async function three() {}
export { three };
`,
      "b.ts": `const local = "b";
export { local };
`,
    });
    assert.equal(outcome, "entry,b,a,function");
  });

  test("refuses forms of import and export that it does not know", () => {
    for (const line of ['import "./a.ts";', 'import * as a from "./a.ts";', "export default 1;", "export let a = 1;"]) {
      assert.throws(() => bundled({ "entry.ts": `${line}\n`, "a.ts": "" }), /cannot bundle/, line);
    }
  });
});
