import type { ByteRange } from "../../platform/blobs/stored-file.ts";

/**
 * RFC 9110, section 14: one range of bytes.
 * @returns null for the whole file, which also answers what is no such range; "none" for one that lies behind the end
 */
export function byteRange(header: string | undefined, length: number): ByteRange | "none" | null {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") return null;
  if (from === "") return Number(to) === 0 ? "none" : { first: Math.max(0, length - Number(to)), last: length - 1 };
  const first = Number(from);
  const last = to === "" ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== "" && Number(to) < first) return null;
  return first < length ? { first, last } : "none";
}
