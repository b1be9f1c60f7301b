import { mkdir, open, opendir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { BlobBackend } from "./blobs.ts";
import { writeFileDurably } from "./durable-file.ts";

const pageSize = 500;
const leftover = /\.tmp$/;

const ignoreMissing = (error: NodeJS.ErrnoException): null => {
  if (error.code !== "ENOENT") throw error;
  return null;
};

async function* filesOf(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(ignoreMissing);
  if (!entries) return;
  for await (const entry of entries) {
    if (entry.isDirectory()) for await (const below of filesOf(join(folder, entry.name))) yield `${entry.name}/${below}`;
    else yield entry.name;
  }
}

/** Blobs as files of a folder, readable by this user alone. */
export function folderBackend(folder: string): BlobBackend {
  return {
    write: (key, pieces) => writeFileDurably(join(folder, key), pieces),
    read: (key) => readFile(join(folder, key)).catch(ignoreMissing),
    async remove(key) {
      await unlink(join(folder, key)).catch(ignoreMissing);
    },
    async *listOlderThan(instant) {
      let page: string[] = [];
      for await (const key of filesOf(folder)) {
        const info = await stat(join(folder, key)).catch(ignoreMissing);
        if (!info || info.mtime >= instant) continue;
        // A write that was cut off by a crash: nobody can refer to it.
        if (leftover.test(key)) await unlink(join(folder, key)).catch(ignoreMissing);
        else page.push(key);
        if (page.length === pageSize) {
          yield page;
          page = [];
        }
      }
      if (page.length > 0) yield page;
    },
    async probe() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `probe.${process.pid}.tmp`);
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
