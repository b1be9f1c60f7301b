import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeWithTests } from "../testing/reaper.ts";

const tmpfs = 0x01021994;
const minFree = 4 * 2 ** 30;

/**
 * A folder in memory for test data; null if there is too little room or programs can't run from it. Each test file
 * copies and removes a database, which costs several times as much CPU time on a disk.
 */
export function memoryFolder(): string | null {
  const memory = "/dev/shm";
  try {
    const { type, bavail, bsize } = statfsSync(memory);
    if (type !== tmpfs || Math.min(bavail * bsize, process.availableMemory()) < minFree) return null;
    const path = mkdtempSync(join(memory, "tests-"));
    removeWithTests(path);
    // World-writable like the system's own temporary folder, because servers may run as another user.
    chmodSync(path, 0o1777);
    const probe = join(path, "probe");
    writeFileSync(probe, "#!/bin/sh\n", { mode: 0o755 });
    execFileSync(probe);
    return path;
  } catch {
    return null;
  }
}
