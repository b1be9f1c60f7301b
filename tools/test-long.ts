// Runs the suites that take too long for every change: npm run test:long [NAME ...]
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ToolName, tools } from "../testing/tools/tools.ts";
import { bundleCli } from "./bundle.ts";
import { installTools } from "./install-tools.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The arguments of a command that exits with 0 when the suite passes. The command runs `times` times, once by default.
 */
type Suite = { readonly name: string; readonly args: readonly string[]; readonly times?: number };

/** The arguments that run the test files that match these globs. A new file that matches is included. */
const tests = (...patterns: readonly string[]): string[] => {
  const files = globSync([...patterns], { cwd: root }).toSorted();
  if (files.length === 0) throw new Error(`no test file matches ${patterns.join(", ")}`);
  // The suites that kill services are the slowest: one run of about 30 kills can take more than 5 minutes.
  return ["tools/test.ts", "--no-install", "--minutes", "30", ...files];
};

/** To add a suite, add a line here. */
const suites: readonly Suite[] = [
  { name: "mutation of the verifier", args: ["tools/mutate-verifier.ts"] },
  { name: "vectors", args: tests("packages/*/test/**/*vectors.test.ts", "service/test/**/*vectors.test.ts") },
  { name: "later changes", args: tests("packages/evidence/test/pdf/changes/**/*.test.ts") },
  { name: "two PDF readers", args: tests("service/test/kernel/pdf/readers/*.test.ts") },
  {
    name: "documents of all kinds",
    args: tests("service/test/evidence/seals/pdf/*.test.ts", "service/test/signing/envelopes/pdf/*.test.ts"),
  },
  {
    name: "fuzzed evidence",
    args: tests(
      "packages/**/*fuzz*.test.ts",
      "packages/verifier/test/survival.test.ts",
      "packages/evidence/test/seal/*.test.ts",
      "packages/evidence/test/log/tree.test.ts",
      "packages/evidence/test/manifest/manifest.test.ts",
      "packages/evidence/test/ots/ots.test.ts",
      "packages/evidence/test/pdf/document.test.ts",
      "packages/evidence/test/pdf/encryption.test.ts",
    ),
  },
  {
    name: "histories of money",
    args: tests(
      "service/test/orders/payments/{conservation,charges/stuck-charges,events/event-locks}.test.ts",
      "service/test/orders/payments/processor/account-histories.test.ts",
      "service/test/orders/billing/numbers.test.ts",
    ),
  },
  { name: "pages in every look", args: tests("service/test/**/*.browser.test.ts") },
  { name: "costly documents in every request", args: tests("service/test/faults/costly-documents.test.ts") },
  { name: "live media", args: tests("service/test/providers/media/*.long.ts", "service/test/pages/live/*.long.ts") },
  { name: "upgrades", args: tests("service/test/upgrades/*.long.ts") },
  { name: "schemathesis", args: tests("service/test/kernel/http/schemathesis.test.ts") },
  { name: "EU DSS", args: tests("packages/evidence/test/seal/dss.test.ts") },
  { name: "100,000 leaves", args: tests("service/test/evidence/transparency-log/fsck.test.ts") },
  { name: "1,000 kills of the log", args: tests("service/test/evidence/transparency-log/kills.test.ts"), times: 34 },
  { name: "a zip of 1 GiB", args: tests("service/test/closing/deliveries/zip-memory.test.ts") },
  // One run kills the service once at each point that these files name, during a closing's payment, fax and label. The
  // suite "1,000 kills" kills it during signing and delivery.
  {
    name: "20 kills at each point of a closing",
    args: tests(
      "service/test/orders/payments/**/*-{kill,kills}.test.ts",
      "service/test/orders/payments/checkout/{checkout,room-checkout,second-checkout}.test.ts",
      "service/test/orders/payments/{methods/test-methods,events/webhook}.test.ts",
      "service/test/delivery/faxing/ahead-kills.test.ts",
      "service/test/delivery/shipping/readdress.test.ts",
    ),
    times: 20,
  },
  // A run of this file kills a media process, a service, and one of two services.
  {
    name: "51 kills in live sessions",
    args: tests("service/test/signing/notaries/sessions/live-kills.test.ts"),
    times: 17,
  },
  // A run of these files kills services 28 times.
  {
    name: "1,000 kills",
    args: tests("service/test/**/*crash.test.ts", "service/test/faults/chaos.test.ts"),
    times: 36,
  },
];

const secondsSince = (from: number): number => Math.round((performance.now() - from) / 1000);

const line = (name: string, passed: boolean, from: number): void =>
  console.log(`${passed ? "passed" : "FAILED"}  ${name}  ${secondsSince(from)} s`);

/**
 * The number of runs at the same time. It is above the number of processors, because runs of repeated suites mostly
 * wait.
 */
const places = 2 * availableParallelism();
let busy = 0;
const waiting: (() => void)[] = [];

/**
 * Waits until one of the `places` is free, and runs the work there. Then gives the place to the work that has waited
 * longest.
 */
async function inPlace<T>(work: () => Promise<T>): Promise<T> {
  if (busy < places) busy += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else busy -= 1;
  }
}

/** Runs a suite as often as configured, and prints its output on failure. @returns whether all runs passed */
async function run({ name, args, times = 1 }: Suite): Promise<boolean> {
  const from = performance.now();
  let begun = 0;
  let ended = 0;
  let failure: string | null = null;
  const repeat = async () => {
    while (failure === null && begun < times) {
      begun += 1;
      failure = (await inPlace(() => failureOf(args))) ?? failure;
      ended += 1;
      if (times > 1) console.log(`        ${name}: ${ended} of ${times} runs after ${secondsSince(from)} s`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(times, places) }, repeat));
  line(name, failure === null, from);
  if (failure !== null) console.log(failure);
  return failure === null;
}

/** Runs a command. @returns its output if it fails, null if it exits with 0 */
function failureOf(args: readonly string[]): Promise<string | null> {
  const env = { ...process.env, FUZZ: "long", CI: "true", TEST_CLI: cli };
  return new Promise((resolve) =>
    execFile(join(root, "bin/run"), args, { cwd: root, env, maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      resolve(error === null ? null : `${stdout}${stderr}`),
    ),
  );
}

const asked = process.argv.slice(2);
const chosen = suites.filter(({ name }) => asked.length === 0 || asked.some((part) => name.includes(part)));
if (chosen.length === 0)
  throw new Error(`there is no such suite; the suites are: ${suites.map(({ name }) => name).join(", ")}`);
installTools(Object.keys(tools) as ToolName[]);
// Most of the time after a kill is the restart of the service, which takes half as long from a bundle.
const { main: cli } = await bundleCli();
let passed = 0;
for (const suite of chosen.filter(({ times }) => times === undefined)) if (await run(suite)) passed += 1;
const repeated = await Promise.all(chosen.filter(({ times }) => times !== undefined).map(run));
passed += repeated.filter(Boolean).length;
console.log(`${passed} passed, ${chosen.length - passed} failed`);
process.exitCode = passed === chosen.length ? 0 : 1;
