import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey, deriveSalted, keyId, keyIdBytes, keyOfId, keysOf, type SecretBytes } from "../secrets.ts";

/**
 * The identity of a blob, which decryption verifies. `owner` is empty for a blob that was stored before its order
 * existed.
 */
export type BlobUse = {
  kind: "document" | "proof passport" | "proof certificate" | "closing passport" | "recording";
  owner: string;
  /** The SHA-256 of the plain bytes, in lowercase hex. */
  sha256: string;
};

const contextOf = ({ kind, owner, sha256 }: BlobUse): Buffer => Buffer.from(JSON.stringify([kind, owner, sha256]));

// The layout of a blob: the magic with a version (5 bytes), the id of the master key (4), and the blob's own key,
// encrypted (nonce 12, key 32, tag 16). The key that encrypts the blob's own key is derived from the master key. Then
// come chunks of 64 KiB, each with a tag of 16 bytes that also authenticates the blob's identity.
//
// As in the STREAM construction, a chunk's nonce is its number (11 bytes) and a flag for the last chunk. So missing,
// swapped or added chunks are detected.
//
// Versions 1 and 2 have a salt (32 bytes) instead of the id and the encrypted key. The blob's key is derived from the
// master key and the salt. Version 1 doesn't authenticate the identity.
const magic = Buffer.from("SSSB\x03", "latin1");
const saltedMagic = Buffer.from("SSSB\x02", "latin1");
const unboundMagic = Buffer.from("SSSB\x01", "latin1");
const [nonceLength, keyLength, saltLength, chunkLength, tagLength] = [12, 32, 32, 64 * 1024, 16];
/**
 * The number of chunks that are decrypted at a stretch before other requests get their turn: 4 MiB, some milliseconds.
 */
const sliceChunks = 64;
const idEnd = magic.length + keyIdBytes;
const saltedHeaderLength = magic.length + saltLength;
/** The number of bytes in a blob before its first chunk. */
export const blobHeaderLength = idEnd + nonceLength + keyLength + tagLength;
/**
 * The number of bytes from a blob's beginning that `blobLayout` needs. For versions 1 and 2, this includes the first
 * chunk.
 */
export const blobBeginning = blobHeaderLength + chunkLength + tagLength;
/** The number of plain bytes in a chunk. */
export const blobChunk = chunkLength;

function chunkNonce(index: number, last: boolean): Buffer {
  const bytes = Buffer.alloc(nonceLength);
  bytes.writeUIntBE(index, 5, 6);
  bytes[nonceLength - 1] = last ? 1 : 0;
  return bytes;
}

const isLast = (index: number, plainLength: number): boolean => (index + 1) * chunkLength >= plainLength;

/** The encrypted length of a plain text of this length. */
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

/**
 * Decrypts the blob's own key.
 * @throws Error for an altered header; ServiceError `unavailable` when the key that encrypts it is missing
 */
function keyIn(master: SecretBytes, header: Uint8Array): Buffer {
  const writer = keyOfId(master, header.subarray(magic.length, idEnd));
  const sealed = header.subarray(idEnd, blobHeaderLength);
  const decipher = createDecipheriv("aes-256-gcm", wrappingKey(writer), sealed.subarray(0, nonceLength));
  decipher.setAAD(header.subarray(0, idEnd)).setAuthTag(sealed.subarray(sealed.length - tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, sealed.length - tagLength)), decipher.final()]);
}

/**
 * Encrypts with AES-256-GCM under the blob's own key. Yields pieces, so that memory never contains a second full copy.
 */
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
 * Decrypts the result of `encryptBlob`. The plain text overwrites `sealed`, so don't use `sealed` afterwards. Yields to
 * other requests between slices.
 * @throws Error when a byte was altered, cut or added, or when the blob is not the one that `use` identifies
 * @throws ServiceError `unavailable` naming the missing key
 */
export async function decryptBlob(master: SecretBytes, sealed: Uint8Array, use: BlobUse): Promise<Buffer> {
  const layout = blobLayout(master, sealed, sealed.length, use);
  // The plain text overwrites the encrypted text. A chunk's plain text ends before the next chunk begins, so a large
  // document needs no second copy.
  const plain = Buffer.from(sealed.buffer, sealed.byteOffset, layout.length);
  for (let first = 0; first < layout.chunks; first += sliceChunks) {
    if (first > 0) await new Promise(setImmediate);
    const { start, length } = stretchAt(layout, first, sliceChunks);
    decryptStretch(layout, first, sealed.subarray(start, start + length), plain.subarray(first * chunkLength));
  }
  return plain;
}

/** The decoded header of a blob, which is needed to decrypt any of its chunks. */
export type BlobLayout = Opened & {
  /** The length of the plain bytes, if the `total` from the store was right. */
  readonly length: number;
  readonly chunks: number;
  /** The offsets in the blob where the first chunk starts and where the last chunk ends. */
  readonly start: number;
  readonly end: number;
};

