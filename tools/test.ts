// Runs every *.test.ts of the repository, or the files named: npm test [-- --slowest] [--no-install] [--minutes N]
// [FILE ...]
import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { run } from "node:test";
import type { TestEvent } from "node:test/reporters";
import { parseArgs } from "node:util";
import { bundleCli, bundleTests } from "./bundle.ts";
import { installTools, toolsOf } from "./install-tools.ts";
import { memoryFolder } from "./memory-folder.ts";
import { startHosts } from "./start-hosts.ts";
import { filesWithFailures, outcomeOf, replaceWithSecondRun, report } from "./test-report.ts";
import { root, sourceOf } from "./test-sources.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    slowest: { type: "boolean", default: false },
    "no-install": { type: "boolean", default: false },
    minutes: { type: "string", default: "5" },
  },
});
const patterns = [
  "packages/*/test/**/*.test.ts",
  "service/test/**/*.test.ts",
  "testing/**/*.test.ts",
  "tools/**/*.test.ts",
  "bench/**/*.test.ts",
];
const isCi = (process.env["CI"] ?? "") !== "";
if (!values["no-install"]) installTools(positionals.length > 0 ? toolsOf(positionals) : undefined);

/**
 * Starts the slowest files first, so that none of them runs alone at the end. First are tests of the tools, which build
 * things, then browser tests and files that repeat something. Within a group, larger files are first.
 */
function longestFirst(files: string[]): string[] {
  const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const source = (file: string) => sources.get(file) ?? "";
  const isSlow = (file: string) => file.includes(".browser.") || /\b(?:repeats|fuzzRuns)\(/.test(source(file));
  const kind = (file: string) => (file.startsWith("tools/") ? 0 : isSlow(file) ? 1 : 2);
  return files.sort((a, b) => kind(a) - kind(b) || source(b).length - source(a).length);
}

/** Builds the bundles and starts the hosts with which all test files run services and verbs. */
async function prepareServices(): Promise<void> {
  const { main, serviceHost, verbHost } = await bundleCli();
  process.env["TEST_CLI"] = main;
  process.env["TEST_HOSTS"] = JSON.stringify(await startHosts(serviceHost, verbHost));
}

/**
 * Bundles all test files, and starts the hosts of services and verbs. A run of all files starts about 500 processes,
 * which load bundles faster.
 */
async function allFiles(): Promise<string[]> {
  const [files] = await Promise.all([bundleTests(longestFirst(globSync(patterns, { cwd: root }))), prepareServices()]);
  return files;
}

const memory = memoryFolder();
if (memory !== null) process.env["TMPDIR"] = memory;

const isWalk = (file: string): boolean =>
  sourceOf(resolve(root, file)).endsWith("service/test/pages/live/session.browser.test.ts");
/** True for tests of the verifier and of PDFs, which start no service and no browser. */
const isPure = (file: string): boolean =>
  /^(?:packages\/(?:evidence|verifier)|service\/test\/(?:kernel|evidence\/seals|signing\/envelopes)\/pdf)\//.test(
    relative(root, sourceOf(resolve(root, file))),
  );

/** Merges the events of two runs that go on at the same time. */
async function* together(first: AsyncIterable<TestEvent>, second: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  const runs = [first, second].map((events) => events[Symbol.asyncIterator]());
  const next = new Map(runs.map((each) => [each, each.next()]));
  while (next.size > 0) {
    const [each, { done, value }] = await Promise.race(
      [...next].map(async ([each, result]) => [each, await result] as const),
    );
    if (done) next.delete(each);
    else {
      next.set(each, each.next());
      yield value;
    }
  }
}

/**
 * Runs files, `concurrency` at a time. After them, runs the walk through live sessions, together with the
 * pure tests. The walk sends video between browsers for minutes, and mostly waits. Among other files, it got too little
 * CPU time. The pure tests run at the lowest priority next to the walk.
 */
async function* eventsOf(files: string[], concurrency: number): AsyncGenerator<TestEvent> {
  const walk = files.filter(isWalk);
  const withWalk = walk.length > 0 && concurrency > 1 ? files.filter(isPure) : [];
  const others = files.filter((file) => !walk.includes(file) && !withWalk.includes(file));
  const timeout = Number(values.minutes) * 60_000;
  const execArgv = [`--import=${join(root, "testing/end-of-file.ts")}`];
  const lowPriority = '--import=data:text/javascript,import{setPriority}from"node:os";setPriority(19)';
  if (others.length > 0) yield* run({ cwd: root, files: others, concurrency, timeout, execArgv });
  if (walk.length === 0) return;
  const walking = run({ cwd: root, files: walk, concurrency: 1, timeout, execArgv });
  if (withWalk.length === 0) yield* walking;
  else
    yield* together(
      walking,
      run({ cwd: root, files: withWalk, concurrency: 2, timeout, execArgv: [lowPriority, ...execArgv] }),
    );
}

const runFiles = (files: string[], concurrency: number): ReturnType<typeof outcomeOf> =>
  outcomeOf(eventsOf(files, concurrency), { root, allowSkips: !isCi });

const files = positionals.length > 0 ? positionals : await allFiles();
// Runs two more files at a time than there are processors, because files often wait: a third of their time, for disks,
// clocks and browsers.
const outcome = await runFiles(files, availableParallelism() + 2);
// On a busy machine, a time limit can end a test without a defect. So in CI, the few files that failed run once more,
// one at a time: a real defect fails again. The tests that failed only the first time are printed by name.
const failed = filesWithFailures(outcome);
const again = files.filter((file) => failed.has(relative(root, sourceOf(resolve(root, file)))));
const isWholeRun = isCi && positionals.length === 0;
if (isWholeRun && again.length === failed.size && again.length <= 5 && again.length > 0)
  replaceWithSecondRun(outcome, await runFiles(again, 1));
process.exitCode = report(outcome, values.slowest ? 15 : 0, (text) => process.stdout.write(text));
