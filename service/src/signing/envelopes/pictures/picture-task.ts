import { deflateSync } from "node:zlib";
import { decodeJpeg } from "./jpeg.ts";
import { decodePng } from "./png.ts";
import { type PictureFault, type Raster, requireInk, shrink, UnfitPicture } from "./raster.ts";

export type PictureInput = {
  /** The sizes to try, the largest first. At the last size, any picture has at most `bytes`. */
  readonly sizes: readonly { readonly width: number; readonly height: number }[];
  /** The largest size after compression, in bytes. */
  readonly bytes: number;
};

/** A picture as passed through the form into the document: deflated RGBA, and nothing else of the original file. */
export type FitPicture = { readonly width: number; readonly height: number; readonly deflated: Uint8Array };

export type PictureOutput = FitPicture | { readonly fault: PictureFault };

/** Decodes a picture of a signature, which comes from a stranger. */
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

/** Decides by the file's first bytes, whatever its name. */
function decode(bytes: Buffer): Raster | Promise<Raster> {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return decodePng(bytes);
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return decodeJpeg(bytes);
  throw new UnfitPicture("format", "neither PNG nor JPEG");
}
