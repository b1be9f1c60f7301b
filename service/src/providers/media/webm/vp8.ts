/** VP8 in RTP (RFC 7741). The parsed packets come from strangers. */

export type Vp8Packet = {
  /** True if a frame begins in this packet. */
  readonly isFirst: boolean;
  readonly data: Buffer;
};

/** Parses the payload descriptor; null for a packet that ends inside the descriptor or has no data. */
export function readVp8Packet(payload: Buffer): Vp8Packet | null {
  const [first] = payload;
  if (first === undefined) return null;
  let at = 1;
  if (first & 0x80) {
    const extensions = payload[at++] ?? 0;
    if (extensions & 0x80) at += (payload[at] ?? 0) & 0x80 ? 2 : 1;
    if (extensions & 0x40) at += 1;
    if (extensions & 0x30) at += 1;
  }
  if (at >= payload.length) return null;
  // The bit S (0x10) marks the start of a partition, and a frame starts with partition 0.
  return { isFirst: (first & 0x10) !== 0 && (first & 0x07) === 0, data: payload.subarray(at) };
}

export type Picture = { readonly width: number; readonly height: number };

/** True if a frame can be decoded without earlier frames (RFC 6386 section 9.1). */
export const isKeyFrame = (frame: Uint8Array): boolean => frame.length > 0 && ((frame[0] ?? 1) & 1) === 0;

/** The picture size of a key frame; null when its start code is missing or a side is 0. */
export function pictureOf(frame: Buffer): Picture | null {
  if (!isKeyFrame(frame) || frame.length < 10 || frame.readUIntBE(3, 3) !== 0x9d012a) return null;
  const [width, height] = [frame.readUInt16LE(6) & 0x3fff, frame.readUInt16LE(8) & 0x3fff];
  return width > 0 && height > 0 ? { width, height } : null;
}
