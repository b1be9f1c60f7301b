import { inflateSync } from "node:zlib";
import { encodePng, type UploadedMark } from "../../envelopes/envelopes.ts";
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
  return `data:image/png;base64,${encodePng({ width, height, rgba }).toString("base64")}`;
}
