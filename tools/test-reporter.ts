import type { TestEvent } from "node:test/reporters";

type Failure = { name: string; file: string; message: string };

const describe = (error: unknown): string => {
  const cause = (error as { cause?: unknown }).cause ?? error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
};

/** A line for each file, the failures in full, and last `N passed, N failed`. A test that is skipped counts as failed. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0;
  const failures: Failure[] = [];
  const files = new Map<string, number>();
  for await (const { type, data } of events) {
    if (type === "test:stderr" || type === "test:stdout") continue;
    if (type !== "test:pass" && type !== "test:fail") continue;
    // A suite passes and fails with its tests; only a file that could not run at all is told by its suite.
    if (data.details.type === "suite" && type === "test:pass") continue;
    const file = data.file ?? data.name;
    const skipped = data.skip !== undefined || data.todo !== undefined;
    if (type === "test:pass" && !skipped) {
      passed++;
      files.set(file, (files.get(file) ?? 0) + 1);
      continue;
    }
    const error = type === "test:fail" ? data.details.error : "skipped or not written: every test must run";
    const ofSubtest = (error as { failureType?: string }).failureType === "subtestsFailed";
    if (!ofSubtest) failures.push({ name: data.name, file, message: describe(error) });
  }
  for (const [file, count] of files) yield `${String(count).padStart(4)}  ${file}\n`;
  for (const { name, file, message } of failures)
    yield `\nFAILED ${name}\n  ${file}\n${message.replace(/^/gm, "    ")}\n`;
  yield `\n${passed} passed, ${failures.length} failed\n`;
}
