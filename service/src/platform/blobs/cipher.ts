import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey, type SecretBytes } from "../secrets.ts";

// Layout: magic (5), salt (32), then chunks of 64 KiB + 16 bytes of tag. Nonce: chunk number (11 bytes) and a last-chunk
// flag, as in the STREAM construction, so that cutting, swapping or extending chunks is noticed.
const magic = Buffer.from("SSSB\x01", "latin1");
const saltLength = 32;
const headerLength = magic.length + saltLength;
const chunkLength = 64 * 1024;
const tagLength = 16;

function nonce(index: number, last: boolean): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUIntBE(index, 5, 6);
  bytes[11] = last ? 1 : 0;
  return bytes;
}

const isLast = (index: number, plainLength: number): boolean => (index + 1) * chunkLength >= plainLength;

/** Bytes that `encryptBlob` yields in all for a plain text of this length. */
export const encryptedLength = (plainLength: number): number =>
  headerLength + plainLength + Math.max(1, Math.ceil(plainLength / chunkLength)) * tagLength;

/** Encrypts with AES-256-GCM under a key of this blob's own; yields pieces, so no second copy of the whole is held. */
export function* encryptBlob(master: SecretBytes, plain: Uint8Array): Generator<Uint8Array> {
  const salt = randomBytes(saltLength);
  const key = deriveKey(master, "blob", salt);
  yield Buffer.concat([magic, salt]);
  for (let index = 0; ; index++) {
    const last = isLast(index, plain.length);
    const cipher = createCipheriv("aes-256-gcm", key, nonce(index, last));
    const body = cipher.update(plain.subarray(index * chunkLength, (index + 1) * chunkLength));
    cipher.final();
    yield Buffer.concat([body, cipher.getAuthTag()]);
    if (last) return;
  }
}

/**
 * Decrypts what `encryptBlob` made, in the memory of `sealed`, which must not be used any more.
 * @throws Error when a byte was altered, cut or added, or the key is another.
 */
export function decryptBlob(master: SecretBytes, sealed: Uint8Array): Buffer {
  if (sealed.length < headerLength + tagLength || !magic.equals(sealed.subarray(0, magic.length)))
    throw new Error("not an encrypted blob");
  const key = deriveKey(master, "blob", sealed.subarray(magic.length, headerLength));
  const chunks = Math.ceil((sealed.length - headerLength) / (chunkLength + tagLength));
  // A chunk's plain text ends before the next chunk begins, so a second copy of a large document need not be held.
  const plain = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length - headerLength - chunks * tagLength);
  for (let index = 0; index < chunks; index++) {
    const start = headerLength + index * (chunkLength + tagLength);
    const end = Math.min(start + chunkLength + tagLength, sealed.length);
    const decipher = createDecipheriv("aes-256-gcm", key, nonce(index, index === chunks - 1));
    decipher.setAuthTag(sealed.subarray(end - tagLength, end));
    decipher.update(sealed.subarray(start, end - tagLength)).copy(plain, index * chunkLength);
    decipher.final();
  }
  return plain;
}
