// Builds the Python SDK's wheel into packages/sdk-python/dist, in the form that is published: npm run build:sdk-python

import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { python } from "../testing/tools/python.ts";
import { tools } from "../testing/tools/tools.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "packages/sdk-python");

/**
 * A Python that has hatchling: the tests' own, or one in a new environment, which is kept for the next build. @throws
 * Error without Python or a registry
 */
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

function copySources(to: string): void {
  mkdirSync(to, { recursive: true });
  // The copy needs .gitignore, so that the build omits the same files as in the repository.
  copyFileSync(join(root, ".gitignore"), join(to, ".gitignore"));
  copyFileSync(join(root, "LICENSE"), join(to, "LICENSE"));
  for (const name of ["pyproject.toml", "README.md", "hatch_build.py", "write_sync.py", "src"])
    cpSync(join(folder, name), join(to, name), {
      recursive: true,
      filter: (path) => !/__pycache__|\.\w+_cache|_sync$/.test(path),
    });
}

/** Copies the package into a folder, and writes its synchronous client there. @returns the folder to import it from */
export function pythonSources(to: string): string {
  copySources(to);
  execFileSync(python, [join(to, "write_sync.py")]);
  return join(to, "src");
}

/** Builds the wheel. @returns its path @throws Error with the builder's output */
export function buildPythonSdk(out = join(folder, "dist")): string {
  const copy = mkdtempSync(join(tmpdir(), "sdk-python-"));
  try {
    copySources(copy);
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
