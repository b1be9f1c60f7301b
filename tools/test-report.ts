import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import { wants } from "../testing/tools/tools.ts";
import { installCommand } from "./install-tools.ts";
import { atSources, sourceOf } from "./test-sources.ts";

type Result = { name: string; file: string; message: string };

/**
 * The results of a run. `seconds` holds the duration of each file. `summed` lists the files that ran to their end.
 * `unsteady` lists the tests that failed, and passed when their file ran alone.
 */
export type Outcome = {
  passed: Map<string, number>;
  failures: Result[];
  unsteady: Result[];
  skips: Result[];
  seconds: Map<string, number>;
  summed: Set<string>;
};

const describe = (error: unknown): string => {
  const cause = (error as { cause?: unknown }).cause ?? error;
  return cause instanceof Error ? atSources(cause.stack ?? cause.message) : inspect(cause);
};

/**
 * Records the event of one test. A test that was skipped because a tool is missing counts as skipped if `allowSkips`;
 * any other skip counts as a failure.
 */
function note(outcome: Outcome, { type, data }: TestEvent, root: string, allowSkips: boolean): void {
  const { entryFile } = data as { entryFile?: string };
  const nameOf = (path: string) => relative(root, sourceOf(path));
  if (type === "test:summary" && data.file !== undefined) outcome.summed.add(nameOf(data.file));
  // An event without an entry file comes from the runner, and is about a whole file.
  if (type === "test:complete" && entryFile === undefined && data.file !== undefined)
    outcome.seconds.set(nameOf(data.file), data.details.duration_ms / 1000);
  if (type !== "test:pass" && type !== "test:fail") return;
  // A suite that passed is not counted, because its tests are. A suite that failed is counted, because a file that
  // could not run reports no tests.
  const isSkipped = data.skip !== undefined || data.todo !== undefined;
  if (data.details.type === "suite" && type === "test:pass" && !isSkipped) return;
  const file = nameOf(entryFile ?? data.file ?? data.name);
  const { name } = data;
  if (type === "test:fail") {
    const { error } = data.details;
    const isOfSubtest = (error as { failureType?: string }).failureType === "subtestsFailed";
    if (!isOfSubtest) outcome.failures.push({ name, file, message: describe(error) });
  } else if (!isSkipped) outcome.passed.set(file, (outcome.passed.get(file) ?? 0) + 1);
  else {
    const message = typeof data.skip === "string" ? data.skip : "skipped or not written: every test must run";
    (allowSkips && message.startsWith(wants) ? outcome.skips : outcome.failures).push({ name, file, message });
  }
}

function skipLines(skips: Result[]): string {
  if (skips.length === 0) return "";
  const lines = skips.map(({ name, file, message }) => `SKIPPED ${name} (${message})\n  ${file}`);
  const command = installCommand();
  const hint = command === null ? "" : `; install them: ${command}`;
  return `\n${lines.join("\n")}\n\n${skips.length} skipped for want of tools${hint}\n`;
}

/** Reads the events of a run to its end. A file whose process ended before its tests did counts as failed. */
export async function outcomeOf(
  events: AsyncIterable<TestEvent>,
  { root, allowSkips }: { root: string; allowSkips: boolean },
): Promise<Outcome> {
  const outcome: Outcome = {
    passed: new Map(),
    failures: [],
    unsteady: [],
    skips: [],
    seconds: new Map(),
    summed: new Set(),
  };
  for await (const event of events) note(outcome, event, root, allowSkips);
  const failed = filesWithFailures(outcome);
  for (const file of outcome.seconds.keys())
    if (!outcome.summed.has(file) && !failed.has(file))
      outcome.failures.push({ name: "the whole file", file, message: "It ended before its tests did." });
  return outcome;
}

/** The files in which a test failed. */
export const filesWithFailures = ({ failures }: Outcome): ReadonlySet<string> =>
  new Set(failures.map(({ file }) => file));

const failureText = (word: string, { name, file, message }: Result): string =>
  `\n${word} ${name}\n  ${file}\n${message.replace(/^/gm, "    ")}\n`;

/** Replaces the results of the files with failures by the results of their second run. */
export function replaceWithSecondRun(first: Outcome, second: Outcome): void {
  const again = filesWithFailures(first);
  const failedAgain = filesWithFailures(second);
  first.unsteady = first.failures.filter(({ file }) => !failedAgain.has(file));
  first.failures = second.failures;
  for (const file of again) first.passed.set(file, second.passed.get(file) ?? 0);
}

/**
 * Prints a line per file, all failures, and the tests that failed only in the first of two runs. Then prints the
 * slowest files if requested, the skipped tests, and `N passed, N failed`.
 * @returns the exit code
 */
export function report(outcome: Outcome, slowest: number, print: (text: string) => void): number {
  const { passed, failures, unsteady, skips, seconds } = outcome;
  for (const [file, count] of passed) print(`${String(count).padStart(4)}  ${file}\n`);
  for (const failure of failures) print(failureText("FAILED", failure));
  for (const failure of unsteady) print(failureText("UNSTEADY (it passed when its file ran alone)", failure));
  const bySeconds = [...seconds].sort(([, a], [, b]) => b - a).slice(0, slowest);
  for (const [file, each] of bySeconds) print(`${each.toFixed(1).padStart(7)} s  ${file}\n`);
  print(skipLines(skips));
  const total = [...passed.values()].reduce((sum, count) => sum + count, 0);
  print(`\n${total} passed, ${failures.length} failed\n`);
  return failures.length > 0 ? 1 : 0;
}
