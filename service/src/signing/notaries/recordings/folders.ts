/**
 * The folders of recordings on this disk. Nodes may share the disk, so each node writes to a folder of its own:
 * `recordings/node.<hash>/<session>`. Earlier releases wrote to `recordings/<session>`.
 */
import { readdir, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../../kernel/config/config.ts";
import { sha256Hex, spoolFiles } from "../../../providers/providers.ts";

/** The name of a session has no dot, so it is never taken for the name of a node's folder. */
const nodePrefix = "node.";

/**
 * The folder where this node keeps chunks until they are in the store. It keeps its name when the node restarts, so that
 * the node finds what it left there.
 */
export function spoolFolder({ dataDir, nodeUrl, port }: Pick<Config, "dataDir" | "nodeUrl" | "port">): string {
  const hash = sha256Hex(nodeUrl ?? `${hostname()}:${port}`).slice(0, 16);
  return join(dataDir, "recordings", nodePrefix + hash);
}

/** The folders that contain folders of sessions: the node's own one first. */
export async function spoolFolders(own: string): Promise<string[]> {
  const shared = dirname(own);
  const nodes = (await namesIn(shared)).filter((name) => name.startsWith(nodePrefix)).map((name) => join(shared, name));
  return [own, shared, ...nodes.filter((each) => each !== own)];
}

export const sessionsIn = async (spoolDir: string): Promise<string[]> =>
  (await namesIn(spoolDir)).filter((name) => !name.startsWith(nodePrefix));

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

/**
 * A folder is read only after it has been unchanged for this long: a process that was interrupted can still be writing.
 */
const quietMs = 1_000;

/**
 * Waits until nothing is written to the folders any more. Compares their files, not times, because clocks are set back.
 * @returns the files, in the order of the chain
 */
export async function quietFiles(folders: readonly string[]): Promise<string[]> {
  let before: string | null = null;
  for (;;) {
    const files = await filesIn(folders);
    const now = await stateOf(files);
    if (now === before || files.length === 0) return files;
    before = now;
    await sleep(quietMs);
  }
}

/** Each file is named after its first line, so the names give the order of the chain across folders. */
async function filesIn(folders: readonly string[]): Promise<string[]> {
  const files = (await Promise.all(folders.map((folder) => spoolFiles(folder)))).flat();
  return files.sort((one, other) => (basename(one) < basename(other) ? -1 : 1));
}

async function stateOf(files: readonly string[]): Promise<string> {
  const written = (file: string) => stat(file).then(({ mtimeMs, size }) => [mtimeMs, size]);
  return JSON.stringify(await Promise.all(files.map(async (file) => [file, await written(file).catch(() => null)])));
}
