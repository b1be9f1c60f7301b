import { columnCipher } from "../platform/column-cipher.ts";
import type { SecretBytes } from "../platform/secrets.ts";

/** Encrypts JSON of one column; `context` binds it to its row. */
export type SealedJson = {
  seal: (value: unknown, context: string) => Buffer;
  open: (sealed: Uint8Array, context: string) => unknown;
};

/** The columns' names, as keys are derived for them. */
export const callColumn = "provider_calls";
export const eventColumn = "provider_events";

export function sealedJson(secrets: SecretBytes, column: string): SealedJson {
  const cipher = columnCipher(secrets, column);
  return {
    seal: (value, context) => cipher.encrypt(Buffer.from(JSON.stringify(value ?? null)), context),
    open: (sealed, context) => JSON.parse(cipher.decrypt(sealed, context).toString()),
  };
}
