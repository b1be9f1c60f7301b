import { inflateSync } from "node:zlib";
import type { ObjectWriter } from "./pdf-file.ts";

/** 8-bit samples, row by row from the top; `alpha` is null for an opaque picture. */
export type Picture = { width: number; height: number; rgb: Uint8Array; alpha: Uint8Array | null };

/**
 * The image XObject of a picture, with its soft mask (ISO 32000-2, sections 8.9.5 and 11.6.5.2).
 * @returns the reference of the XObject
 */
export function addPicture(to: ObjectWriter, { width, height, rgb, alpha }: Picture): string {
  const common = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8`;
  const mask = alpha ? `/SMask ${to.stream(`${common}/ColorSpace/DeviceGray`, alpha)}` : "";
  return to.stream(`${common}/ColorSpace/DeviceRGB${mask}`, rgb);
}

const maxPixels = 1_000_000;

/**
 * Reads a PNG in the form that this service gives logos: 8 bits with alpha, unfiltered rows, one data chunk. Null for
 * any other PNG, and for more than a million pixels.
 */
export function readLogo(png: Uint8Array): Picture | null {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.length);
  const isOurs =
    bytes.length > 45 &&
    bytes.subarray(0, 8).toString("hex") === "89504e470d0a1a0a" &&
    bytes.subarray(24, 29).toString("hex") === "0806000000" &&
    bytes.toString("latin1", 37, 41) === "IDAT";
  if (!isOurs) return null;
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (width === 0 || height === 0 || width * height > maxPixels) return null;
  const rows = inflated(bytes.subarray(41, 41 + bytes.readUInt32BE(33)), height * (1 + width * 4));
  return rows && withoutFilters(rows, width, height);
}

function inflated(data: Uint8Array, length: number): Buffer | null {
  try {
    const rows = inflateSync(data, { maxOutputLength: length });
    return rows.length === length ? rows : null;
  } catch {
    return null;
  }
}

function withoutFilters(rows: Buffer, width: number, height: number): Picture | null {
  const rgb = Buffer.alloc(width * height * 3);
  const alpha = Buffer.alloc(width * height);
  for (let y = 0; y < height; y++) {
    const row = rows.subarray(y * (1 + width * 4), (y + 1) * (1 + width * 4));
    if (row[0] !== 0) return null;
    for (let x = 0; x < width; x++) {
      const pixel = y * width + x;
      row.copy(rgb, pixel * 3, 1 + x * 4, 4 + x * 4);
      alpha[pixel] = row[4 + x * 4] ?? 0;
    }
  }
  return { width, height, rgb, alpha: alpha.every((one) => one === 255) ? null : alpha };
}
