import { readFileSync } from "node:fs";
import { run } from "../../../evidence/seals/pdf/oracles.ts";

/** Returns true if a pixel has the counted color. */
export type Ink = (r: number, g: number, b: number) => boolean;

/** The color of the pen. */
export const penInk: Ink = (r, _, b) => b - r >= 40;
/** The color of black text. */
export const blackInk: Ink = (r, g, b) => Math.max(r, g, b) < 40;

/**
 * The left, top, right and bottom of the ink on the first page, in points of the page as mutool shows it. Without ink,
 * left and top are infinity, and right and bottom are 0. `perPoint` is the number of pixels for each point.
 */
export async function inkOn(path: string, isInk: Ink, perPoint = 1): Promise<[number, number, number, number]> {
  const image = `${path}.ppm`;
  await run("mutool", ["draw", "-r", `${72 * perPoint}`, "-o", image, path, "1"]);
  const { pixels, across } = pixelsOf(image);
  const box: [number, number, number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0, 0];
  for (let i = 0; i < pixels.length; i += 3) {
    if (!isInk(pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0)) continue;
    const [x, y] = [(i / 3) % across, Math.floor(i / 3 / across)];
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x + 1);
    box[3] = Math.max(box[3], y + 1);
  }
  for (const side of [0, 1, 2, 3] as const) box[side] /= perPoint;
  return box;
}

/** The pixels of a binary PPM, 3 bytes each, and the number of pixels in a row. */
function pixelsOf(image: string): { pixels: Buffer; across: number } {
  const ppm = readFileSync(image);
  const [, width = "0", height = "0"] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.toString("latin1", 0, 40)) ?? [];
  return { pixels: ppm.subarray(ppm.length - 3 * Number(width) * Number(height)), across: Number(width) };
}

/** The number of pixels with this color in a box on the first page, as each of two PDF readers renders it. */
export async function inkIn(path: string, isInk: Ink, box: Box): Promise<{ mutool: number; poppler: number }> {
  const images = { mutool: `${path}.mu.ppm`, poppler: `${path}.poppler` };
  await run("mutool", ["draw", "-r", "72", "-o", images.mutool, path, "1"]);
  await run("pdftoppm", ["-r", "72", "-f", "1", "-l", "1", "-singlefile", path, images.poppler]);
  const [mutool, poppler] = [images.mutool, `${images.poppler}.ppm`].map((image) => countInk(image, isInk, box));
  return { mutool: mutool ?? 0, poppler: poppler ?? 0 };
}

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

function countInk(image: string, isInk: Ink, { x, y, width, height }: Box): number {
  const { pixels, across } = pixelsOf(image);
  let count = 0;
  for (let row = y; row < y + height; row++)
    for (let column = x; column < x + width; column++) {
      const i = 3 * (row * across + column);
      if (isInk(pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0)) count++;
    }
  return count;
}
