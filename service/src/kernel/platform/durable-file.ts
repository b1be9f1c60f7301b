import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file atomically and durably. When the promise resolves, the file is complete and on the disk; when it
 * rejects, no partial file is left.
 * @param options.exclusive leaves an existing file unchanged
 * @throws NodeJS.ErrnoException (ENOSPC, EACCES, ...)
 */
export async function writeFileDurably(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; exclusive?: boolean } = {},
): Promise<void> {
  const folder = dirname(path);
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await openMakingFolder(temporary, options.mode ?? 0o600);
  try {
    try {
      await namingPath(path, file.writeFile(content));
      await namingPath(path, file.datasync());
    } finally {
      await file.close();
    }
    if (options.exclusive) {
      await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      await unlink(temporary);
    } else {
      await rename(temporary, path);
    }
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await syncFolder(folder);
}

/** Adds the file's path to an error of an open file, because Node names no path in it. */
export async function namingPath<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    (error as NodeJS.ErrnoException).path ??= path;
    throw error;
  }
}

/** Opens a new file for writing, and creates its folder when needed. */
export async function openMakingFolder(path: string, mode: number) {
  try {
    return await open(path, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(folder));
    return open(path, "wx", mode);
  }
}

const syncing = new Map<string, { running: Promise<void>; next: Promise<void> | null }>();

/**
 * Makes the names of new files in a folder durable, by an fsync of the folder. Calls that arrive during one fsync share
 * the next one.
 */
export function syncFolder(folder: string): Promise<void> {
  const current = syncing.get(folder);
  if (current) {
    current.next ??= current.running.catch(() => {}).then(() => start(folder));
    return current.next;
  }
  return start(folder);
}

function start(folder: string): Promise<void> {
  const running = syncNow(folder).finally(() => {
    if (syncing.get(folder)?.next === null) syncing.delete(folder);
  });
  syncing.set(folder, { running, next: null });
  return running;
}

async function syncNow(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
