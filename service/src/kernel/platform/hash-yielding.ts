import { createHash, type Hash } from "node:crypto";

/** Two milliseconds of work. */
const sliceBytes = 4 * 1024 * 1024;

/**
 * SHA-256 state of the bytes; other requests get their turn between the slices of a large document.
 * @param hash the state of what comes before them
 */
export async function hashYielding(bytes: Uint8Array, hash: Hash = createHash("sha256")): Promise<Hash> {
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) await new Promise(setImmediate);
    hash.update(bytes.subarray(at, at + sliceBytes));
  }
  return hash;
}
