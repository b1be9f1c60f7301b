import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey, deriveSalted, keyId, keyIdBytes, keyOfId, keysOf, type SecretBytes } from "../secrets.ts";

/** What a blob is: read as anything else it does not decrypt. `owner` is empty where orders may take it over. */
export type BlobUse = {
  kind: "document" | "proof passport" | "proof certificate" | "closing passport";
  owner: string;
  /** Of the plain bytes, lowercase hex. */
  sha256: string;
};

const contextOf = ({ kind, owner, sha256 }: BlobUse): Buffer => Buffer.from(JSON.stringify([kind, owner, sha256]));

// Layout: magic with a version (5), the id of the key (4), the blob's own key under that key (nonce 12, 32, tag 16), then chunks of 64
// KiB + 16 bytes of tag. Nonce of a chunk: its number (11 bytes) and a last-chunk flag, as in the STREAM construction, so that
// cutting, swapping or extending chunks is noticed. Each chunk authenticates what the blob is.
// Versions 1 and 2, of before, have a salt (32) in place of key id and key: the blob's key is derived with it. Version 1 says nothing of
// what the blob is.
const magic = Buffer.from("SSSB\x03", "latin1");
const saltedMagic = Buffer.from("SSSB\x02", "latin1");
const unboundMagic = Buffer.from("SSSB\x01", "latin1");
const [nonceLength, keyLength, saltLength, chunkLength, tagLength] = [12, 32, 32, 64 * 1024, 16];
/** 4 MiB: some milliseconds of work. */
const sliceChunks = 64;
const idEnd = magic.length + keyIdBytes;
const saltedHeaderLength = magic.length + saltLength;
/** Bytes in front of the chunks. */
export const blobHeaderLength = idEnd + nonceLength + keyLength + tagLength;

function chunkNonce(index: number, last: boolean): Buffer {
  const bytes = Buffer.alloc(nonceLength);
  bytes.writeUIntBE(index, 5, 6);
  bytes[nonceLength - 1] = last ? 1 : 0;
  return bytes;
}

const isLast = (index: number, plainLength: number): boolean => (index + 1) * chunkLength >= plainLength;

/** Bytes that `encryptBlob` yields in all for a plain text of this length. */
export const encryptedLength = (plainLength: number): number =>
  blobHeaderLength + plainLength + Math.max(1, Math.ceil(plainLength / chunkLength)) * tagLength;

const wrappingKey = (master: SecretBytes): Buffer => deriveKey(master, "blob keys");

/** The header of a blob whose own key is `key`. */
function headerOf(master: SecretBytes, key: Uint8Array): Buffer {
  const start = Buffer.concat([magic, keyId(master)]);
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv("aes-256-gcm", wrappingKey(master), nonce).setAAD(start);
  return Buffer.concat([start, nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
}

/** The blob's own key. @throws Error for an altered header; ServiceError `unavailable` for a key that is not there */
function keyIn(master: SecretBytes, header: Uint8Array): Buffer {
  const writer = keyOfId(master, header.subarray(magic.length, idEnd));
  const sealed = header.subarray(idEnd, blobHeaderLength);
  const decipher = createDecipheriv("aes-256-gcm", wrappingKey(writer), sealed.subarray(0, nonceLength));
  decipher.setAAD(header.subarray(0, idEnd)).setAuthTag(sealed.subarray(sealed.length - tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, sealed.length - tagLength)), decipher.final()]);
}

/** Encrypts with AES-256-GCM under a key of this blob's own; yields pieces, so no second copy of the whole is held. */
export function* encryptBlob(master: SecretBytes, plain: Uint8Array, use: BlobUse): Generator<Uint8Array> {
  const context = contextOf(use);
  const key = randomBytes(keyLength);
  yield headerOf(master, key);
  for (let index = 0; ; index++) {
    const last = isLast(index, plain.length);
    const cipher = createCipheriv("aes-256-gcm", key, chunkNonce(index, last)).setAAD(context);
    const body = cipher.update(plain.subarray(index * chunkLength, (index + 1) * chunkLength));
    cipher.final();
    yield Buffer.concat([body, cipher.getAuthTag()]);
    if (last) return;
  }
}

