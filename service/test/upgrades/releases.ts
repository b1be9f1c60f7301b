import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../../..");

/** Links the third-party packages that this repository has installed. The release keeps its own packages. */
export function linkPackages(release: string): void {
  const from = join(root, "node_modules");
  mkdirSync(join(release, "node_modules/@signsealship"), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== "@signsealship" && name !== ".cache")
      symlinkSync(join(from, name), join(release, "node_modules", name));
  for (const name of readdirSync(join(release, "packages")))
    symlinkSync(join(release, "packages", name), join(release, "node_modules/@signsealship", name));
}

/** Extracts the release of a commit into a new folder. */
export function releaseOf(commit: string, release: string): string {
  const { status, stdout, stderr } = spawnSync("git", ["archive", commit], { cwd: root, maxBuffer: 1 << 29 });
  if (status !== 0)
    throw new Error(
      `this copy of the repository lacks the commit ${commit}, which the test upgrades from: use a clone with its history, or run git fetch --unshallow in a shallow one (${stderr})`,
    );
  mkdirSync(release);
  execFileSync("tar", ["-x", "-C", release], { input: stdout });
  linkPackages(release);
  return release;
}
