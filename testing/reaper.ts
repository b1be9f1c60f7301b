import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("reaper.sh", import.meta.url));

let reaper: Socket | undefined;

/**
 * Sends a line to the reaper, and starts the reaper first if necessary. The reaper is a helper process that briefly
 * outlives this one. So no exit, crash or kill of a test leaves a service or database server behind.
 */
function tell(line: string): void {
  if (reaper === undefined) {
    const child = spawn("sh", [script], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    child.unref();
    reaper = child.stdin as Socket;
    reaper.on("error", () => {});
    reaper.unref();
  }
  reaper.write(`${line}\n`);
}

/** Registers a process to kill when this one ends. */
export function endWithTests(child: ChildProcess): void {
  if (child.pid === undefined) return;
  tell(`process ${child.pid}`);
  child.once("exit", () => tell(`ended ${child.pid}`));
}

/**
 * Registers a folder to remove when this process ends. A database server in it, or in a folder below, is stopped first.
 */
export const removeWithTests = (folder: string): void => tell(`folder ${folder}`);
