import assert from "node:assert/strict";
import { test } from "node:test";
import { crumbsIn, longFilesIn } from "./crumbs.ts";

const nothing = { exported: new Set<string>(), importRules: "" };
const code = "export const twice = (n: number): number => 2 * n;\n";
const lines = (count: number): string => code + "// more\n".repeat(count - 1);

const found = (files: Record<string, string>, excuses = nothing): string[] =>
  crumbsIn(new Map(Object.entries(files)), excuses).map(({ file, importer }) => `${file} <- ${importer}`);

test("finds a short file with one importer, and names the importer", () => {
  const files = { "src/a/crumb.ts": lines(59), "src/b.ts": `import { twice } from "./a/crumb.ts";\n` };
  assert.deepEqual(found(files), ["src/a/crumb.ts <- src/b.ts"]);
  const types = { "src/crumb.ts": "export type A = 1;\n", "src/b.ts": `export type { A } from "./crumb.ts";\n` };
  assert.deepEqual(found(types), ["src/crumb.ts <- src/b.ts"]);
});

test("accepts a file of 60 lines, with a second importer, or without an importer", () => {
  const importer = `import { twice } from "./crumb.ts";\n`;
  assert.deepEqual(found({ "src/crumb.ts": lines(60), "src/b.ts": importer }), []);
  assert.deepEqual(found({ "src/crumb.ts": code, "src/b.ts": importer, "src/c.ts": importer }), []);
  assert.deepEqual(found({ "src/crumb.ts": code }), []);
});

test("counts an importer once, however often it imports the file", () => {
  const twice = `import { twice } from "./crumb.ts";\nexport * from "./crumb.ts";\n`;
  assert.deepEqual(found({ "src/crumb.ts": code, "src/b.ts": twice }), ["src/crumb.ts <- src/b.ts"]);
});

test("accepts files that are loaded by themselves: a worker, a script of a browser, a verb", () => {
  const types = `import type { A } from "./crumb.ts";\n`;
  // The call is built from parts, because the test runner would resolve it even inside a string.
  for (const call of ["import.meta.resolve", "import", "new URL"])
    assert.deepEqual(found({ "src/crumb.ts": code, "src/b.ts": `${types}load(${call}("./crumb.ts"));\n` }), [], call);
});

test("accepts a script that exports only types", () => {
  const importer = `import type { A } from "./crumb.ts";\n`;
  const script = "export type A = 1;\nvoid load();\n";
  assert.deepEqual(found({ "src/crumb.ts": script, "src/b.ts": importer }), []);
  assert.equal(found({ "src/crumb.ts": `${script}export function a() {}\n`, "src/b.ts": importer }).length, 1);
});

test("accepts files that a package exports, and files that an import rule names", () => {
  const files = { "src/crumb.ts": code, "src/b.ts": `import { twice } from "./crumb.ts";\n` };
  assert.deepEqual(found(files, { ...nothing, exported: new Set(["src/crumb.ts"]) }), []);
  assert.deepEqual(found(files, { ...nothing, importRules: String.raw`{ path: "/crumb\\.ts$" }` }), []);
  assert.equal(found(files, { ...nothing, importRules: String.raw`{ path: "/other-crumb\\.ts$" }` }).length, 1);
});

test("accepts a table of words, but not a file of types", () => {
  const importer = `import { words } from "./words.ts";\n`;
  const words = `// No function () => here.\nexport const words = { yes: "Yes" };\n`;
  assert.deepEqual(found({ "src/words.ts": words, "src/b.ts": importer }), []);
  assert.equal(found({ "src/words.ts": "export type Words = string;\n", "src/b.ts": importer }).length, 1);
});

test("accepts routes and schemas whose importer does not know HTTP", () => {
  const importer = `export { twice } from "./routes.ts";\n`;
  assert.deepEqual(found({ "src/routes.ts": code, "src/feature.ts": importer }), []);
  assert.equal(found({ "src/routes.ts": code, "src/all-routes.ts": importer }).length, 1);
});

test("accepts a file of a feature that only the wiring of a wing imports, but not a file next to the wiring", () => {
  const importer = `import { twice } from "./a/crumb.ts";\n`;
  for (const wiring of ["wing.ts", "orders-tasks.ts"])
    assert.deepEqual(found({ "service/src/w/a/crumb.ts": code, [`service/src/w/${wiring}`]: importer }), [], wiring);
  assert.equal(found({ "service/src/w/a/crumb.ts": code, "service/src/w/other.ts": importer }).length, 1);
  const next = `import { twice } from "./crumb.ts";\n`;
  assert.equal(found({ "service/src/w/crumb.ts": code, "service/src/w/wing.ts": next }).length, 1);
});

test("accepts a file for which its importer has no room", () => {
  const importer = `import { twice } from "./crumb.ts";\n`;
  assert.deepEqual(found({ "src/crumb.ts": lines(20), "src/b.ts": importer + "// more\n".repeat(230) }), []);
  assert.equal(found({ "src/crumb.ts": lines(20), "src/b.ts": importer + "// more\n".repeat(229) }).length, 1);
});

test("finds a file of more than 300 lines of code that is neither a dictionary, a table, nor generated", () => {
  const codeLines = (count: number): string => code.repeat(count);
  const files = {
    "src/a.ts": codeLines(301),
    "src/b.ts": codeLines(300),
    "src/words/en.ts": codeLines(400),
    "src/pages/words.ts": codeLines(400),
    "src/table.ts": `export const table = {\n${"  more: 1,\n".repeat(400)}};\n`,
    "src/made.ts": `// Generated by a tool.\n${codeLines(400)}`,
  };
  assert.deepEqual(longFilesIn(new Map(Object.entries(files))), [{ file: "src/a.ts", lines: 301 }]);
});

test("counts no blank lines and no comments as code, but lines that have both code and a comment", () => {
  const half = code.repeat(150);
  const long = (between: string) => longFilesIn(new Map([["src/a.ts", half + between + half]]));
  for (const between of ["\n  \n", "// more\n", "/* more\n\n   more */\n", "/** more\n * more\n */\n"])
    assert.deepEqual(long(between), [], between);
  for (const between of ["a(); // more\n", "/* more\n */ a();\n", 'a("// more");\n'])
    assert.deepEqual(long(between), [{ file: "src/a.ts", lines: 301 }], between);
});
