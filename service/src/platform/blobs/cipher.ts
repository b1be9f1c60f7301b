import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey, type SecretBytes } from "../secrets.ts";

/** What a blob is: read as anything else it does not decrypt. `owner` is empty where orders may take it over. */
export type BlobUse = {
  kind: "document" | "proof passport" | "closing passport";
  owner: string;
  /** Of the plain bytes, lowercase hex. */
  sha256: string;
};

const contextOf = ({ kind, owner, sha256 }: BlobUse): Buffer => Buffer.from(JSON.stringify([kind, owner, sha256]));

// Layout: magic with a version (5), salt (32), then chunks of 64 KiB + 16 bytes of tag. Nonce: chunk number (11 bytes) and a last-chunk
// flag, as in the STREAM construction, so that cutting, swapping or extending chunks is noticed.
// Version 2 authenticates with each chunk what the blob is; blobs of version 1, of before, say nothing of it.
const magic = Buffer.from("SSSB\x02", "latin1");
const unboundMagic = Buffer.from("SSSB\x01", "latin1");
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
export function* encryptBlob(master: SecretBytes, plain: Uint8Array, use: BlobUse): Generator<Uint8Array> {
  const context = contextOf(use);
  const salt = randomBytes(saltLength);
  const key = deriveKey(master, "blob", salt);
  yield Buffer.concat([magic, salt]);
  for (let index = 0; ; index++) {
    const last = isLast(index, plain.length);
    const cipher = createCipheriv("aes-256-gcm", key, nonce(index, last)).setAAD(context);
    const body = cipher.update(plain.subarray(index * chunkLength, (index + 1) * chunkLength));
    cipher.final();
    yield Buffer.concat([body, cipher.getAuthTag()]);
    if (last) return;
  }
}

/**
 * Decrypts what `encryptBlob` made, in the memory of `sealed`, which must not be used any more.
 * @throws Error when a byte was altered, cut or added, it is something else than `use`, or the key is another.
 */
export function decryptBlob(master: SecretBytes, sealed: Uint8Array, use: BlobUse): Buffer {
  const context = contextIn(sealed, use);
  const key = deriveKey(master, "blob", sealed.subarray(magic.length, headerLength));
  const chunks = Math.ceil((sealed.length - headerLength) / (chunkLength + tagLength));
  // A chunk's plain text ends before the next chunk begins, so a second copy of a large document need not be held.
  const plain = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length - headerLength - chunks * tagLength);
  for (let index = 0; index < chunks; index++) {
    const start = headerLength + index * (chunkLength + tagLength);
    const end = Math.min(start + chunkLength + tagLength, sealed.length);
    const decipher = createDecipheriv("aes-256-gcm", key, nonce(index, index === chunks - 1)).setAAD(context);
    decipher.setAuthTag(sealed.subarray(end - tagLength, end));
    decipher.update(sealed.subarray(start, end - tagLength)).copy(plain, index * chunkLength);
    decipher.final();
  }
  return plain;
}

function contextIn(sealed: Uint8Array, use: BlobUse): Buffer {
  const start = sealed.subarray(0, magic.length);
  if (sealed.length >= headerLength + tagLength) {
    if (magic.equals(start)) return contextOf(use);
    if (unboundMagic.equals(start)) return Buffer.alloc(0);
  }
  throw new Error("not an encrypted blob");
}
