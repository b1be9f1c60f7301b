/** A point of a contour; one that is off the curve is the control point of a quadratic curve. */
export type Point = { x: number; y: number; on: boolean };

/** An outline in thousandths of the font size, as whole numbers. */
export type Glyph = { advance: number; contours: readonly (readonly Point[])[] };

export type Box = { left: number; bottom: number; right: number; top: number };

/** Ascender and descender of the Noto fonts, in thousandths. */
export const lineHeights = { ascent: 1069, descent: -293 } as const;

const unitsPerEm = 1000;

/**
 * Builds a TrueType font (ISO/IEC 14496-22) from outlines, with the tables that PDF requires (ISO 32000-2, section
 * 9.9). The codes are glyph numbers, so the font needs no character map and no names.
 */
export function trueTypeFont(glyphs: readonly Glyph[]): Buffer {
  const outlines = glyphs.map(outlineOf);
  const boxes = glyphs.map(boxOf);
  const tables: [string, Buffer][] = [
    ["glyf", Buffer.concat(outlines)],
    ["head", head(joined(boxes))],
    ["hhea", hhea(glyphs)],
    ["hmtx", numbers(...glyphs.flatMap(({ advance }, index) => [advance, boxes[index]?.left ?? 0]))],
    ["loca", loca(outlines)],
    ["maxp", maxp(glyphs)],
  ];
  return fontFile(tables);
}

export function boxOf({ contours }: Pick<Glyph, "contours">): Box {
  const points = contours.flat();
  if (points.length === 0) return { left: 0, bottom: 0, right: 0, top: 0 };
  return joined(points.map(({ x, y }) => ({ left: x, bottom: y, right: x, top: y })));
}

export const joined = (boxes: readonly Box[]): Box =>
  boxes.reduce((one, other) => ({
    left: Math.min(one.left, other.left),
    bottom: Math.min(one.bottom, other.bottom),
    right: Math.max(one.right, other.right),
    top: Math.max(one.top, other.top),
  }));

/** Encodes 16-bit numbers. */
function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, 2 * index);
  return bytes;
}

const flag = { on: 1, xShort: 2, yShort: 4, xSame: 16, ySame: 32, overlaps: 64 } as const;

/** An entry of the `glyf` table: a simple glyph without instructions. */
function outlineOf(glyph: Glyph): Buffer {
  const { contours } = glyph;
  if (contours.length === 0) return Buffer.alloc(0);
  const { left, bottom, right, top } = boxOf(glyph);
  let last = -1;
  const ends = contours.map(({ length }) => (last += length));
  const [flags, xs, ys]: [number[], number[], number[]] = [[], [], []];
  let [x, y] = [0, 0];
  for (const point of contours.flat()) {
    const along = delta(xs, point.x - x, flag.xShort, flag.xSame) | delta(ys, point.y - y, flag.yShort, flag.ySame);
    flags.push(along | (point.on ? flag.on : 0) | (flags.length === 0 ? flag.overlaps : 0));
    [x, y] = [point.x, point.y];
  }
  const data = [numbers(contours.length, left, bottom, right, top, ...ends, 0), Buffer.from([...flags, ...xs, ...ys])];
  const length = data.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat(data, Math.ceil(length / 4) * 4);
}

/**
 * Appends the difference `by` between two coordinates to `to`, in its shortest form. A difference of 0 adds no byte.
 * @param short the flag for a difference of one byte
 * @param same the flag for an equal coordinate, or with `short` for a positive difference
 * @returns the flags that state the form
 */
function delta(to: number[], by: number, short: number, same: number): number {
  if (by === 0) return same;
  if (Math.abs(by) < 256) {
    to.push(Math.abs(by));
    return by > 0 ? short | same : short;
  }
  to.push((by >> 8) & 0xff, by & 0xff);
  return 0;
}

function head({ left, bottom, right, top }: Box): Buffer {
  const bytes = Buffer.alloc(54);
  bytes.writeUInt32BE(0x00010000, 0);
  bytes.writeUInt32BE(0x00010000, 4);
  bytes.writeUInt32BE(0x5f0f3cf5, 12);
  // The flags of the `head` table state that baseline and left side bearing are at 0. The dates of the font stay 0.
  numbers(0x0003, unitsPerEm).copy(bytes, 16);
  numbers(left, bottom, right, top, 0, 8, 2, 1, 0).copy(bytes, 36);
  return bytes;
}

function hhea(glyphs: readonly Glyph[]): Buffer {
  const widest = Math.max(...glyphs.map(({ advance }) => advance));
  const { ascent, descent } = lineHeights;
  return numbers(1, 0, ascent, descent, 0, widest, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, glyphs.length);
}

function maxp(glyphs: readonly Glyph[]): Buffer {
  const most = (of: (glyph: Glyph) => number) => Math.max(...glyphs.map(of));
  const points = most(({ contours }) => contours.flat().length);
  const contours = most((glyph) => glyph.contours.length);
  return numbers(1, 0, glyphs.length, points, contours, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0);
}

function loca(outlines: readonly Buffer[]): Buffer {
  const bytes = Buffer.alloc(4 * (outlines.length + 1));
  let at = 0;
  for (const [index, { length }] of outlines.entries()) {
    at += length;
    bytes.writeUInt32BE(at, 4 * (index + 1));
  }
  return bytes;
}

/**
 * Assembles a font file from its tables.
 * @param tables in the order of their tags
 */
function fontFile(tables: readonly (readonly [string, Buffer])[]): Buffer {
  const power = 2 ** Math.floor(Math.log2(tables.length));
  const directory = [numbers(1, 0, tables.length, 16 * power, Math.log2(power), 16 * (tables.length - power))];
  let offset = 12 + 16 * tables.length;
  let headAt = 0;
  const bodies = tables.map(([tag, data]) => {
    const entry = Buffer.alloc(16, tag, "latin1");
    entry.writeUInt32BE(checksum(data), 4);
    entry.writeUInt32BE(offset, 8);
    entry.writeUInt32BE(data.length, 12);
    directory.push(entry);
    if (tag === "head") headAt = offset;
    const body = Buffer.concat([data], Math.ceil(data.length / 4) * 4);
    offset += body.length;
    return body;
  });
  const file = Buffer.concat([...directory, ...bodies]);
  file.writeUInt32BE((0xb1b0afba - checksum(file)) >>> 0, headAt + 8);
  return file;
}

function checksum(data: Buffer): number {
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) {
    const left = data.length - at;
    sum += left >= 4 ? data.readUInt32BE(at) : data.readUIntBE(at, left) * 2 ** (8 * (4 - left));
  }
  return sum % 2 ** 32;
}
