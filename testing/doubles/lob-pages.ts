import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "../temporary-folder.ts";

const box = (page: string, name: string): [number, number] | undefined => {
  const [, l, b, r, t] = new RegExp(`<${name} l="([^"]+)" b="([^"]+)" r="([^"]+)" t="([^"]+)"`).exec(page) ?? [];
  return t === undefined ? undefined : [Number(r) - Number(l), Number(t) - Number(b)];
};

/** Width and height of each page in points, from an independent reader; null for an unreadable file. */
export async function pageSizes(pdf: Buffer): Promise<[width: number, height: number][] | null> {
  const folder = temporaryFolder();
  try {
    const path = join(folder.path, "letter.pdf");
    writeFileSync(path, pdf);
    const { stdout } = await promisify(execFile)("mutool", ["pages", path]);
    return stdout
      .split("<page ")
      .slice(1)
      .map((page) => {
        const [width, height] = box(page, "CropBox") ?? box(page, "MediaBox") ?? [0, 0];
        return Number(/<Rotate v="(\d+)"/.exec(page)?.[1] ?? 0) % 180 === 0 ? [width, height] : [height, width];
      });
  } catch {
    return null;
  } finally {
    folder.remove();
  }
}
