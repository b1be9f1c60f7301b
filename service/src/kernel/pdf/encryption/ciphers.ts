import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Ref } from "../lexer.ts";

/** Encrypts and decrypts the strings or streams of one object (ISO 32000-2 7.6.3). */
export type Cipher = {
  /** Decrypts data; null when they can't be the output of this cipher. */
  readonly decrypt: (data: Buffer, object: Ref) => Buffer | null;
  /**
   * Encrypts data.
   * @param iv 16 bytes for AES; unused for RC4
   */
  readonly encrypt: (data: Buffer, object: Ref, iv: Buffer) => Buffer;
};

/** The ciphers for strings and streams of a document (ISO 32000-2 7.6). Null means that they are not encrypted. */
export type Encryption = { readonly strings: Cipher | null; readonly streams: Cipher | null };

const BLOCK = 16;

/** RC4, implemented here because Node.js no longer enables it in OpenSSL. */
export function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i);
  let j = 0;
  const swap = (i: number) => {
    const previous = state[i] ?? 0;
    state[i] = state[j] ?? 0;
    state[j] = previous;
    return (state[i] ?? 0) + previous;
  };
  for (let i = 0; i < 256; i++) {
    j = (j + (state[i] ?? 0) + (key[i % key.length] ?? 0)) & 255;
    swap(i);
  }
  const out = Buffer.allocUnsafe(data.length);
  j = 0;
  for (let at = 0; at < data.length; at++) {
    const i = (at + 1) & 255;
    j = (j + (state[i] ?? 0)) & 255;
    out[at] = (data[at] ?? 0) ^ (state[swap(i) & 255] ?? 0);
  }
  return out;
}

/** Algorithm 1 of ISO 32000-2 (7.6.3) with RC4. */
export function rc4Cipher(fileKey: Buffer): Cipher {
  const apply = (data: Buffer, object: Ref) => rc4(objectKey(fileKey, object, ""), data);
  return { decrypt: apply, encrypt: apply };
}

/** Algorithm 1 of ISO 32000-2 (7.6.3) with AES-128 (AESV2). */
export function aes128Cipher(fileKey: Buffer): Cipher {
  return aesCipher("aes-128-cbc", (object) => objectKey(fileKey, object, "sAlT"));
}

/** Algorithm 1.A: AES-256 (AESV3), one key for all objects. */
export function aes256Cipher(fileKey: Buffer): Cipher {
  return aesCipher("aes-256-cbc", () => fileKey);
}

function aesCipher(algorithm: string, keyOf: (object: Ref) => Buffer): Cipher {
  return {
    decrypt(data, object) {
      if (data.length < 2 * BLOCK || data.length % BLOCK !== 0) return null;
      const decipher = createDecipheriv(algorithm, keyOf(object), data.subarray(0, BLOCK));
      try {
        return Buffer.concat([decipher.update(data.subarray(BLOCK)), decipher.final()]);
      } catch {
        return null;
      }
    },
    encrypt(data, object, iv) {
      const cipher = createCipheriv(algorithm, keyOf(object), iv);
      return Buffer.concat([iv, cipher.update(data), cipher.final()]);
    },
  };
}

/** The key for one object: algorithm 1 up to its step d. */
function objectKey(fileKey: Buffer, { num, gen }: Ref, salt: string): Buffer {
  const numbers = Buffer.from([num, num >> 8, num >> 16, gen, gen >> 8]);
  const hash = createHash("md5").update(fileKey).update(numbers).update(salt, "latin1").digest();
  return hash.subarray(0, Math.min(fileKey.length + 5, BLOCK));
}
