/**
 * A picture of a signature, as a form sends it. `deflated` contains its RGBA pixels, compressed (RFC 1950) and in
 * base64url.
 */
export type Picture = { readonly width: number; readonly height: number; readonly deflated: string };

/**
 * The largest width and height of a picture, the same as in `maxPicture`. Repeated here, because the browser's scripts
 * can't import `maxPicture`.
 */
export const pictureSides = { width: 600, height: 300 } as const;
export const maxPictureLength = 120_000;

const written = /^(\d{1,3})_(\d{1,3})_([\w-]+)$/;

export const writePicture = ({ width, height, deflated }: Picture): string => `${width}_${height}_${deflated}`;

/** Parses a picture's text; null when it is malformed, or too large. */
export function readPicture(text: string): Picture | null {
  const [, across = "", down = "", deflated = ""] = (text.length <= maxPictureLength + 8 && written.exec(text)) || [];
  const [width, height] = [Number(across), Number(down)];
  const fits = width >= 1 && width <= pictureSides.width && height >= 1 && height <= pictureSides.height;
  return fits ? { width, height, deflated } : null;
}

/** The color and alpha samples. Alpha is null for an opaque picture. */
export function samplesOf(rgba: Uint8Array): { rgb: Uint8Array<ArrayBuffer>; alpha: Uint8Array<ArrayBuffer> | null } {
  const pixels = rgba.length / 4;
  const [rgb, alpha] = [new Uint8Array(pixels * 3), new Uint8Array(pixels)];
  for (let pixel = 0; pixel < pixels; pixel++) {
    rgb.set(rgba.subarray(pixel * 4, pixel * 4 + 3), pixel * 3);
    alpha[pixel] = rgba[pixel * 4 + 3] ?? 0;
  }
  return { rgb, alpha: alpha.every((one) => one === 255) ? null : alpha };
}
