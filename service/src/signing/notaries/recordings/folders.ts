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

/** The prefix of the name of a node's folder. A session's name contains no dot, so the two can't be confused. */
const nodePrefix = "node.";
const sessionName = /^[\w-]+$/;

/**
 * The folder in which this node stores chunks until they are uploaded to the store. The folder's name survives a
 * restart, so that the node finds leftover chunks.
 */
export function spoolFolder({ dataDir, nodeUrl, port }: Pick<Config, "dataDir" | "nodeUrl" | "port">): string {
  const hash = sha256Hex(nodeUrl ?? `${hostname()}:${port}`).slice(0, 16);
  return join(dataDir, "recordings", nodePrefix + hash);
}

/** The folders that contain the folders of sessions. This node's own one comes first. */
export async function spoolFolders(own: string): Promise<string[]> {
  const shared = dirname(own);
  const nodes = (await foldersIn(shared))
    .filter((name) => name.startsWith(nodePrefix))
    .map((name) => join(shared, name));
  return [own, shared, ...nodes.filter((each) => each !== own)];
}

/** The sessions that have a folder in `spoolDir`. Ignores other folders, such as `lost+found`. */
export const sessionsIn = async (spoolDir: string): Promise<string[]> =>
  (await foldersIn(spoolDir)).filter((name) => sessionName.test(name));

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return entries.filter((entry) => !entry.isFile()).map(({ name }) => name);
}

/**
 * The time for which a folder must be unchanged before it is read. A process that is being killed can still be writing
 * to it.
 */
const quietMs = 1_000;

type Look = {
  /** The files of the folders, sorted in the order of the hash chain. */
  files: string[];
  /** True if nothing has been written since the previous scan, or there are no files. */
  isQuiet: boolean;
};

/**
 * Scans the folders until nothing more is written to them. Compares each scan with the previous one. It does not
 * compare the files' times with the clock, because a clock can be set back.
 * @throws AbortError when `signal` aborts
 */
export async function* looksAt(folders: readonly string[], signal?: AbortSignal): AsyncGenerator<Look, void> {
  let before: string | null = null;
  for (;;) {
    signal?.throwIfAborted();
    const files = await filesIn(folders);
    const now = await stateOf(files);
    const isQuiet = now === before || files.length === 0;
    yield { files, isQuiet };
    if (isQuiet) return;
    before = now;
    await sleep(quietMs, undefined, { ref: signal === undefined, signal });
  }
}

/**
 * Waits until nothing more is written to the folders.
 * @returns the files
 * @throws as `looksAt`
 */
export async function quietFiles(folders: readonly string[], signal?: AbortSignal): Promise<string[]> {
  let found: string[] = [];
  for await (const { files } of looksAt(folders, signal)) found = files;
  return found;
}

/**
 * Finds the files of all these folders, in the order of the hash chain. The names sort in that order, because each name
 * states the file's first line of the chain.
 */
async function filesIn(folders: readonly string[]): Promise<string[]> {
  const files = (await Promise.all(folders.map((folder) => spoolFiles(folder)))).flat();
  return files.sort((one, other) => (basename(one) < basename(other) ? -1 : 1));
}

async function stateOf(files: readonly string[]): Promise<string> {
  const written = (file: string) => stat(file).then(({ mtimeMs, size }) => [mtimeMs, size]);
  return JSON.stringify(await Promise.all(files.map(async (file) => [file, await written(file).catch(() => null)])));
}
