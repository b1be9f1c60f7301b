import assert from "node:assert/strict";
import { test } from "node:test";
import { unknownParamsIn } from "./documented-params.ts";

const found = (text: string): string[] =>
  unknownParamsIn("service/src/a.ts", text).map((finding) => `${finding.line}: ${finding.found}`);

test("refuses a tag for a name that no parameter of the function has, with the tag's line", () => {
  const refused = [
    "function f(a: string) {}",
    "export async function f({ a }: A) {}",
    "export const f = (a: string) => (b: string) => a + b;",
    "type A = { f: (a: string) => void };",
    "interface A { f(a: string): void }",
    "class A { f(a: string) {} }",
    "class A { constructor(a: string) {} }",
    "function f() { return (b: string) => b; }",
    "type A = string;",
  ];
  for (const text of refused)
    assert.deepEqual(found(`/**\n * Text.\n * @param b text\n */\n${text}\n`), ["3: @param b"]);
});

test("accepts the name of a parameter, and of a member of a destructured one", () => {
  const accepted = [
    "function f(a: string, b?: string) {}",
    "export function f({ a, b = 1 }: A) {}",
    "export function f({ a: b }: A) {}",
    "export const f = async (a: string, ...b: string[]) => a;",
    "type A = { f: (b: string) => void };",
    "class A { f(b: string) {} }",
    "class A { constructor(readonly b: string) {} }",
  ];
  for (const text of accepted) assert.deepEqual(found(`/** @param b text */\n${text}\n`), [], text);
});

test("accepts a member of a parameter, and a member of a destructured parameter that the tag gives a name", () => {
  for (const text of ["function f(b: B) {}", "function f({ c }: B) {}"])
    assert.deepEqual(found(`/** @param b.c text */\n${text}\n`), [], text);
  assert.deepEqual(found("/** @param b.c text */\nfunction f(a: A) {}\n"), ["1: @param b.c"]);
});

test("names each wrong tag of a comment", () => {
  assert.deepEqual(found("/**\n * @param a text\n * @param b text\n * @param c text\n */\nfunction f(b: B) {}\n"), [
    "2: @param a",
    "4: @param c",
  ]);
});
