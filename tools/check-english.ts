// Refuses wordings that are hard to read, in comments, in Markdown, in strings and in names: npm run check
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refusedTexts, refusedWordings } from "./english.ts";
import { refusedIdentifiers } from "./identifiers.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const checked = /\.(?:ts|mjs|cjs|py|sql|sh|css|ya?ml|md)$/;
// Files that are not checked: the patterns and their test, test vectors, texts that signers agreed to, and the
// migrations up to 0199, whose hashes databases have recorded. Later migrations are checked.
const exempt = /^tools\/english(?:\.test)?\.ts$|\/vectors\/|^service\/data\/consent\/|^service\/migrations\/0[01]\d\d_/;

/** Files whose strings people read: the product's own source, and the tools without their tests. */
const worded = /^(?:(?:service|packages\/[a-z]+)\/src|tools)\/.*(?<!\.test)\.ts$/;

/** Files whose names are checked: the product's own source. Tests may name the two sides of a comparison freely. */
const named = /^(?:service|packages\/[a-z]+)\/src\/.*\.ts$/;

// With a folder or file as its argument, the program checks only that folder or file.
const [asked = ""] = process.argv.slice(2);
const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
let refused = 0;
for (const file of files) {
  if (!file.startsWith(asked) || !checked.test(file) || exempt.test(file)) continue;
  const text = readFileSync(join(root, file), "utf8");
  for (const { line, found, better } of [
    ...refusedWordings(file, text),
    ...(worded.test(file) ? refusedTexts(file, text) : []),
    ...(named.test(file) ? refusedIdentifiers(file, text) : []),
  ]) {
    console.error(`${file}:${line}: "${found}" is hard to read: write ${better}`);
    refused += 1;
  }
}
if (refused > 0) process.exitCode = 1;
