import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, opendir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { namingPath, syncFolder, writeFileDurably } from "../../kernel/platform/durable-file.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { isAlive } from "../../kernel/platform/postgres/lock.ts";

/** A file of a backup. The path is relative, with slashes. */
export type StoredFile = { path: string; bytes: number; sha256: string };

/**
 * Files and folders below a folder, by relative path. Files may disappear before the caller opens them.
 * @throws StartupError for a symbolic link
 */
export async function* treeOf(folder: string, below = ""): AsyncGenerator<{ path: string; isFolder: boolean }> {
  for await (const entry of await opendir(join(folder, below))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isSymbolicLink())
      throw new StartupError(`${join(folder, path)} is a symbolic link: it can't be backed up`);
    yield { path, isFolder: entry.isDirectory() };
    if (entry.isDirectory()) yield* treeOf(folder, path);
  }
}

const [minBytes, pieceBytes] = [4096, 1024 * 1024];

/**
 * Copies a file, flushes the copy to disk, and hashes it. Doesn't flush the folder. @returns null when the file doesn't
 * exist
 */
export async function copyHashed(from: string, to: string): Promise<Omit<StoredFile, "path"> | null> {
  const source = await open(from, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return null;
  });
  if (source === null) return null;
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    const target = await open(to, "w", 0o600);
    try {
      const hash = createHash("sha256");
      // Most files of a cluster are small: a large buffer for each would keep the garbage collector busy.
      const { size } = await source.stat();
      const buffer = Buffer.allocUnsafe(Math.min(Math.max(size, minBytes), pieceBytes));
      let bytes = 0;
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, buffer.length, bytes);
        if (bytesRead === 0) break;
        const piece = buffer.subarray(0, bytesRead);
        hash.update(piece);
        await namingPath(to, target.appendFile(piece));
        bytes += bytesRead;
      }
      await namingPath(to, target.datasync());
      return { bytes, sha256: hash.digest("hex") };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Checks that a folder is missing, or contains nothing but the given names.
 * @throws StartupError for a folder that contains anything else or can't be read
 */
export async function requireEmpty(folder: string, but: readonly string[] = []): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new StartupError(`${folder} cannot be read (${error.code})`);
  });
  const other = names.find((name) => !but.includes(name));
  if (other !== undefined) throw new StartupError(`${folder} is not empty (${other}): name a new folder`);
}

const listName = "files.sha256";
const manifestName = "manifest.json";
const pidName = "pid";

/**
 * A folder with a temporary name, which is renamed when it is complete and durable. `discard` deletes it under either
 * name.
 */
type DraftFolder = { path: string; finish: () => Promise<void>; discard: () => Promise<void> };

/**
 * Creates the folder for a backup, with the name FOLDER.partial until the backup is complete. Deletes a FOLDER.partial
 * whose process has ended.
 * @throws StartupError when FOLDER is not empty, or another process writes to FOLDER.partial
 */
export async function openDraft(folder: string): Promise<DraftFolder> {
  await requireEmpty(folder);
  const path = `${folder}.partial`;
  if (existsSync(path)) {
    const pid = Number(await readFile(join(path, pidName), "utf8").catch(() => "0"));
    if (pid > 0 && isAlive(pid)) throw new StartupError(`${path} is being written by process ${pid}`);
    await rm(path, { recursive: true });
  }
  await mkdir(path, { recursive: true, mode: 0o700 });
  await writeFile(join(path, pidName), String(process.pid));
  let isRenamed = false;
  return {
    path,
    async finish() {
      await rm(join(path, pidName));
      const folders = (await Array.fromAsync(treeOf(path))).filter(({ isFolder }) => isFolder);
      for (const below of folders) await syncFolder(join(path, below.path));
      await syncFolder(path);
      await rename(path, folder);
      isRenamed = true;
      await syncFolder(dirname(folder));
    },
    discard: () => rm(isRenamed ? folder : path, { recursive: true, force: true }),
  };
}

/** Writes the list of hashes in the format of `sha256sum -c`, then the manifest with the hash of the list. */
export async function writeManifest(folder: string, facts: object, files: readonly StoredFile[]): Promise<void> {
  const list = files.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join("");
  await writeFileDurably(join(folder, listName), list);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const manifest = { ...facts, files: files.length, bytes, listSha256: sha256Of(list) };
  await writeFileDurably(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
}

const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Reads a backup's manifest: its facts, and the SHA-256 of each file by its path.
 * @throws StartupError for a folder without a complete manifest of the format
 */
export async function readManifest<Facts>(
  folder: string,
  format: string,
): Promise<{ facts: Facts; hashes: Map<string, string> }> {
  const text = await readFile(join(folder, manifestName), "utf8").catch(() => {
    throw new StartupError(`${folder} is not a whole backup: it has no ${manifestName}`);
  });
  const list = await readFile(join(folder, listName), "utf8").catch(() => "");
  const facts = parsed(text);
  if (facts?.["format"] !== format || facts["listSha256"] !== sha256Of(list))
    throw new StartupError(
      `${folder} is not a whole backup: ${manifestName} and ${listName} are not those of one (${format})`,
    );
  const hashes = new Map(
    list
      .split("\n")
      .filter((line) => line !== "")
      .map((line): [string, string] => [line.slice(66), line.slice(0, 64)]),
  );
  return { facts: facts as Facts, hashes };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/**
 * Copies the files that a backup has in one of its folders, or below it.
 * @throws StartupError for a missing or altered file
 */
export async function copyVerified(
  { folder, hashes }: { folder: string; hashes: ReadonlyMap<string, string> },
  below: string,
  to: string,
): Promise<void> {
  for (const [path, sha256] of hashes) {
    if (!path.startsWith(`${below}/`)) continue;
    if (path.split("/").includes("..")) throw new StartupError(`${folder} names a file outside of it: ${path}`);
    const copied = await copyHashed(join(folder, path), join(to, path.slice(below.length + 1)));
    if (copied === null) throw new StartupError(`the backup is damaged: ${join(folder, path)} is missing`);
    if (copied.sha256 !== sha256) throw new StartupError(`the backup is damaged: ${join(folder, path)} is altered`);
  }
}
