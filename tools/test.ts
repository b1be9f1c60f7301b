// Runs every *.test.ts of the repository, or the files named: npm test [-- --slowest] [--no-install] [FILE ...]
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundleCli } from "./bundle-cli.ts";
import { installTools } from "./install-tools.ts";
import { memoryFolder } from "./memory-folder.ts";
import { report } from "./test-report.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { slowest: { type: "boolean", default: false }, "no-install": { type: "boolean", default: false } },
});
const patterns = [
  "packages/*/test/**/*.test.ts",
  "service/test/**/*.test.ts",
  "testing/**/*.test.ts",
  "tools/**/*.test.ts",
  "bench/**/*.test.ts",
];
const isCi = (process.env["CI"] ?? "") !== "";
if (!values["no-install"]) installTools();
// A run of all files starts some 300 processes.
if (positionals.length === 0) process.env["TEST_CLI"] = await bundleCli();
const memory = memoryFolder();
if (memory !== null) process.env["TMPDIR"] = memory;

const events = run({
  cwd: root,
  files: positionals.length > 0 ? positionals : globSync(patterns, { cwd: root }).sort(),
  // Files wait for disks, clocks and browsers about a third of their time.
  concurrency: availableParallelism() + 2,
  timeout: 300_000,
  execArgv: [`--import=${join(root, "testing/end-of-file.ts")}`],
});
const options = { root, allowSkips: !isCi, slowest: values.slowest ? 15 : 0 };
process.exitCode = await report(events, options, (text) => process.stdout.write(text));
