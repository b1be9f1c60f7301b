import assert from "node:assert/strict";
import { test } from "node:test";
import { spreadLiteralsIn } from "./spread-literals.ts";

const found = (text: string): string[] =>
  spreadLiteralsIn("service/src/a.ts", text).map((finding) => `${finding.line}: ${finding.found}`);

test("refuses a literal that is spread into a literal or a call, with its line", () => {
  const refused = [
    ["a = { ...{ b, c }, d };", "...{ b, c }"],
    ["a = [...['B', 'C'], 'D'];", "...['B', 'C']"],
    ["a(...['B'], 'C');", "...['B']"],
    ["new A(...[b]);", "...[b]"],
    ["a = [...(['B'] as const), 'C'];", "...(['B'] as const)"],
    ["a = { ...({ b } satisfies B) };", "...({ b } satisfies B)"],
    ["a = { ...{} };", "...{}"],
  ] as const;
  for (const [text, spread] of refused) assert.deepEqual(found(`\n${text}\n`), [`2: ${spread}`], text);
});

test("finds also a spread literal inside another", () => {
  assert.deepEqual(found("a = { ...{ b, ...{ c } } };\n"), ["1: ...{ b, ...{ c } }", "1: ...{ c }"]);
});

test("accepts a spread of something else than a literal, and a pattern with the rest of the members", () => {
  const accepted = [
    "a = { ...(b ? { c } : {}) };",
    "a = [...(b ?? ['C'])];",
    "a = { ...b, ...b.c() };",
    "a = [...['B', 'C'].map(d)];",
    "a = (...[b, c]: D) => b;",
    "const { a, ...b } = c;",
    "// { ...{ a } }",
    'a = "{ ...{ b } }";',
  ];
  for (const text of accepted) assert.deepEqual(found(`${text}\n`), [], text);
});
