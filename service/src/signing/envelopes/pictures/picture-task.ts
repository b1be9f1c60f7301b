import { deflateSync } from "node:zlib";
import { decodeJpeg } from "./jpeg.ts";
import { decodePng } from "./png.ts";
import { type PictureFault, type Raster, requireInk, shrink, UnfitPicture } from "./raster.ts";

export type PictureInput = {
  /** The largest first; of whatever picture the last one has no more than `bytes`. */
  readonly sizes: readonly { readonly width: number; readonly height: number }[];
  /** The most that it may take, deflated. */
  readonly bytes: number;
};

/** A picture as it goes through the form and into the document: deflated RGBA, and nothing else of the file that it was in. */
export type FitPicture = { readonly width: number; readonly height: number; readonly deflated: Uint8Array };

export type PictureOutput = FitPicture | { readonly fault: PictureFault };

/** Reads a picture of a signature that a stranger sent. */
export async function run(bytes: Buffer, { sizes, bytes: most }: PictureInput): Promise<PictureOutput> {
  try {
    const picture = await decode(bytes);
    requireInk(picture);
    for (const size of sizes) {
      const { width, height, rgba } = shrink(picture, size);
      const deflated = new Uint8Array(deflateSync(rgba));
      if (deflated.length <= most) return { width, height, deflated };
    }
    return { fault: "size" };
  } catch (error) {
    if (error instanceof UnfitPicture) return { fault: error.fault };
    throw error;
  }
}

const PNG = Buffer.from("89504e470d0a1a0a", "hex");
const JPEG = Buffer.from("ffd8ff", "hex");

/** By what the file begins with, whatever it is called. */
function decode(bytes: Buffer): Raster | Promise<Raster> {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return decodePng(bytes);
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return decodeJpeg(bytes);
  throw new UnfitPicture("format", "neither PNG nor JPEG");
}
