import assert from "node:assert/strict";
import { test } from "node:test";
import { crumbsIn } from "./crumbs.ts";

const nothing = { exported: new Set<string>(), importRules: "" };
const code = "export const twice = (n: number): number => 2 * n;\n";
const lines = (count: number): string => code + "// more\n".repeat(count - 1);

const found = (files: Record<string, string>, excuses = nothing): string[] =>
  crumbsIn(new Map(Object.entries(files)), excuses).map(({ file, importer }) => `${file} <- ${importer}`);

test("finds a short file with one importer, and says which", () => {
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

test("accepts what is loaded by itself: a worker, a script of a browser, a verb", () => {
  const types = `import type { A } from "./crumb.ts";\n`;
  // Composed here: the runner itself resolves such a call, also where it stands in a text.
  for (const call of ["import.meta.resolve", "import", "new URL"])
    assert.deepEqual(found({ "src/crumb.ts": code, "src/b.ts": `${types}load(${call}("./crumb.ts"));\n` }), [], call);
});

test("accepts what a package exports, and what an import rule names", () => {
  const files = { "src/crumb.ts": code, "src/b.ts": `import { twice } from "./crumb.ts";\n` };
  assert.deepEqual(found(files, { ...nothing, exported: new Set(["src/crumb.ts"]) }), []);
  assert.deepEqual(found(files, { ...nothing, importRules: String.raw`{ path: "/crumb\\.ts$" }` }), []);
  assert.equal(found(files, { ...nothing, importRules: String.raw`{ path: "/other-crumb\\.ts$" }` }).length, 1);
});

test("accepts a table of words, and no types alone", () => {
  const importer = `import { words } from "./words.ts";\n`;
  const words = `// No function () => here.\nexport const words = { yes: "Yes" };\n`;
  assert.deepEqual(found({ "src/words.ts": words, "src/b.ts": importer }), []);
  assert.equal(found({ "src/words.ts": "export type Words = string;\n", "src/b.ts": importer }).length, 1);
});

test("accepts routes and schemas whose importer knows no HTTP", () => {
  const importer = `export { twice } from "./routes.ts";\n`;
  assert.deepEqual(found({ "src/routes.ts": code, "src/feature.ts": importer }), []);
  assert.equal(found({ "src/routes.ts": code, "src/all-routes.ts": importer }).length, 1);
});

test("accepts a file that its importer has no room for", () => {
  const importer = `import { twice } from "./crumb.ts";\n`;
  assert.deepEqual(found({ "src/crumb.ts": lines(20), "src/b.ts": importer + "// more\n".repeat(230) }), []);
  assert.equal(found({ "src/crumb.ts": lines(20), "src/b.ts": importer + "// more\n".repeat(229) }).length, 1);
});
