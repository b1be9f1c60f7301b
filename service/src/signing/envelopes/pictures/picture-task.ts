import { deflateSync } from "node:zlib";
import { decodeJpeg } from "./jpeg.ts";
import { decodePng } from "./png.ts";
import { type PictureFault, type Raster, requireInk, shrink, UnfitPicture } from "./raster.ts";

export type PictureInput = {
  /** The sizes to try, from the largest. At the last size, any picture compresses to at most `bytes`. */
  readonly sizes: readonly { readonly width: number; readonly height: number }[];
  /** The most bytes that the picture may have after compression. */
  readonly bytes: number;
};

/**
 * The decoded picture as deflated RGBA, without any metadata of the original file. The signer's form submits it, and
 * the document contains its pixels.
 */
export type FitPicture = { readonly width: number; readonly height: number; readonly deflated: Uint8Array };

export type PictureOutput = FitPicture | { readonly fault: PictureFault };

/** Decodes a picture of a signature. The file is untrusted, so it is decoded in a worker. */
export async function run(bytes: Buffer, { sizes, bytes: max }: PictureInput): Promise<PictureOutput> {
  try {
    const picture = await decode(bytes);
    requireInk(picture);
    for (const size of sizes) {
      const { width, height, rgba } = shrink(picture, size);
      const deflated = new Uint8Array(deflateSync(rgba));
      if (deflated.length <= max) return { width, height, deflated };
    }
    return { fault: "size" };
  } catch (error) {
    if (error instanceof UnfitPicture) return { fault: error.fault };
    throw error;
  }
}

const PNG = Buffer.from("89504e470d0a1a0a", "hex");
const JPEG = Buffer.from("ffd8ff", "hex");

/** Detects the format by the file's first bytes, not by its name. */
function decode(bytes: Buffer): Raster | Promise<Raster> {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return decodePng(bytes);
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return decodeJpeg(bytes);
  throw new UnfitPicture("format", "neither PNG nor JPEG");
}
