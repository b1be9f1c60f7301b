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
/** As much of a blob as `blobLayout` needs: of one of before the first chunk, too. */
export const blobBeginning = blobHeaderLength + chunkLength + tagLength;
/** Plain bytes of a chunk. */
export const blobChunk = chunkLength;

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
  const layout = blobLayout(master, sealed, sealed.length, use);
  // A chunk's plain text ends before the next chunk begins, so a second copy of a large document need not be held.
  const plain = Buffer.from(sealed.buffer, sealed.byteOffset, layout.length);
  for (let first = 0; first < layout.chunks; first += sliceChunks) {
    if (first > 0) await new Promise(setImmediate);
    const { start, length } = stretchAt(layout, first, sliceChunks);
    decryptStretch(layout, first, sealed.subarray(start, start + length), plain.subarray(first * chunkLength));
  }
  return plain;
}

/** The header of a blob: enough to decrypt each chunk by itself. */
export type BlobLayout = Opened & {
  /** Of the plain bytes, if the whole blob has the length that was said. */
  readonly length: number;
  readonly chunks: number;
  /** Where the first chunk begins, and where the last one ends. */
  readonly start: number;
  readonly end: number;
};

/**
 * @param beginning of the blob, `blobBeginning` bytes of it
 * @param total how long the whole blob is. Only its last chunk authenticates that.
 * @throws Error for what is no blob, or has an altered header; ServiceError `unavailable` for a key that is not there
 */
export function blobLayout(master: SecretBytes, beginning: Uint8Array, total: number, use: BlobUse): BlobLayout {
  const { key, context, start } = opened(master, beginning, total, use);
  const chunks = Math.ceil((total - start) / (chunkLength + tagLength));
  return { key, context, chunks, start, end: total, length: total - start - chunks * tagLength };
}

/** Which bytes of the blob are so many chunks from this one on, or as many as there are. */
export function stretchAt(
  { start, end }: BlobLayout,
  first: number,
  chunks: number,
): { start: number; length: number } {
  const from = start + first * (chunkLength + tagLength);
  return { start: from, length: Math.min(chunks * (chunkLength + tagLength), end - from) };
}

/**
 * Decrypts chunks that follow one another.
 * @param into where the plain text goes; by default over the beginning of `sealed`, which must not be used any more
 * @throws Error when a byte was altered, cut or added, or these are chunks of another place, or of something else than was said
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
  // A shorter tag, of a blob that was cut, is refused: it would be easier to guess.
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

/** The key of a blob of before: no id says which master key it is of, but its first chunk opens with one alone. */
function saltedKey(master: SecretBytes, sealed: Uint8Array, total: number, context: Buffer): Buffer {
  const salt = sealed.subarray(magic.length, saltedHeaderLength);
  const chunk = sealed.subarray(saltedHeaderLength, saltedHeaderLength + chunkLength + tagLength);
  const nonce = chunkNonce(0, saltedHeaderLength + chunk.length === total);
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
