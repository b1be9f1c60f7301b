import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  bundledEntry,
  formatNoteKey,
  hashesAt,
  sealEntry,
  tilePath,
  tileWidth,
  widthAt,
} from "@signsealship/evidence/log";
import { forTests } from "@signsealship/testing/for-tests";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { hashOfLeaf, rootOf, sampleLog } from "../../evidence/test/log/sample-tree.ts";

export const origin = "example.com/log/live";
export const log = await sampleLog(origin, 7);
export const key = formatNoteKey(log.key);
const temporary = await temporaryFolder();
await forTests(Promise.resolve({ close: async () => temporary.remove() }));

let folders = 0;
export const newFolder = (): string => {
  folders += 1;
  const path = join(temporary.path, String(folders));
  mkdirSync(path);
  return path;
};
export const write = (path: string, bytes: Uint8Array | string): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
};

export const entriesUpTo = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => sealEntry(String(from + i).padStart(64, "0")));
export const leavesOf = (lines: readonly string[]) => lines.map((line) => hashOfLeaf(Buffer.from(line)));

/** Writes a log's checkpoint, key and all tiles, as a web server has them. */
export function writeLog(folder: string, lines: readonly string[], signer = log): string {
  const size = lines.length;
  const leaves = leavesOf(lines);
  for (let level = 0; hashesAt(level, size) > 0; level++)
    for (let n = 0; n * tileWidth < hashesAt(level, size); n++) {
      const width = widthAt({ level, n }, size);
      const below = tileWidth ** level;
      const hashes = Array.from({ length: width }, (_, i) => {
        const start = (n * tileWidth + i) * below;
        return rootOf(leaves.slice(start, start + below));
      });
      write(join(folder, tilePath({ level, n, width })), Buffer.concat(hashes));
      const bundle = lines
        .slice(n * tileWidth, n * tileWidth + width)
        .map((line) => bundledEntry(Buffer.from(line, "latin1")));
      if (level === 0) write(join(folder, tilePath({ level: "entries", n, width })), Buffer.concat(bundle));
    }
  write(join(folder, "checkpoint"), signer.signed(size, rootOf(leaves)));
  write(join(folder, "vkey"), `${key}\n`);
  return folder;
}
