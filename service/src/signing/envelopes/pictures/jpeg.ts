import { type Raster, requireSize, UnfitPicture } from "./raster.ts";

const broken = (why: string, options?: ErrorOptions): UnfitPicture =>
  new UnfitPicture("broken", `JPEG: ${why}`, options);

/**
 * Markers of the kinds of JPEG that are decoded: baseline, extended and progressive, with Huffman coding (ITU-T T.81,
 * table B.1).
 */
const frames: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);
/** Markers of the kinds of JPEG that are refused: lossless, differential or with arithmetic coding. */
const otherFrames: ReadonlySet<number> = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const END = Buffer.from([0xff, 0xd9]);
/**
 * The marker DNL, which follows the first scan and overrides the number of lines. A JPEG with this marker is rejected,
 * because the memory limit relies on the number of lines in the frame header.
 */
const LINES = 0xdc;

/**
 * Decodes a JPEG in gray or color, with pdf.js. Ignores data after its end.
 * @throws UnfitPicture
 */
export async function decodeJpeg(bytes: Buffer): Promise<Raster> {
  const { width, height, end } = factsOf(bytes);
  const { JpegImage, setVerbosityLevel, VerbosityLevel } = await import(
    "pdfjs-dist/image_decoders/pdf.image_decoders.mjs"
  );
  setVerbosityLevel(VerbosityLevel.ERRORS);
  try {
    const image = new JpegImage({});
    image.parse(new Uint8Array(bytes.subarray(0, end)));
    if (image.width !== width || image.height !== height) throw broken("two sizes");
    const rgba = new Uint8Array(image.getData({ width, height, forceRGBA: true }));
    if (rgba.length !== width * height * 4) throw broken("its pixels");
    return { width, height, rgba };
  } catch (error) {
    throw error instanceof UnfitPicture ? error : broken("its data", { cause: error });
  }
}

/**
 * Reads the segments before the first scan, so that the size and the components are checked before anything is decoded.
 */
function factsOf(bytes: Buffer): { width: number; height: number; end: number } {
  let size: { width: number; height: number } | null = null;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker < 0xff01 || marker === 0xffd9) break;
    if (marker === 0xffff) {
      at += 1;
      continue;
    }
    const code = marker & 0xff;
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2 || at + 2 + length > bytes.length) break;
    if (code === LINES) throw broken("its height is said twice");
    if (otherFrames.has(code)) throw broken("a process that few programs read");
    if (frames.has(code)) {
      if (size || length < 8) throw broken("its frame");
      size = frameOf(bytes.subarray(at + 4, at + 2 + length));
    }
    at += 2 + length;
    if (code !== 0xda) continue;
    const end = bytes.lastIndexOf(END);
    if (!size || end < at) break;
    if (saysLines(bytes.subarray(at, end))) throw broken("its height is said twice");
    return { ...size, end: end + END.length };
  }
  throw broken("its end is missing");
}

/**
 * True if a length follows the marker. The markers for restart, start and end, and reserved markers, have none (ITU-T
 * T.81, table B.1).
 */
const hasLength = (code: number): boolean => code >= 0xc0 && (code < 0xd0 || code > 0xd9);

/**
 * True if the marker DNL follows the first scan's data. Skips the bodies of later segments, such as tables, because
 * they may contain the bytes of a marker. In coded data, the byte FF is followed by 00 unless it begins a marker.
 */
function saysLines(data: Buffer): boolean {
  for (let at = data.indexOf(0xff); at >= 0 && at + 1 < data.length; at = data.indexOf(0xff, at)) {
    const code = data.readUInt8(at + 1);
    if (code === LINES) return true;
    if (code === 0xff) at += 1;
    else at += hasLength(code) && at + 4 <= data.length ? 2 + data.readUInt16BE(at + 2) : 2;
  }
  return false;
}

function frameOf(body: Buffer): { width: number; height: number } {
  const [height, width] = [body.readUInt16BE(1), body.readUInt16BE(3)];
  const [components, precision] = [body[5], body[0]];
  requireSize(width, height);
  if (components === 4) throw new UnfitPicture("colors", "JPEG: CMYK");
  if ((components !== 1 && components !== 3) || precision !== 8) throw broken("its frame");
  return { width, height };
}
