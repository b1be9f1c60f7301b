// Runs every *.test.ts of the repository, or the files named: npm test [-- FILE ...]
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const named = process.argv.slice(2);
const patterns = [
  "packages/*/test/**/*.test.ts",
  "service/test/**/*.test.ts",
  "testing/**/*.test.ts",
  "bench/**/*.test.ts",
];
const files = named.length > 0 ? named : globSync(patterns, { cwd: root }).sort();

const child = spawn(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${availableParallelism()}`,
    "--test-timeout=300000",
    `--test-reporter=${join(root, "tools/test-reporter.ts")}`,
    "--test-reporter-destination=stdout",
    ...files,
  ],
  { cwd: root, stdio: "inherit" },
);
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
