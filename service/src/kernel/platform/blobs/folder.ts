import { randomBytes } from "node:crypto";
import { mkdir, open, opendir, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { namingPath, openMakingFolder, syncFolder } from "../durable-file.ts";
import type { BlobBackend, BlobPart } from "./backend.ts";

const pageSize = 500;
// The number of bytes in each write to the file.
const batchBytes = 1024 * 1024;

const ignoreMissing = (error: NodeJS.ErrnoException): null => {
  if (error.code !== "ENOENT") throw error;
  return null;
};

async function* filesOf(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(ignoreMissing);
  if (!entries) return;
  for await (const entry of entries) {
    if (entry.isDirectory())
      for await (const below of filesOf(join(folder, entry.name))) yield `${entry.name}/${below}`;
    else yield entry.name;
  }
}

/**
 * Writes a new blob directly under its name. No row refers to that name until this function resolves. So an incomplete
 * file after a crash is an orphan, which `orphans.ts` removes.
 */
async function writeBlob(path: string, pieces: Iterable<Uint8Array>): Promise<void> {
  const file = await openMakingFolder(path, 0o600);
  try {
    let batch: Uint8Array[] = [];
    let bytes = 0;
    for (const piece of pieces) {
      batch.push(piece);
      bytes += piece.length;
      if (bytes < batchBytes) continue;
      await namingPath(path, file.appendFile(Buffer.concat(batch)));
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) await namingPath(path, file.appendFile(Buffer.concat(batch)));
    await Promise.all([namingPath(path, file.datasync()), syncFolder(dirname(path))]);
  } catch (error) {
    await unlink(path).catch(ignoreMissing);
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Writes a temporary file and renames it to the blob's name. No blob can have the temporary name. So if a crash leaves
 * such a file, it is removed as an orphan.
 */
async function replaceBlob(path: string, pieces: Iterable<Uint8Array>): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  await writeBlob(temporary, pieces);
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(ignoreMissing);
    throw error;
  }
  await syncFolder(dirname(path));
}

async function readPart(path: string, start: number, length: number): Promise<BlobPart | null> {
  const file = await open(path, "r").catch(ignoreMissing);
  if (file === null) return null;
  try {
    const { size: total } = await file.stat();
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, total - start)));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    return { bytes: bytes.subarray(0, bytesRead), total };
  } finally {
    await file.close();
  }
}

/** Blobs as files in a folder that only the service's own system user can read. */
export function folderBackend(folder: string): BlobBackend {
  return {
    write: (key, pieces) => writeBlob(join(folder, key), pieces),
    replace: (key, pieces) => replaceBlob(join(folder, key), pieces),
    readPart: (key, start, length) => readPart(join(folder, key), start, length),
    read: (key) => readFile(join(folder, key)).catch(ignoreMissing),
    async remove(key) {
      await unlink(join(folder, key)).catch(ignoreMissing);
    },
    async *listOlderThan(instant) {
      let page: string[] = [];
      for await (const key of filesOf(folder)) {
        const info = await stat(join(folder, key)).catch(ignoreMissing);
        if (!info || info.mtime >= instant) continue;
        page.push(key);
        if (page.length === pageSize) {
          yield page;
          page = [];
        }
      }
      if (page.length > 0) yield page;
    },
    async probe() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `probe.${process.pid}`);
      const file = await open(path, "w", 0o600);
      try {
        await file.writeFile(new Uint8Array(4096));
      } finally {
        await file.close();
        await unlink(path).catch(ignoreMissing);
      }
    },
  };
}
