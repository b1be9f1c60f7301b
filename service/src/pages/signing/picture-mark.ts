import { inflateSync } from "node:zlib";
import { encodePng, type UploadedMark } from "../../signing/envelopes/envelopes.ts";
import { type Picture, readPicture, samplesOf } from "./picture.ts";

/** Parses the picture of a signature from a form field; null when malformed. */
export function pictureMark(text: string): UploadedMark | null {
  const picture = readPicture(text);
  const rgba = picture && rgbaOf(picture);
  if (!rgba) return null;
  const { width, height } = picture;
  return { kind: "uploaded", width, height, ...samplesOf(rgba) };
}

/** The picture's pixels; null when their number does not match its size. */
function rgbaOf({ width, height, deflated }: Picture): Uint8Array | null {
  const length = width * height * 4;
  try {
    const rgba = inflateSync(Buffer.from(deflated, "base64url"), { maxOutputLength: length });
    return rgba.length === length ? rgba : null;
  } catch {
    return null;
  }
}

/** The picture as a `data:` URL, for pages without scripts; null when malformed. */
export function pictureUrl(text: string): string | null {
  const picture = readPicture(text);
  const rgba = picture && rgbaOf(picture);
  if (!rgba) return null;
  const { width, height } = picture;
  return `data:image/png;base64,${encodePng({ width, height, rgba }).toString("base64")}`;
}
