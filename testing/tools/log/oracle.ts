import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** Builds the program that checks a mirror of a log by Go's own packages. @returns its path, in this folder */
export function buildOracle(folder: string): string {
  const program = join(folder, "oracle");
  const source = join(folder, "oracle-source");
  mkdirSync(source);
  for (const name of ["oracle.go", "go.mod", "go.sum"]) cpSync(join(import.meta.dirname, name), join(source, name));
  execFileSync("go", ["build", "-o", program, "."], { cwd: source, stdio: "pipe" });
  return program;
}
