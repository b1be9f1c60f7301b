import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";
import type { BuildOptions, OutputFile } from "esbuild";

export const keptBuilds = fileURLToPath(new URL("../node_modules/.cache/test-builds/", import.meta.url));

type Built = { outputFiles: Pick<OutputFile, "path" | "contents">[] };

// The latest build. Builds run one after another, because services in one process share esbuild: stopping it after one
// build would stop all builds.
let last: Promise<unknown> = Promise.resolve();

/** Replaces esbuild in a test run: builds with the same options share the first one's output. */
export function build(options: BuildOptions): Promise<Built> {
  const built = last.then(() => keptOrMade(options));
  last = built.catch(() => {});
  return built;
}

async function keptOrMade(options: BuildOptions): Promise<Built> {
  const file = keptBuilds + createHash("sha256").update(JSON.stringify(options)).digest("hex");
  if (existsSync(file)) return deserialize(readFileSync(file));
  const bundler = await import("esbuild");
  const { outputFiles = [] } = await bundler.build(options);
  bundler.stop();
  const made = { outputFiles: outputFiles.map(({ path, contents }) => ({ path, contents })) };
  const making = `${file}.${process.pid}`;
  mkdirSync(keptBuilds, { recursive: true });
  writeFileSync(making, serialize(made));
  renameSync(making, file);
  return made;
}

/** Does nothing, because each build already stops esbuild at its end. */
export const stop = (): void => {};
