// Bundles the partners' command-line program into dist/cli, in the form that is published: npm run build:cli
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "service/src/cli/partner");

/**
 * Bundles the command line, and writes the other files of the npm package next to it.
 * @returns the folder @throws Error with the bundler's output
 */
export async function buildCli(out = join(root, "dist/cli")): Promise<string> {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  await build({
    entryPoints: [join(source, "main.ts")],
    outfile: join(out, "signsealship.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    define: { VERSION: JSON.stringify(version) },
    banner: { js: "#!/usr/bin/env node" },
    logLevel: "silent",
  });
  const published = {
    name: "@signsealship/cli",
    version,
    description: "Orders, webhooks and events of a partner firm on the command line",
    license,
    type: "module",
    engines: { node: ">=20.3" },
    bin: { signsealship: "./signsealship.js" },
  };
  writeFileSync(join(out, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  copyFileSync(join(source, "README.md"), join(out, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(out, "LICENSE"));
  copyFileSync(join(root, "examples/lien-release.pdf"), join(out, "lien-release.pdf"));
  return out;
}

if (import.meta.main) console.log(await buildCli());
