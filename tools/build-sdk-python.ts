// Builds the Python SDK's wheel into packages/sdk-python/dist, as it is published: npm run build:sdk-python

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { python } from "../testing/python.ts";
import { tools } from "../testing/tools.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "packages/sdk-python");

/** Builds the wheel. @returns its path @throws Error with what the builder says */
export function buildPythonSdk(out = join(folder, "dist")): string {
  const copy = mkdtempSync(join(tmpdir(), "sdk-python-"));
  try {
    for (const name of ["pyproject.toml", "README.md", "src"])
      cpSync(join(folder, name), join(copy, name), {
        recursive: true,
        filter: (path) => !/__pycache__|\.\w+_cache/.test(path),
      });
    copyFileSync(join(root, "LICENSE"), join(copy, "LICENSE"));
    rmSync(out, { recursive: true, force: true });
    const built = spawnSync(python, ["-m", "hatchling", "build", "-t", "wheel", "-d", out], {
      cwd: copy,
      encoding: "utf8",
    });
    const [wheel] = globSync("*.whl", { cwd: out });
    if (built.status !== 0 || wheel === undefined) throw new Error(built.stderr);
    return join(out, wheel);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  if (tools.hatchling.isHere()) console.log(buildPythonSdk());
  else {
    console.error("build:sdk-python: hatchling is missing: bin/run tools/install-tools.ts installs it");
    process.exitCode = 1;
  }
}
