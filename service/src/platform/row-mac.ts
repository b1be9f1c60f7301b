import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { deriveKey, type SecretBytes } from "./secrets.ts";

/** What a row says, by name; the order of the names counts. A time counts to the millisecond. */
export type Members = { readonly [name: string]: string | number | boolean | Date | null };

/**
 * Binds the rows of evidence to a key that is not in the database: who can write the database alone can neither make nor
 * alter a row that holds.
 */
export type RowMac = {
  /** The id of the key (4 bytes) and HMAC-SHA-256 over table and members (32 bytes). */
  of: (table: string, members: Members) => Buffer;
  /** Whether exactly these members were written to the table by who has the key; false for a row without a MAC. */
  holds: (table: string, members: Members, mac: Uint8Array | null) => boolean;
};

const idBytes = 4;

/** @param master the key of SECRETS_KEY; another key of its own is derived from it. */
export function openRowMac(master: SecretBytes): RowMac {
  const key = createSecretKey(deriveKey(master, "row MAC"));
  const keyId = deriveKey(master, "row MAC key id").subarray(0, idBytes);
  const of = (table: string, members: Members): Buffer =>
    Buffer.concat([keyId, createHmac("sha256", key).update(encoded(table, members)).digest()]);
  return {
    of,
    holds(table, members, mac) {
      const expected = of(table, members);
      return mac !== null && mac.length === expected.length && timingSafeEqual(expected, mac);
    },
  };
}

/** One text for each table and members in their order: JSON, a time in ISO 8601. (`npm run bench closing`: sorting costs.) */
const encoded = (table: string, members: Members): string => JSON.stringify([table, members]);
