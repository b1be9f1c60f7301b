import assert from "node:assert/strict";
import { test } from "node:test";
import { longFunctionsIn } from "./long-functions.ts";

/** The text of a file with one function of `lines` lines. `begin` is its first line, `end` its last. */
const of = (lines: number, begin: string, end = "}"): string => `${begin}\n${"  more();\n".repeat(lines - 2)}${end}\n`;

const found = (text: string): string[] =>
  longFunctionsIn(new Map([["src/a.ts", text]])).map(
    ({ file, line, name, lines }) => `${file}:${line} ${name} ${lines}`,
  );

test("finds a function of 81 lines, and accepts one of 80", () => {
  assert.deepEqual(found(of(81, "export function act(a: string): void {")), ["src/a.ts:1 act 81"]);
  assert.deepEqual(found(of(80, "export function act(a: string): void {")), []);
});

test("names a function by the constant, the property or the method that holds it", () => {
  assert.deepEqual(found(of(81, "const act = (): void => {", "};")), ["src/a.ts:1 act 81"]);
  assert.deepEqual(found(`const acts = {\n${of(81, "act() {", "},")}};\n`), ["src/a.ts:2 act 81"]);
  assert.deepEqual(found(`class Acts {\n${of(81, "act(): void {")}}\n`), ["src/a.ts:2 act 81"]);
  assert.deepEqual(found(of(81, "acts.forEach(() => {", "});")), ["src/a.ts:1  81"]);
});

test("counts the lines of templates and comments, and empty lines", () => {
  const page = (inner: string): string => `const page = () => (\n${inner}\n);\n`;
  for (const text of ["text\n".repeat(78), "\n".repeat(78)]) {
    assert.deepEqual(found(page(`\`${text}\``)), ["src/a.ts:1 page 81"]);
    assert.deepEqual(found(page(`/*${text}*/ 1`)), ["src/a.ts:1 page 81"]);
  }
});

test("finds both a long function and the long function around it", () => {
  const inner = of(81, "  function inner() {", "  }");
  assert.deepEqual(found(`function outer() {\n${inner}}\n`), ["src/a.ts:1 outer 83", "src/a.ts:2 inner 81"]);
});

test("counts correctly after characters that take several bytes", () => {
  const before = "// „Größe“ 𝄞 漢字\n";
  assert.deepEqual(found(before + of(81, "function act() {")), ["src/a.ts:2 act 81"]);
  assert.deepEqual(found(before + of(80, "function act() {")), []);
});

test("refuses a file that is not TypeScript", () => {
  assert.throws(() => found("function {"), /^Error: src\/a\.ts: /);
});