/**
 * Decodes the header of a blob.
 * @param beginning the first `blobBeginning` bytes of the blob
 * @param total the length of the whole blob; only decrypting the last chunk proves it
 * @throws Error for bytes that are not a blob or have an altered header; ServiceError `unavailable` for a missing key
 */
export function blobLayout(master: SecretBytes, beginning: Uint8Array, total: number, use: BlobUse): BlobLayout {
  const { key, context, start } = opened(master, beginning, total, use);
  const chunks = Math.ceil((total - start) / (chunkLength + tagLength));
  return { key, context, chunks, start, end: total, length: total - start - chunks * tagLength };
}

/** The byte range of consecutive chunks, limited to the end of the blob. */
export function stretchAt(
  { start, end }: BlobLayout,
  first: number,
  chunks: number,
): { start: number; length: number } {
  const from = start + first * (chunkLength + tagLength);
  return { start: from, length: Math.min(chunks * (chunkLength + tagLength), end - from) };
}

/**
 * Decrypts consecutive chunks.
 * @param into the memory for the plain text; by default the beginning of `sealed`, which must not be used afterwards
 * @throws Error when a byte was altered, cut or added, or the chunks are from another position or another blob
 */
export function decryptStretch(
  layout: BlobLayout,
  first: number,
  sealed: Buffer | Uint8Array,
  into: Uint8Array = sealed,
): Buffer {
  let length = 0;
  for (let at = 0; at < sealed.length; at += chunkLength + tagLength) {
    const index = first + at / (chunkLength + tagLength);
    const chunk = sealed.subarray(at, at + chunkLength + tagLength);
    const plain = chunkOf(layout, chunk, chunkNonce(index, index === layout.chunks - 1));
    into.set(plain, length);
    length += plain.length;
  }
  return Buffer.from(into.buffer, into.byteOffset, length);
}

type Opened = { readonly key: Buffer; readonly context: Buffer };

function chunkOf({ key, context }: Opened, chunk: Uint8Array, nonce: Buffer): Buffer {
  // Requires a tag of full length. A tag cut short, as in a truncated blob, would be easier to forge.
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength }).setAAD(context);
  decipher.setAuthTag(chunk.subarray(chunk.length - tagLength));
  const plain = decipher.update(chunk.subarray(0, chunk.length - tagLength));
  decipher.final();
  return plain;
}

function opened(master: SecretBytes, sealed: Uint8Array, total: number, use: BlobUse): Opened & { start: number } {
  const version = sealed.subarray(0, magic.length);
  if (magic.equals(version) && total >= blobHeaderLength + tagLength)
    return { key: keyIn(master, sealed), context: contextOf(use), start: blobHeaderLength };
  const context = saltedMagic.equals(version) ? contextOf(use) : unboundMagic.equals(version) ? Buffer.alloc(0) : null;
  if (context === null || total < saltedHeaderLength + tagLength) throw new Error("not an encrypted blob");
  return { key: saltedKey(master, sealed, total, context), context, start: saltedHeaderLength };
}

/**
 * Finds the key of a blob that was stored before keys had ids. Tries the keys on the first chunk, which only the right
 * key can decrypt.
 */
function saltedKey(master: SecretBytes, sealed: Uint8Array, total: number, context: Buffer): Buffer {
  const salt = sealed.subarray(magic.length, saltedHeaderLength);
  const chunk = sealed.subarray(saltedHeaderLength, saltedHeaderLength + chunkLength + tagLength);
  const nonce = chunkNonce(0, saltedHeaderLength + chunk.length === total);
  const keys = keysOf(master).map((one) => deriveSalted(one, "blob", salt));
  const [only] = keys;
  // If there is only one key, it is used without a test on the first chunk.
  if (keys.length === 1 && only) return only;
  for (const key of keys) {
    try {
      chunkOf({ key, context }, chunk, nonce);
      return key;
    } catch {}
  }
  throw new Error("a blob that no key opens, or an altered one");
}

/**
 * The id of the key that encrypts a blob's own key, in hex. `none` for a blob stored before keys had ids; null if the
 * bytes are not a blob.
 */
export function blobKeyId(header: Uint8Array): string | null {
  const version = header.subarray(0, magic.length);
  if (magic.equals(version)) return Buffer.from(header.subarray(magic.length, idEnd)).toString("hex");
  return saltedMagic.equals(version) || unboundMagic.equals(version) ? "none" : null;
}

/**
 * The blob with its own key encrypted under the current key; its chunks stay unchanged.
 * @throws Error for an altered header; ServiceError `unavailable` for a missing key
 */
export function rewrapped(master: SecretBytes, sealed: Uint8Array): Uint8Array[] {
  return [headerOf(master, keyIn(master, sealed)), sealed.subarray(blobHeaderLength)];
}
