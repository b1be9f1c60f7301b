import { crc32, deflateSync, inflateSync } from "node:zlib";
import type { UploadedMark } from "../../envelopes/envelopes.ts";
import { type Picture, readPicture, samplesOf } from "./picture.ts";

/** The picture that a form carries; null when it is none. */
export function pictureMark(text: string): UploadedMark | null {
  const picture = readPicture(text);
  const rgba = picture && rgbaOf(picture);
  if (!rgba) return null;
  const { width, height } = picture;
  return { kind: "uploaded", width, height, ...samplesOf(rgba) };
}

/** Its pixels; null when they are not as many as it says. */
function rgbaOf({ width, height, deflated }: Picture): Uint8Array | null {
  const length = width * height * 4;
  try {
    const rgba = inflateSync(Buffer.from(deflated, "base64url"), { maxOutputLength: length });
    return rgba.length === length ? rgba : null;
  } catch {
    return null;
  }
}

/** The picture as an address that a page without a script can show; null when it is none. */
export function pictureUrl(text: string): string | null {
  const picture = readPicture(text);
  const rgba = picture && rgbaOf(picture);
  if (!rgba) return null;
  const { width, height } = picture;
  const rows = Buffer.alloc(height * (1 + width * 4));
  for (let row = 0; row < height; row++)
    rows.set(rgba.subarray(row * width * 4, (row + 1) * width * 4), row * (1 + width * 4) + 1);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6], 8);
  const chunks = [chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return `data:image/png;base64,${Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...chunks]).toString("base64")}`;
}

/** PNG, section 5.3. */
function chunk(type: string, body: Buffer): Buffer {
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  const content = Buffer.concat([Buffer.from(type), body]);
  check.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, check]);
}
