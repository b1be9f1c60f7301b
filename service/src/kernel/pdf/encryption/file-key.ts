import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { rc4 } from "./ciphers.ts";

/**
 * The entries of an Encrypt dictionary that serve to compute the file key and to verify the permissions (ISO 32000-2,
 * table 21).
 */
export type KeyEntries = {
  readonly revision: number;
  /** The key's length in bytes, 5 to 16. Not used from revision 5 on. */
  readonly keyLength: number;
  readonly o: Buffer;
  readonly u: Buffer;
  /** /UE, /OE and /Perms, which only revisions 5 and 6 use. Empty if the dictionary lacks them. */
  readonly ue: Buffer;
  readonly oe: Buffer;
  readonly perms: Buffer;
  /** The permissions P as a signed integer of 32 bits. */
  readonly permissions: number;
  readonly encryptMetadata: boolean;
  readonly id: Buffer;
};

/** The result of opening a file with the empty password: the file key, and whether the owner password is also empty. */
export type Opened = { readonly fileKey: Buffer; readonly owner: boolean };

/** The bytes that pad a short password to 32 bytes (7.6.4.3.2). An empty password becomes exactly these bytes. */
const PADDING = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");
const md5 = (...parts: Buffer[]) => parts.reduce((hash, part) => hash.update(part), createHash("md5")).digest();

/**
 * Opens a file with the empty user password. Null when the file has another user password, or when its entries are too
 * short.
 */
export function openByEmptyPassword(entries: KeyEntries): Opened | null {
  return entries.revision >= 5 ? openAes256(entries) : openRc4Key(entries);
}

/**
 * Revisions 2 to 4: algorithm 2 computes the key, algorithm 6 verifies it, and algorithm 3 shows whether the owner
 * password is empty.
 */
function openRc4Key(entries: KeyEntries): Opened | null {
  const { revision, keyLength, o, permissions, encryptMetadata, id } = entries;
  const p = Buffer.alloc(4);
  p.writeInt32LE(permissions);
  const plainMetadata = revision >= 4 && !encryptMetadata ? Buffer.alloc(4, 0xff) : Buffer.alloc(0);
  const hash = md5(PADDING, o.subarray(0, 32), p, id, plainMetadata);
  const fileKey = again(hash, revision, keyLength);
  const expected = revision === 2 ? rc4(fileKey, PADDING) : manyTimes(fileKey, md5(PADDING, id));
  if (!entries.u.subarray(0, expected.length).equals(expected)) return null;
  // Algorithm 3: computes the value that O has if the owner password is empty too.
  const ownerKey = again(md5(PADDING), revision, keyLength);
  const owner = revision === 2 ? rc4(ownerKey, PADDING) : manyTimes(ownerKey, PADDING);
  return { fileKey, owner: o.subarray(0, 32).equals(owner) };
}

function again(hash: Buffer, revision: number, keyLength: number): Buffer {
  let key = hash.subarray(0, keyLength);
  if (revision >= 3) for (let i = 0; i < 50; i++) key = md5(key).subarray(0, keyLength);
  return key;
}

/** RC4 twenty times, with the key's bytes XORed with 0 to 19. */
function manyTimes(key: Buffer, data: Buffer): Buffer {
  let out = data;
  for (let i = 0; i < 20; i++) out = rc4(Buffer.from(key.map((byte) => byte ^ i)), out);
  return out;
}

/** Revisions 5 and 6: algorithm 2.A, tried with the empty user and owner passwords. */
function openAes256(entries: KeyEntries): Opened | null {
  const { revision, o, u, ue, oe } = entries;
  if (o.length < 48 || u.length < 48 || ue.length < 32 || oe.length < 32) return null;
  const none = Buffer.alloc(0);
  if (!hash2B(revision, u.subarray(32, 40), none).equals(u.subarray(0, 32))) return null;
  const decipher = createDecipheriv("aes-256-cbc", hash2B(revision, u.subarray(40, 48), none), Buffer.alloc(16));
  const fileKey = decipher.setAutoPadding(false).update(ue.subarray(0, 32));
  return { fileKey, owner: hash2B(revision, o.subarray(32, 40), u.subarray(0, 48)).equals(o.subarray(0, 32)) };
}

/**
 * Algorithm 13: true if the permissions match their encrypted copy in the file. Always true before revision 5, which
 * has no such copy.
 */
export function permissionsGenuine(fileKey: Buffer, { revision, perms, permissions }: KeyEntries): boolean {
  if (revision < 5) return true;
  if (perms.length < 16) return false;
  const decipher = createDecipheriv("aes-256-ecb", fileKey, null);
  const decrypted = decipher.setAutoPadding(false).update(perms.subarray(0, 16));
  return decrypted.toString("latin1", 9, 12) === "adb" && decrypted.readInt32LE(0) === permissions;
}

/**
 * Algorithm 2.B for the empty password. Revision 5 computes one SHA-256 of the salt and the user entry; revision 6 adds
 * at least 64 rounds.
 */
function hash2B(revision: number, salt: Buffer, userEntry: Buffer): Buffer {
  let key = createHash("sha256").update(salt).update(userEntry).digest();
  if (revision === 5) return key;
  // Ends after at most 287 rounds, because `last` is below 256.
  for (let round = 1, last = 0; round <= 64 || last > round - 33; round++) {
    const cipher = createCipheriv("aes-128-cbc", key.subarray(0, 16), key.subarray(16, 32)).setAutoPadding(false);
    const encrypted = cipher.update(Buffer.concat(Array<Buffer[]>(64).fill([key, userEntry]).flat()));
    const remainder = encrypted.subarray(0, 16).reduce((sum, byte) => sum + byte, 0) % 3;
    key = createHash(["sha256", "sha384", "sha512"][remainder] ?? "")
      .update(encrypted)
      .digest();
    last = encrypted.at(-1) ?? 0;
  }
  return key.subarray(0, 32);
}
