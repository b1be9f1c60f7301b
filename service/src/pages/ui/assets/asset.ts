import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";

/** A file that is served from memory; `hash` identifies its content. */
export type Asset = {
  bytes: Buffer;
  gzipped: Buffer;
  /**
   * Returns the content compressed with Brotli, which is a tenth smaller than gzip. It is compressed at the first call.
   * Null when compressing would be too slow.
   */
  brotli: (() => Promise<Buffer>) | null;
  mediaType: string;
  hash: string;
};

const compressed = promisify(brotliCompress);

/** Compresses the content once; further calls return the same result. */
export function brotliOf(bytes: Buffer): () => Promise<Buffer> {
  let loading: Promise<Buffer> | undefined;
  return () => {
    loading ??= compressed(bytes);
    return loading;
  };
}
