import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { AlteredRecordError } from "./errors.ts";
import { deriveKey, keyId, keyIdBytes, keyOfId, keysOf, type SecretBytes } from "./secrets.ts";

/**
 * Encrypts the small values of one database column with AES-256-GCM. `context` is authenticated with each value, so
 * that a value can't be moved to another row.
 */
export type ColumnCipher = {
  encrypt: (plain: Uint8Array, context: string) => Buffer;
  /**
   * Decrypts a value.
   * @throws AlteredRecordError when the value was altered or moved
   * @throws ServiceError `unavailable` naming the missing key
   */
  decrypt: (sealed: Uint8Array, context: string) => Buffer;
};

const [nonceLength, tagLength] = [12, 16];

// Layout: magic with a version (5), the key's id (4), nonce (12), the encrypted value, tag (16). Values of earlier
// releases have neither magic nor id, so decryption tries all keys on them.
/** The prefix of values that include their key's id. */
export const columnMagic = Buffer.from("SSSC\x02", "latin1");
const idEnd = columnMagic.length + keyIdBytes;

/** The prefix of values written with the current key. */
export const columnPrefix = (master: SecretBytes): Buffer => Buffer.concat([columnMagic, keyId(master)]);

export function columnCipher(master: SecretBytes, column: string): ColumnCipher {
  const prefix = columnPrefix(master);
  const keys = new Map(keysOf(master).map((one) => [one, columnKey(one, column)]));
  const keyOf = (one: SecretBytes): KeyObject => keys.get(one) ?? columnKey(one, column);
  const key = keyOf(master);
  return {
    encrypt(plain, context) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      return Buffer.concat([prefix, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(sealed, context) {
      if (!columnMagic.equals(sealed.subarray(0, columnMagic.length)))
        return decryptOfBefore(keys.values(), sealed, context);
      const writer = keyOfId(master, sealed.subarray(columnMagic.length, idEnd));
      return opened(keyOf(writer), sealed.subarray(idEnd), context);
    },
  };
}

const columnKey = (key: SecretBytes, column: string): KeyObject => createSecretKey(deriveKey(key, `column:${column}`));

function opened(key: KeyObject, sealed: Uint8Array, context: string): Buffer {
  const nonce = sealed.subarray(0, nonceLength);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
    decipher.setAuthTag(sealed.subarray(sealed.length - tagLength));
    return Buffer.concat([decipher.update(sealed.subarray(nonceLength, sealed.length - tagLength)), decipher.final()]);
  } catch (cause) {
    throw new AlteredRecordError(undefined, { cause });
  }
}

function decryptOfBefore(keys: Iterable<KeyObject>, sealed: Uint8Array, context: string): Buffer {
  let fault: unknown;
  for (const key of keys) {
    try {
      return opened(key, sealed, context);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}
