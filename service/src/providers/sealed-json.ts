import { columnCipher } from "../kernel/platform/column-cipher.ts";
import { sql } from "../kernel/platform/database/sql.ts";
import type { ProtectedTable } from "../kernel/platform/protected-data.ts";
import type { SecretBytes } from "../kernel/platform/secrets.ts";

/** Encrypts the JSON of one column. `context` binds the ciphertext to its row. */
export type SealedJson = {
  seal: (value: unknown, context: string) => Buffer;
  open: (sealed: Uint8Array, context: string) => unknown;
};

/** The names from which the columns' keys are derived. */
export const callColumn = "provider_calls";
export const eventColumn = "provider_events";

export const callContext = sql`act || ':' || order_id || ':' || attempt`;

export const providerEventRows: ProtectedTable = {
  table: sql`provider_events`,
  key: sql`id`,
  ciphers: [{ use: eventColumn, column: sql`content`, context: sql`provider || ':' || event_id` }],
};

export function sealedJson(secrets: SecretBytes, column: string): SealedJson {
  const cipher = columnCipher(secrets, column);
  return {
    seal: (value, context) => cipher.encrypt(Buffer.from(JSON.stringify(value ?? null)), context),
    open: (sealed, context) => JSON.parse(cipher.decrypt(sealed, context).toString()),
  };
}
