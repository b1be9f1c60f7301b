// Builds the Python SDK's wheel into packages/sdk-python/dist, as it is published: npm run build:sdk-python

import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { python } from "../testing/tools/python.ts";
import { tools } from "../testing/tools/tools.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "packages/sdk-python");

/** The Python that has hatchling: the tests', or one in an environment of its own, which is made once. @throws Error without Python or a registry */
function builder(): string {
  if (tools.hatchling.isHere()) return python;
  const environment = join(root, "node_modules/.cache/hatchling");
  const own = join(environment, "bin/python");
  if (existsSync(join(environment, "bin/hatchling"))) return own;
  console.error("build:sdk-python: installing hatchling into node_modules/.cache/hatchling (once)");
  execFileSync("python3", ["-m", "venv", environment]);
  execFileSync(own, [
    "-m",
    "pip",
    "--disable-pip-version-check",
    "install",
    "--quiet",
    tools.hatchling.python ?? "hatchling",
  ]);
  return own;
}

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
    const built = spawnSync(builder(), ["-m", "hatchling", "build", "-t", "wheel", "-d", out], {
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

if (import.meta.main) console.log(buildPythonSdk());
