/** A picture: red, green, blue and alpha of each pixel, 8 bits, from the upper left corner, row by row. */
export type Raster = { readonly width: number; readonly height: number; readonly rgba: Uint8Array };

/** The reasons for which a picture is rejected. */
const pictureFaults = ["format", "size", "colors", "broken", "empty"] as const;
export type PictureFault = (typeof pictureFaults)[number];

export class UnfitPicture extends Error {
  readonly fault: PictureFault;

  constructor(fault: PictureFault, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.name = "UnfitPicture";
    this.fault = fault;
  }
}

const maxPixels = 6_000_000;

/**
 * Requires a number of pixels that a picture of a signature can have.
 * @throws UnfitPicture for a picture with more pixels than a signature needs, or with none
 */
export function requireSize(width: number, height: number): void {
  if (width < 1 || height < 1) throw new UnfitPicture("broken", `${width} by ${height} pixels`);
  if (width * height > maxPixels) throw new UnfitPicture("size", `${width} by ${height} pixels`);
}

/** Shrinks a picture to fit a rectangle, by averaging pixels. A picture that fits stays unchanged. */
export function shrink(picture: Raster, max: { width: number; height: number }): Raster {
  const by = Math.min(1, max.width / picture.width, max.height / picture.height);
  if (by === 1) return picture;
  const [width, height] = [picture.width, picture.height].map((side) => Math.max(1, Math.round(side * by))) as [
    number,
    number,
  ];
  const rgba = new Uint8Array(width * height * 4);
  const edge = (at: number, side: number, of: number) => Math.floor((at * of) / side);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [edge(y, height, picture.height), edge(y + 1, height, picture.height)];
    for (let x = 0; x < width; x++) {
      const [left, right] = [edge(x, width, picture.width), edge(x + 1, width, picture.width)];
      rgba.set(
        mean(picture, { left, top, right: Math.max(right, left + 1), bottom: Math.max(bottom, top + 1) }),
        (y * width + x) * 4,
      );
    }
  }
  return { width, height, rgba };
}

type Area = { left: number; top: number; right: number; bottom: number };

/** Colors are weighted by alpha, so a fully transparent pixel doesn't change the average. */
function mean({ width, rgba }: Raster, { left, top, right, bottom }: Area): [number, number, number, number] {
  let [red, green, blue, alpha] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const at = (y * width + x) * 4;
      const share = rgba[at + 3] ?? 0;
      red += (rgba[at] ?? 0) * share;
      green += (rgba[at + 1] ?? 0) * share;
      blue += (rgba[at + 2] ?? 0) * share;
      alpha += share;
    }
  if (alpha === 0) return [0, 0, 0, 0];
  const of = (sum: number) => Math.round(sum / alpha);
  return [of(red), of(green), of(blue), Math.round(alpha / ((right - left) * (bottom - top)))];
}

/**
 * Requires that a picture shows something.
 * @throws UnfitPicture for a picture whose pixels are all equal
 */
export function requireInk({ rgba }: Raster): void {
  for (let at = 4; at < rgba.length; at += 4)
    for (let channel = 0; channel < 4; channel++) if (rgba[at + channel] !== rgba[channel]) return;
  throw new UnfitPicture("empty", "all pixels are alike");
}