/**
 * Decrypts what `encryptBlob` made, in the memory of `sealed`, which must not be used any more. Other requests get their turn
 * between the slices of a large one.
 * @throws Error when a byte was altered, cut or added, or it is something else than `use`
 * @throws ServiceError `unavailable` naming the key, when it was written with one that is not there
 */
export async function decryptBlob(master: SecretBytes, sealed: Uint8Array, use: BlobUse): Promise<Buffer> {
  const { key, context, start: first } = opened(master, sealed, use);
  const chunks = Math.ceil((sealed.length - first) / (chunkLength + tagLength));
  // A chunk's plain text ends before the next chunk begins, so a second copy of a large document need not be held.
  const plain = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length - first - chunks * tagLength);
  for (let index = 0; index < chunks; index++) {
    if (index > 0 && index % sliceChunks === 0) await new Promise(setImmediate);
    const start = first + index * (chunkLength + tagLength);
    const end = Math.min(start + chunkLength + tagLength, sealed.length);
    chunkOf({ key, context }, sealed.subarray(start, end), chunkNonce(index, index === chunks - 1)).copy(
      plain,
      index * chunkLength,
    );
  }
  return plain;
}

type Opened = { key: Buffer; context: Buffer };

function chunkOf({ key, context }: Opened, chunk: Uint8Array, nonce: Buffer): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(context);
  decipher.setAuthTag(chunk.subarray(chunk.length - tagLength));
  const plain = decipher.update(chunk.subarray(0, chunk.length - tagLength));
  decipher.final();
  return plain;
}

function opened(master: SecretBytes, sealed: Uint8Array, use: BlobUse): Opened & { start: number } {
  const version = sealed.subarray(0, magic.length);
  if (magic.equals(version) && sealed.length >= blobHeaderLength + tagLength)
    return { key: keyIn(master, sealed), context: contextOf(use), start: blobHeaderLength };
  const context = saltedMagic.equals(version) ? contextOf(use) : unboundMagic.equals(version) ? Buffer.alloc(0) : null;
  if (context === null || sealed.length < saltedHeaderLength + tagLength) throw new Error("not an encrypted blob");
  return { key: saltedKey(master, sealed, context), context, start: saltedHeaderLength };
}

/** The key of a blob of before: no id says which master key it is of, but its first chunk opens with one alone. */
function saltedKey(master: SecretBytes, sealed: Uint8Array, context: Buffer): Buffer {
  const salt = sealed.subarray(magic.length, saltedHeaderLength);
  const chunk = sealed.subarray(saltedHeaderLength, saltedHeaderLength + chunkLength + tagLength);
  const nonce = chunkNonce(0, saltedHeaderLength + chunk.length === sealed.length);
  const keys = keysOf(master).map((one) => deriveSalted(one, "blob", salt));
  const [only] = keys;
  // Of one key there is nothing to choose, and the chunk need not be read twice.
  if (keys.length === 1 && only) return only;
  for (const key of keys) {
    try {
      chunkOf({ key, context }, chunk, nonce);
      return key;
    } catch {}
  }
  throw new Error("a blob that no key opens, or an altered one");
}

/** Which key a blob's own key is under: its id in hex; `none` for one of before; null for what is no blob. */
export function blobKeyId(header: Uint8Array): string | null {
  const version = header.subarray(0, magic.length);
  if (magic.equals(version)) return Buffer.from(header.subarray(magic.length, idEnd)).toString("hex");
  return saltedMagic.equals(version) || unboundMagic.equals(version) ? "none" : null;
}

/**
 * The same blob with its own key under the current key: its chunks stay as they are.
 * @throws Error for an altered header; ServiceError `unavailable` for a key that is not there
 */
export function rewrapped(master: SecretBytes, sealed: Uint8Array): Uint8Array[] {
  return [headerOf(master, keyIn(master, sealed)), sealed.subarray(blobHeaderLength)];
}
