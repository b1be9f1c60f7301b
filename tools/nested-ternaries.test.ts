import assert from "node:assert/strict";
import { test } from "node:test";
import { nestedTernariesIn } from "./nested-ternaries.ts";

const found = (text: string): string[] =>
  nestedTernariesIn("service/src/a.ts", text).map((finding) => `${finding.line}: ${finding.found}`);

test("refuses a ternary that is the third in another, with its line", () => {
  const refused = [
    ["x = a ? b : c ? d : e ? f : g;", "e ? f : g"],
    ["x = a ? (b ? (c ? d : e) : f) : g;", "c ? d : e"],
    ["x = (a ? (b ? c : d) : e) ? f : g;", "b ? c : d"],
    ["x = a ? b : f(c ? d : [e ? f : g]);", "e ? f : g"],
    [`x = a ? b : \`\${c ? d : \`\${e ? "f" : "g"}\`}\`;`, 'e ? "f" : "g"'],
    ["x = () => (a ? b : c ? d : e ? f : g);", "e ? f : g"],
    ["x = a ? b : c ? d : e ? f : g ? h : i;", "e ? f : g ? h : i"],
  ] as const;
  for (const [text, third] of refused) assert.deepEqual(found(`\n${text}\n`), [`2: ${third}`], text);
});

test("finds each third ternary, and shows its first line", () => {
  assert.deepEqual(found("x = a ? (b ? (c ? d : e) : f) : g ? h : i\n  ? j\n  : k;\n"), ["1: c ? d : e", "1: i"]);
});

test("accepts two ternaries in one another, and one in a function inside them", () => {
  const accepted = [
    "x = a ? b : c ? d : e;",
    "x = [a ? b : c, d ? e : f, g ? h : i];",
    "x = a ? b : c ? d : e; y = f ? g : h;",
    "x = a ? b : c ? d : (e) => (f ? g : h);",
    "x = a ? b : c ? d : { e() { return f ? g : h; } };",
    "type X<A> = A extends B ? C : A extends D ? E : A extends F ? G : H;",
    "// a ? b : c ? d : e ? f : g",
    'x = "a ? b : c ? d : e ? f : g";',
  ];
  for (const text of accepted) assert.deepEqual(found(`${text}\n`), [], text);
});
