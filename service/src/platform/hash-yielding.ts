import { createHash, type Hash } from "node:crypto";

/** Two milliseconds of work. */
const sliceBytes = 4 * 1024 * 1024;

/** SHA-256 state of the bytes; other requests get their turn between the slices of a large document. */
export async function hashYielding(bytes: Uint8Array): Promise<Hash> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) await new Promise(setImmediate);
    hash.update(bytes.subarray(at, at + sliceBytes));
  }
  return hash;
}
