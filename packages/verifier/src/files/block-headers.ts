import { UsageError } from "../errors.ts";

const LINE = /^(\d{1,9})\s+([0-9a-fA-F]{160})$/;

/**
 * Block headers from text: a line for each with its height and its 80 bytes in hex, as `bitcoin-cli getblockheader
 * HASH false` prints them. Empty lines and those that begin with `#` are skipped.
 *
 * @throws UsageError naming the first malformed line, or the first that repeats a height
 */
export function parseHeaders(text: string): ReadonlyMap<number, Uint8Array> {
  const headers = new Map<number, Uint8Array>();
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const [, height, hex = ""] = LINE.exec(line) ?? [];
    if (height === undefined) throw new UsageError(`--headers: line ${index + 1} is not HEIGHT HEADER_HEX`);
    if (headers.has(Number(height)))
      throw new UsageError(`--headers: line ${index + 1} has a height for the second time`);
    headers.set(Number(height), Uint8Array.from(Buffer.from(hex, "hex")));
  }
  return headers;
}
