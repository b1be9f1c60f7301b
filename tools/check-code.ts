// Refuses source files that are too long, or too short to stand alone (tools/crumbs.ts). Also refuses functions that
// are too long (tools/long-functions.ts), and literals that are spread into a literal (tools/spread-literals.ts). Also
// refuses ternaries that are nested three deep (tools/nested-ternaries.ts), and documentation of parameters that don't
// exist (tools/documented-params.ts): npm run check
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { crumbsIn, longFilesIn } from "./crumbs.ts";
import { unknownParamsIn } from "./documented-params.ts";
import { longFunctionsIn } from "./long-functions.ts";
import { nestedTernariesIn } from "./nested-ternaries.ts";
import { spreadLiteralsIn } from "./spread-literals.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");

const sources = tracked.filter((file) => /^(?:service|packages\/[^/]+)\/src\/.*\.ts$/.test(file));
const exported = tracked
  .filter((file) => /^packages\/[^/]+\/package\.json$/.test(file))
  .flatMap((file) => exportsOf(file).map((path) => join(dirname(file), path)));

function exportsOf(manifest: string): string[] {
  const { exports = {} } = JSON.parse(read(manifest)) as { exports?: Record<string, string> };
  return Object.values(exports);
}

const excuses = { exported: new Set(exported), importRules: read(".dependency-cruiser.cjs") };
const texts = new Map(sources.map((file) => [file, read(file)]));
for (const { file, lines, importer } of crumbsIn(texts, excuses)) {
  console.error(`${file}: has ${lines} lines and one importer: merge it into ${importer}, or with its siblings`);
  process.exitCode = 1;
}
for (const { file, lines } of longFilesIn(texts)) {
  console.error(`${file}: has ${lines} lines of code, and may have 300: split it by meaning`);
  process.exitCode = 1;
}
for (const { file, line, name, lines } of longFunctionsIn(texts)) {
  console.error(`${file}:${line}: ${name || "a function"} has ${lines} lines, and may have 80: split it by meaning`);
  process.exitCode = 1;
}
const rules = [
  { findIn: spreadLiteralsIn, is: "spreads a literal" },
  { findIn: nestedTernariesIn, is: "is nested three deep" },
  { findIn: unknownParamsIn, is: "names no parameter" },
];
for (const file of tracked.filter((each) => each.endsWith(".ts"))) {
  const text = read(file);
  for (const { findIn, is } of rules)
    for (const { line, found, better } of findIn(file, text)) {
      console.error(`${file}:${line}: "${found}" ${is}: write ${better}`);
      process.exitCode = 1;
    }
}
