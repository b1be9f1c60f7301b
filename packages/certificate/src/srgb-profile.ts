/** sRGB (IEC 61966-2-1) with its primaries adapted to D50, the white point of ICC profiles (ICC.1, annex E). */
const primaries = {
  rXYZ: [0.43607, 0.22249, 0.01392],
  gXYZ: [0.38515, 0.71687, 0.09708],
  bXYZ: [0.14307, 0.06061, 0.7141],
} as const;
const white = [0.9642, 1, 0.8249] as const;
/** The adaptation matrix from D65 to D50, by rows. */
const adaptation = [1.04788, 0.02292, -0.0502, 0.02959, 0.99048, -0.01706, -0.00923, 0.01508, 0.75168] as const;
/** The parameters of the sRGB curve in the order of a parametric curve of type 3: g (gamma), a, b, c, d. */
const curve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045] as const;

const ascii = (text: string): Buffer => Buffer.from(text, "latin1");

function fixed(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(Math.round(value * 65536), 4 * index);
  return bytes;
}

/** The data of a tag: its type, four reserved bytes, its content. */
const typed = (type: string, ...rest: Buffer[]): Buffer => Buffer.concat([ascii(`${type}\0\0\0\0`), ...rest]);

/** A text in English, as a multi-localized string. */
function localized(text: string): Buffer {
  const letters = Buffer.from(text, "utf16le").swap16();
  const head = Buffer.alloc(20);
  head.writeUInt32BE(1, 0);
  head.writeUInt32BE(12, 4);
  head.write("enUS", 8, "latin1");
  head.writeUInt32BE(letters.length, 12);
  head.writeUInt32BE(28, 16);
  return typed("mluc", head, letters);
}

/** A version 4 profile (ICC.1:2010) that defines sRGB: a matrix and a curve. */
export function srgbProfile(): Buffer {
  const response = typed("para", Buffer.from([0, 3, 0, 0]), fixed(curve));
  const tags: [string, Buffer][] = [
    ["desc", localized("sRGB")],
    ["cprt", localized("No copyright, use freely")],
    ["wtpt", typed("XYZ ", fixed(white))],
    ["chad", typed("sf32", fixed(adaptation))],
    ...Object.entries(primaries).map(([tag, xyz]): [string, Buffer] => [tag, typed("XYZ ", fixed(xyz))]),
    ["rTRC", response],
    ["gTRC", response],
    ["bTRC", response],
  ];
  const table = Buffer.alloc(4 + 12 * tags.length);
  table.writeUInt32BE(tags.length, 0);
  const bodies: Buffer[] = [];
  let at = headerLength + table.length;
  for (const [index, [tag, data]] of tags.entries()) {
    const body = Buffer.concat([data], Math.ceil(data.length / 4) * 4);
    table.write(tag, 4 + 12 * index, "latin1");
    table.writeUInt32BE(at, 8 + 12 * index);
    table.writeUInt32BE(data.length, 12 + 12 * index);
    bodies.push(body);
    at += body.length;
  }
  return Buffer.concat([header(at), table, ...bodies]);
}

const headerLength = 128;

/**
 * The header of the profile: a display profile from RGB to XYZ. The fields for program, device and maker stay empty.
 */
function header(length: number): Buffer {
  const bytes = Buffer.alloc(headerLength);
  bytes.writeUInt32BE(length, 0);
  bytes.writeUInt32BE(0x04200000, 8);
  bytes.write("mntrRGB XYZ ", 12, "latin1");
  for (const [index, part] of [2026, 1, 1].entries()) bytes.writeUInt16BE(part, 24 + 2 * index);
  bytes.write("acsp", 36, "latin1");
  fixed(white).copy(bytes, 68);
  return bytes;
}
