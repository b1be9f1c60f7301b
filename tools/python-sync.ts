// Writes the Python SDK's synchronous client from its asynchronous one: bin/run tools/python-sync.ts
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../packages/sdk-python/src/signsealship", import.meta.url));

const replacements: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|for|with)\b/g, "$1"],
  [/\bawait /g, ""],
  [/\bAwaitable\[(\w+)\]/g, "$1"],
  [/\bAwaitable, /g, ""],
  [/\bAsync(?=[A-Z])/g, ""],
  [/\basyncio\b/g, "time"],
  [/\baclose\b/g, "close"],
  [/\b__a(enter|exit)__\b/g, "__$1__"],
];

const syncText = (text: string): string =>
  replacements.reduce((changed, [pattern, by]) => changed.replace(pattern, by), text);

/** The synchronous client's files, by name, as the asynchronous ones say they are. */
export function syncFiles(): Map<string, string> {
  const names = globSync("*.py", { cwd: join(source, "_async") }).sort();
  const head = "# Written from _async by tools/python-sync.ts.\n";
  return new Map(names.map((name) => [name, head + syncText(readFileSync(join(source, "_async", name), "utf8"))]));
}

/** The synchronous client's files as they are. */
export const committedSyncFiles = (): Map<string, string> =>
  new Map(
    globSync("*.py", { cwd: join(source, "_sync") })
      .sort()
      .map((name) => [name, readFileSync(join(source, "_sync", name), "utf8")]),
  );

if (import.meta.main) {
  for (const name of committedSyncFiles().keys()) rmSync(join(source, "_sync", name));
  for (const [name, text] of syncFiles()) writeFileSync(join(source, "_sync", name), text);
}
