import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { type Mutant, mutantsOf, switchable } from "./mutants.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Sources that write evidence and never refuse input. */
const WRITERS = new Set(["asn1/writer.ts", "ots/write.ts", "ots/merge.ts", "manifest/build.ts"]);

/**
 * The functions that switch mutants on. The switch of an inactive mutant returns its input. If `seen` is set, it also
 * records that the mutant would have returned another value. `$skip` returns true only for the active mutant, and
 * records every call.
 */
const SWITCHES = `
const $mutation = (globalThis.$mutation = { active: -1, seen: null });
const $false = (id, value) => {
  if (value && $mutation.seen !== null) $mutation.seen.add(id);
  return id === $mutation.active ? false : value;
};
const $true = (id, value) => {
  if (!value && $mutation.seen !== null) $mutation.seen.add(id);
  return id === $mutation.active ? value || true : value;
};
const $skip = (id) => {
  if ($mutation.seen !== null) $mutation.seen.add(id);
  return id === $mutation.active;
};
`;

const switches = (sources: ReadonlyMap<string, string>): Plugin => ({
  name: "switches",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = sources.get(path) ?? (await readFile(path, "utf8"));
      // Lets a bundled module find its files where its source would find them.
      const own = JSON.stringify(pathToFileURL(path).href);
      return { contents: contents.replaceAll("import.meta.url", own), loader: "ts" };
    });
  },
});

/** Bundles the vectors, the verifier and all of its mutants into one file. */
export async function bundleMutants(): Promise<{ readonly path: string; readonly mutants: readonly Mutant[] }> {
  const folder = "packages/evidence/src/";
  const path = join(root, "node_modules/.cache/mutation/worker.mjs");
  const mutants: Mutant[] = [];
  const sources = new Map<string, string>();
  for (const file of globSync("**/*.ts", { cwd: join(root, folder) }).toSorted()) {
    if (WRITERS.has(file)) continue;
    const source = readFileSync(join(root, folder, file), "utf8");
    const found = mutantsOf(file, source);
    sources.set(join(root, folder, file), switchable(source, found, mutants.length));
    mutants.push(...found);
  }
  await build({
    entryPoints: [join(root, "tools/mutation/worker.ts")],
    outfile: path,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    logLevel: "warning",
    banner: { js: SWITCHES },
    plugins: [switches(sources)],
  });
  return { path, mutants };
}
