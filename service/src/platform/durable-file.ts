import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

type Content = string | Uint8Array | Iterable<Uint8Array>;

/**
 * Writes a file that is whole and on the disk when the promise resolves, or not there at all.
 * @param options.exclusive an existing file is left as it is.
 * @throws NodeJS.ErrnoException (ENOSPC, EACCES, ...); no partial file remains.
 */
export async function writeFileDurably(
  path: string,
  content: Content,
  options: { mode?: number; exclusive?: boolean } = {},
): Promise<void> {
  const folder = dirname(path);
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await openMakingFolder(temporary, options.mode ?? 0o600);
  try {
    try {
      if (typeof content === "string" || content instanceof Uint8Array) await file.writeFile(content);
      else for (const piece of content) await file.writeFile(piece);
      await file.datasync();
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

async function openMakingFolder(path: string, mode: number) {
  try {
    return await open(path, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, "wx", mode);
  }
}

/** A rename survives a power cut only once its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
