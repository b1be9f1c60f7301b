import { crc32, inflateSync } from "node:zlib";
import { type Raster, requireSize, UnfitPicture } from "./raster.ts";

/** For each color type, the number of samples in a pixel and the allowed bits of a sample (PNG, table 11.1). */
const kinds: Readonly<Record<number, { channels: number; depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
};
const whole = [{ x: 0, y: 0, dx: 1, dy: 1 }] as const;
/** The passes of Adam7 interlacing (PNG, section 8.2). */
const interlaced = [
  { x: 0, y: 0, dx: 8, dy: 8 },
  { x: 4, y: 0, dx: 8, dy: 8 },
  { x: 0, y: 4, dx: 4, dy: 8 },
  { x: 2, y: 0, dx: 4, dy: 4 },
  { x: 0, y: 2, dx: 2, dy: 4 },
  { x: 1, y: 0, dx: 2, dy: 2 },
  { x: 0, y: 1, dx: 1, dy: 2 },
] as const;

type Head = {
  width: number;
  height: number;
  depth: number;
  type: number;
  channels: number;
  passes: typeof whole | typeof interlaced;
};
type Chunks = { head: Head; palette: Buffer; transparent: Buffer; data: Buffer };

const broken = (why: string): UnfitPicture => new UnfitPicture("broken", `PNG: ${why}`);

/**
 * Decodes a PNG (ISO/IEC 15948) with any color type, depth and interlacing. Ignores chunks that aren't needed to show
 * the picture, and data after the end of the PNG.
 * @throws UnfitPicture
 */
export function decodePng(bytes: Buffer): Raster {
  const { head, palette, transparent, data } = chunksOf(bytes);
  const { width, height, depth, channels, passes } = head;
  const sizes = passes.map(({ x, y, dx, dy }) => [Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)] as const);
  const rowBytes = (columns: number) => Math.ceil((columns * channels * depth) / 8);
  const length = sizes.reduce((sum, [columns, rows]) => sum + (columns > 0 ? rows * (1 + rowBytes(columns)) : 0), 0);
  const raw = inflated(data, length);
  const colorOf = colors(head, palette, transparent);
  const rgba = new Uint8Array(width * height * 4);
  let at = 0;
  for (const [index, { x, y, dx, dy }] of passes.entries()) {
    const [columns, rows] = sizes[index] ?? [0, 0];
    if (columns === 0) continue;
    let above: Uint8Array = new Uint8Array(rowBytes(columns));
    for (let row = 0; row < rows; row++) {
      const line = raw.subarray(at + 1, at + 1 + above.length);
      unfilter(raw[at] ?? 0, line, above, Math.max(1, (channels * depth) >> 3));
      for (let column = 0; column < columns; column++)
        colorOf(line, column, rgba, ((y + row * dy) * width + x + column * dx) * 4);
      above = line;
      at += 1 + line.length;
    }
  }
  return { width, height, rgba };
}

function chunksOf(bytes: Buffer): Chunks {
  let head: Head | null = null;
  let palette: Buffer = Buffer.alloc(0);
  let transparent: Buffer = Buffer.alloc(0);
  const data: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    if (length > bytes.length - at - 12) break;
    const type = bytes.toString("latin1", at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (crc32(bytes.subarray(at + 4, at + 8 + length)) !== bytes.readUInt32BE(at + 8 + length))
      throw broken(`the checksum of ${type}`);
    if (!head && type !== "IHDR") throw broken("it begins with another chunk than IHDR");
    if (type === "IHDR") head = headOf(body);
    else if (type === "PLTE") palette = body;
    else if (type === "tRNS") transparent = body;
    else if (type === "IDAT") data.push(body);
    else if (type === "IEND" && head) return { head, palette, transparent, data: Buffer.concat(data) };
    // An upper case letter marks a critical chunk, without which a picture can't be shown (section 5.4).
    else if (/^[A-Z]/.test(type)) throw broken(`the chunk ${type}`);
    at += 12 + length;
  }
  throw broken("its end is missing");
}

function headOf(body: Buffer): Head {
  if (body.length !== 13) throw broken("IHDR");
  const [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
  const [depth = 0, type = 0, compression, filter, interlace = 0] = body.subarray(8);
  requireSize(width, height);
  const kind = kinds[type];
  if (!kind?.depths.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) throw broken("IHDR");
  return { width, height, depth, type, channels: kind.channels, passes: interlace === 1 ? interlaced : whole };
}

function inflated(data: Buffer, length: number): Buffer {
  let raw: Buffer;
  try {
    raw = inflateSync(data, { maxOutputLength: length });
  } catch (error) {
    throw new UnfitPicture("broken", "PNG: its data", { cause: error });
  }
  if (raw.length !== length) throw broken("it has too few pixels");
  return raw;
}

/** Reverses the filter of a row (section 9.2). @param step the bytes in a pixel, at least one */
function unfilter(filter: number, line: Uint8Array, above: Uint8Array, step: number): void {
  if (filter > 4) throw broken("a filter");
  for (let at = 0; at < line.length; at++) {
    const left = at >= step ? (line[at - step] ?? 0) : 0;
    const up = above[at] ?? 0;
    const corner = at >= step ? (above[at - step] ?? 0) : 0;
    line[at] = (line[at] ?? 0) + guessed(filter, left, up, corner);
  }
}

function guessed(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  return filter === 3 ? (left + up) >> 1 : paeth(left, up, corner);
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

type ColorOf = (line: Uint8Array, column: number, to: Uint8Array, at: number) => void;

/** Returns the function that reads a pixel's color from its samples. Of 16 bits only the upper 8 are used. */
function colors({ depth, type, channels }: Head, palette: Buffer, transparent: Buffer): ColorOf {
  const sample = (line: Uint8Array, index: number): number => {
    if (depth >= 8) return line[(index * depth) >> 3] ?? 0;
    const bit = index * depth;
    return ((line[bit >> 3] ?? 0) >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
  };
  const scale = depth < 8 && type === 0 ? 255 / ((1 << depth) - 1) : 1;
  /**
   * True if a pixel has the one color that the tRNS chunk makes transparent. Samples are compared at their full depth.
   */
  const clear = (line: Uint8Array, column: number): boolean => {
    if (transparent.length < channels * 2) return false;
    for (let channel = 0; channel < channels; channel++) {
      const index = column * channels + channel;
      const value = depth === 16 ? ((line[index * 2] ?? 0) << 8) | (line[index * 2 + 1] ?? 0) : sample(line, index);
      if (value !== transparent.readUInt16BE(channel * 2)) return false;
    }
    return true;
  };
  return (line, column, to, at) => {
    const value = (channel: number) => sample(line, column * channels + channel) * scale;
    if (type === 3) {
      const entry = value(0);
      if (entry * 3 + 2 >= palette.length) throw broken("a color outside its palette");
      to.set(palette.subarray(entry * 3, entry * 3 + 3), at);
      to[at + 3] = transparent[entry] ?? 255;
      return;
    }
    const isGray = channels < 3;
    to[at] = value(0);
    to[at + 1] = isGray ? value(0) : value(1);
    to[at + 2] = isGray ? value(0) : value(2);
    to[at + 3] = channels % 2 === 0 ? value(channels - 1) : clear(line, column) ? 0 : 255;
  };
}
