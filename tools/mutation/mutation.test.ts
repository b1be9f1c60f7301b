import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { mutantsOf, switchable } from "./mutants.ts";

const found = (source: string) => mutantsOf("a.ts", source).map(({ as, text }) => `${as}: ${text}`);

test("drops each operand of a refusal", () => {
  assert.deepEqual(found("function f(a, b) { if (a > 1 || b) throw new Error('no'); return a; }"), [
    "false: a > 1",
    "false: b",
  ]);
  assert.deepEqual(found("const f = (a) => { if (!a) { note(); return false; } return true; };"), ["false: !a"]);
});

test("satisfies each demand of a chain, of a claim and of an assertion", () => {
  assert.deepEqual(found("const f = (a, b) => a && b.c === 1;"), ["true: a", "true: b.c === 1"]);
  assert.deepEqual(found('const state = a ? "holds" : "fails";'), ["true: a"]);
  assert.deepEqual(found('const state = a || b ? "fails" : "holds";'), ["false: a", "false: b"]);
  assert.deepEqual(found("fields.end(); list.push(1);"), ["skipped: fields.end()"]);
});

test("leaves out conditions that accept, and changes that would make a rule stricter", () => {
  assert.deepEqual(found("const f = (a) => { if (a) return true; return false; };"), []);
  assert.deepEqual(found("const f = (a) => a && { a };"), ["true: a"]);
  assert.deepEqual(found("const f = (a, b) => { if (a && b) throw new Error('no'); };"), ["false: a && b"]);
});

test("puts a switch at each mutant, and changes nothing else", () => {
  const source = "const f = (a, b) => { if (a || b) throw new Error('ü'); return a && b; };";
  const switched = switchable(source, mutantsOf("a.ts", source), 7);
  assert.equal(
    switched,
    "const f = (a, b) => { if ($false(7, a) || $false(8, b)) throw new Error('ü'); return $true(9, a) && $true(10, b); };",
  );
});

test("a sample of the verifier's rules each has a vector, or is on the list of those without one", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const args = ["tools/mutate-verifier.ts", "--sample", "80"];
  const { status, stdout, stderr } = spawnSync(`${root}bin/run`, args, { cwd: root, encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
});
