// Compiles the SDK into packages/sdk/dist, in the form that is published: npm run build:sdk

import { spawnSync } from "node:child_process";
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "packages/sdk");

/**
 * Compiles the SDK, and writes the other files of the npm package next to it. @returns the folder @throws Error with
 * the compiler's output
 */
export function buildSdk(out = join(folder, "dist")): string {
  rmSync(out, { recursive: true, force: true });
  const tsc = join(root, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(
    process.execPath,
    [tsc, "-p", join(folder, "tsconfig.build.json"), "--outDir", out],
    {
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(stdout);
  // In declaration files, the compiler leaves imports with the ending `.ts`, but the published files end in `.js`.
  for (const file of globSync("*.d.ts", { cwd: out })) {
    const path = join(out, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(/"(\.\/[\w-]+)\.ts"/g, '"$1.js"'));
  }
  const { name, version, description, license, type } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const published = {
    name,
    version,
    description,
    license,
    type,
    sideEffects: false,
    engines: { node: ">=20.3" },
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
    types: "./index.d.ts",
  };
  writeFileSync(join(out, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  copyFileSync(join(folder, "README.md"), join(out, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(out, "LICENSE"));
  return out;
}

if (import.meta.main) console.log(buildSdk());
