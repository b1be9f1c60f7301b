import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeWithTests } from "./reaper.ts";

/** A folder for a service's data. It is removed by `remove`, or when the tests end. */
export function temporaryFolder(under = tmpdir()): { path: string; remove: () => void } {
  const path = mkdtempSync(join(under, "sss-"));
  removeWithTests(path);
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}
