import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

const ambient =
  /\bDate\.now\(|\bperformance\.(?:now|timeOrigin)\b|\bhrtime\b|\bnew Date\(\)|\bMath\.random\b|(?<!deps\.)\brandomBytes\b(?!:)|\brandomUUID\b|\brandomInt\b|\bgetRandomValues\b/;
const words = /"(?:\\.|[^"\\])*"|\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g;

/** Files that may read the process's clock or randomness, and why. */
const sources: Readonly<Record<string, string>> = {
  "service/src/kernel/platform/clock.ts": "it is the clock",
  "service/src/kernel/platform/stopwatch.ts": "measures durations, which nothing stores as times",
  "service/src/kernel/platform/random.ts": "it is the randomness",
  "service/src/kernel/platform/ids.ts": "ids and codes differ whatever a caller hands in",
  "service/src/kernel/platform/column-cipher.ts": "a nonce that a caller could repeat would break AES-GCM",
  "service/src/kernel/platform/blobs/cipher.ts": "the same, and keys of blobs",
  "service/src/kernel/platform/blobs/folder.ts": "names of temporary files",
  "service/src/kernel/platform/durable-file.ts": "names of temporary files",
  "service/src/kernel/platform/secrets.ts": "makes the secret key",
  "service/src/kernel/platform/postgres/access.ts": "makes the passwords of the embedded server",
  "service/src/kernel/platform/slow-hash.ts": "salts",
  "service/src/kernel/platform/logs.ts":
    "log lines have the time of the machine, also where a test moves the service's",
  "service/src/providers/media/engine.ts": "tells a process how far the service's clock is ahead of the machine's",
  "service/src/providers/media/engine/media-main.ts":
    "is the entry of the engine's process, and reads the clock that never jumps",
};

/**
 * True if a file may read the clock. Entry points may, because they pass the clock on. Browser code uses the clock of
 * the person's device.
 */
const isFree = (file: string): boolean =>
  file === "service/src/main.ts" || file.startsWith("service/src/cli/") || file.includes("/browser/");

const readsAmbient = (source: string): boolean => ambient.test(source.replace(words, ""));

test("reads time and randomness below the entry points only in the files that provide them", () => {
  const files = globSync(["service/src/**/*.ts", "packages/{evidence,certificate}/src/**/*.ts"], { cwd: root });
  assert.ok(files.length > 500);
  const reading = files.filter((file) => !isFree(file) && readsAmbient(readFileSync(join(root, file), "utf8")));
  assert.deepEqual(reading.sort(), Object.keys(sources).sort());
});

test("distinguishes a reading from a word in a comment or a text, and from a parameter", () => {
  assert.ok(readsAmbient("const at = new Date();"));
  assert.ok(readsAmbient("const until = performance.now() + maxMs;"));
  assert.ok(readsAmbient("draw({ randomBytes })"));
  assert.ok(readsAmbient('import { randomInt } from "node:crypto";'));
  assert.ok(!readsAmbient("// as new Date() would\nconst at = new Date(text);"));
  assert.ok(!readsAmbient('say("Date.now() is not read here");'));
});
