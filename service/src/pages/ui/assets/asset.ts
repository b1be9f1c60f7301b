import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";

/** A file that is served from memory; `hash` tells its contents apart. */
export type Asset = {
  bytes: Buffer;
  gzipped: Buffer;
  /** By Brotli, a tenth smaller; made when a browser asks for it first. Null where that would take long. */
  brotli: (() => Promise<Buffer>) | null;
  mediaType: string;
  hash: string;
};

const compressed = promisify(brotliCompress);

/** Compressed once. */
export function brotliOf(bytes: Buffer): () => Promise<Buffer> {
  let made: Promise<Buffer> | undefined;
  return () => {
    made ??= compressed(bytes);
    return made;
  };
}
