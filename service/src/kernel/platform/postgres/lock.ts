import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { minuteMs } from "../clock.ts";
import { StartupError } from "../errors.ts";
import { timeLimit } from "../stopwatch.ts";

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function tryLock(path: string): boolean {
  try {
    const file = openSync(path, "wx");
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function breakIfStale(path: string): void {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    if (pid > 0 && !isAlive(pid)) unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Runs `work` while this process holds the lock file. Removes the lock of a process that has died. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const isLate = timeLimit(minuteMs);
  while (!tryLock(path)) {
    if (isLate()) throw new StartupError(`${path} is held by another process for over a minute`);
    breakIfStale(path);
    await sleep(20);
  }
  try {
    return await work();
  } finally {
    unlinkSync(path);
  }
}
