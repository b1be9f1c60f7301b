import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { writeFileDurably } from "./durable-file.ts";
import { StartupError } from "./errors.ts";

/** 32 secret bytes that print as `***` wherever they are logged. */
export type SecretBytes = { readonly reveal: () => Uint8Array; toString: () => string; toJSON: () => string };

export function secretBytes(bytes: Uint8Array): SecretBytes {
  return { reveal: () => bytes, toString: () => "***", toJSON: () => "***" };
}

/**
 * Reads the key that encrypts secrets and blobs at rest, or makes it on the first run.
 * @param uri `file:PATH`; the file holds 64 hex digits.
 * @throws StartupError when the file is there but is no such key.
 */
export async function openSecretsKey(uri: string): Promise<SecretBytes> {
  const path = uri.slice("file:".length);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new StartupError(`SECRETS_KEY: ${path} cannot be read (${error.code})`);
  });
  if (text === null) {
    const bytes = randomBytes(32);
    await writeFileDurably(path, `${bytes.toString("hex")}\n`, { mode: 0o600, exclusive: true });
    // Another process may have made it first: what is on disk is the key.
    return openSecretsKey(uri);
  }
  if (!/^[0-9a-f]{64}\s*$/.test(text)) throw new StartupError(`SECRETS_KEY: ${path} must hold 64 hex digits`);
  return secretBytes(Buffer.from(text.trim(), "hex"));
}

/** A key of its own for each use, by HKDF-SHA256 (RFC 5869), so that no two uses share one. */
export function deriveKey(master: SecretBytes, use: string, salt: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.from(hkdfSync("sha256", master.reveal(), salt, use, 32));
}

/** Encrypts small values of a column with AES-256-GCM; `context` is authenticated, so a value can't be moved to another row. */
export type ColumnCipher = {
  encrypt: (plain: Uint8Array, context: string) => Buffer;
  /** @throws Error when the value was altered, moved or written under another key. */
  decrypt: (sealed: Uint8Array, context: string) => Buffer;
};

export function columnCipher(master: SecretBytes, column: string): ColumnCipher {
  const key = deriveKey(master, `column:${column}`);
  return {
    encrypt(plain, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(sealed, context) {
      const nonce = sealed.subarray(0, 12);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(sealed.length - 16));
      return Buffer.concat([decipher.update(sealed.subarray(12, sealed.length - 16)), decipher.final()]);
    },
  };
}
