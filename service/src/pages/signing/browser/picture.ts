import { toHex } from "@signsealship/evidence/bytes";
import { fromBase64, sha256, toBase64 } from "../../ui/browser/bytes.ts";
import { make } from "../../ui/browser/parts.ts";
import { maxPictureLength, type Picture, pictureSides, readPicture, samplesOf, writePicture } from "../picture.ts";

/** The sizes to try, as shares of the largest size. At the smallest, every picture fits the form's limit. */
const shares = [1, 2 / 3, 1 / 3];

/**
 * Converts an image file to the picture of a signature. It contains only the pixels, scaled down to the form's limits.
 * @throws for a file that is not a picture
 */
export async function pictureFrom(file: Blob): Promise<string> {
  const image = await createImageBitmap(file);
  try {
    for (const share of shares) {
      const by = Math.min(1, (pictureSides.width * share) / image.width, (pictureSides.height * share) / image.height);
      const [width, height] = [Math.max(1, Math.round(image.width * by)), Math.max(1, Math.round(image.height * by))];
      const context = make("canvas", { width, height }).getContext("2d");
      if (!context) break;
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, width, height);
      const { data } = context.getImageData(0, 0, width, height);
      const deflated = toBase64Url(await through(new CompressionStream("deflate"), new Uint8Array(data.buffer)));
      if (deflated.length <= maxPictureLength) return writePicture({ width, height, deflated });
    }
  } finally {
    image.close();
  }
  throw new Error("no picture that fits");
}

/**
 * Creates an element that shows a picture from a form field. The element is empty at first, because the pixels are
 * decoded asynchronously.
 */
export function pictureElement(text: string): HTMLCanvasElement {
  const picture = readPicture(text);
  const { width, height } = picture ?? { width: 1, height: 1 };
  const canvas = make("canvas", { width, height });
  canvas.setAttribute("aria-hidden", "true");
  if (picture)
    void rgbaOf(picture).then((rgba) => {
      canvas.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(rgba), width, height), 0, 0);
    });
  return canvas;
}

/** The entry for a picture in the act's record. */
export async function pictureRecord(text: string) {
  const picture = readPicture(text);
  if (!picture) return null;
  const { rgb, alpha } = samplesOf(await rgbaOf(picture));
  const { width, height } = picture;
  return {
    height,
    kind: "uploaded",
    maskSha256: alpha && toHex(await sha256(alpha)),
    sha256: toHex(await sha256(rgb)),
    width,
  };
}

const rgbaOf = ({ deflated }: Picture) => through(new DecompressionStream("deflate"), fromBase64Url(deflated));

async function through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await response.arrayBuffer());
}

const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
