/** Elements of EBML (RFC 8794) as WebM uses them: an id, a size and the content. */

/** An element id in its written form, with its length marker. */
export type ElementId = number;

/**
 * The size field of long contents always has eight bytes, so that no data has to be moved when the size becomes known.
 */
const longSize = 8;

export function element(id: ElementId, ...content: readonly Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([idBytes(id), size(length), ...content]);
}

/** The header of an element, before its content. */
export const elementStart = (id: ElementId, length: number): Buffer => Buffer.concat([idBytes(id), longSizeOf(length)]);

/** The header of an element whose size is unknown and whose content extends to the end of the file. */
export const endlessStart = (id: ElementId): Buffer =>
  Buffer.concat([idBytes(id), Buffer.from("01ffffffffffffff", "hex")]);

export const uint = (id: ElementId, value: number): Buffer => element(id, uintBytes(value));

export const text = (id: ElementId, value: string): Buffer => element(id, Buffer.from(value, "latin1"));

export function float(id: ElementId, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return element(id, bytes);
}

/** A number that always takes 8 bytes, so that an element's length is known before the value. */
export function fixedUint(id: ElementId, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(id, bytes);
}

function idBytes(id: ElementId): Buffer {
  const length = lengthOf(id);
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(id, 0, length);
  return bytes;
}

function lengthOf(id: ElementId): 1 | 2 | 3 | 4 {
  if (id > 0xffffff) return 4;
  if (id > 0xffff) return 3;
  return id > 0xff ? 2 : 1;
}

function uintBytes(value: number): Buffer {
  const length = Math.max(1, Math.ceil(Math.log2(value + 1) / 8));
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
}

/** The size takes one byte if that is enough. One byte of 0xff would mean "unknown". */
const size = (length: number): Buffer => (length < 127 ? Buffer.from([0x80 | length]) : longSizeOf(length));

function longSizeOf(length: number): Buffer {
  const bytes = Buffer.alloc(longSize);
  bytes.writeBigUInt64BE(BigInt(length));
  bytes[0] = 0x01;
  return bytes;
}
