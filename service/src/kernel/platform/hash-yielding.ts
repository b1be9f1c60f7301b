import { createHash, type Hash } from "node:crypto";

/** The bytes to hash between two yields. Hashing them takes about two milliseconds. */
const sliceBytes = 4 * 1024 * 1024;

/**
 * Adds the bytes to a SHA-256 state. Between slices of a large document, other requests get their turn.
 * @param hash the state after any bytes that precede these
 */
export async function hashYielding(bytes: Uint8Array, hash: Hash = createHash("sha256")): Promise<Hash> {
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) await new Promise(setImmediate);
    hash.update(bytes.subarray(at, at + sliceBytes));
  }
  return hash;
}
