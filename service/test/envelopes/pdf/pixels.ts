import { readFileSync } from "node:fs";
import { run } from "../../seals/pdf/oracles.ts";

/** Whether a pixel is ink that is looked for. */
export type Ink = (r: number, g: number, b: number) => boolean;

/** What is drawn with the pen. */
export const penInk: Ink = (r, _, b) => b - r >= 40;
/** What black text is drawn with. */
export const blackInk: Ink = (r, g, b) => Math.max(r, g, b) < 40;

/** Left, top, right and bottom of the ink on the first page, in points of the page as mutool shows it; infinity to 0 for none. */
export async function inkOn(path: string, isInk: Ink): Promise<[number, number, number, number]> {
  const image = `${path}.ppm`;
  await run("mutool", ["draw", "-r", "72", "-o", image, path, "1"]);
  const ppm = readFileSync(image);
  const [, width = "0", height = "0"] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.toString("latin1", 0, 40)) ?? [];
  const pixels = ppm.subarray(ppm.length - 3 * Number(width) * Number(height));
  const box: [number, number, number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0, 0];
  for (let i = 0; i < pixels.length; i += 3) {
    if (!isInk(pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0)) continue;
    const [x, y] = [(i / 3) % Number(width), Math.floor(i / 3 / Number(width))];
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x + 1);
    box[3] = Math.max(box[3], y + 1);
  }
  return box;
}
