import { createHmac, timingSafeEqual } from "node:crypto";
import type { Environment } from "../identity/identity.ts";
import { deriveKey, keysOf, type SecretBytes } from "../platform/secrets.ts";

/** What a passport says of a document: what verification repeats, and whose it is. */
export type PassportFacts = {
  id: string;
  verifyCode: string;
  partnerId: string;
  environment: Environment;
  docSha256: string;
  sealedSha256: string;
  createdAt: Date;
};

/** Binds a passport's facts together with a key that is not in the database. */
export type RowIntegrity = {
  /** HMAC-SHA256, 32 bytes. */
  macOf: (facts: PassportFacts) => Buffer;
  /** Whether the facts are those that were written when the document was sealed. */
  holds: (facts: PassportFacts, mac: Uint8Array) => boolean;
};

/** @param master the keys of SECRETS_KEY and SECRETS_KEYS_OLD; of each another key of its own is derived. */
export function createRowIntegrity(master: SecretBytes): RowIntegrity {
  const macWith = (key: SecretBytes, facts: PassportFacts): Buffer =>
    createHmac("sha256", deriveKey(key, "passport row")).update(textOf(facts)).digest();
  return {
    macOf: (facts) => macWith(master, facts),
    holds: (facts, mac) => mac.length === 32 && keysOf(master).some((key) => timingSafeEqual(macWith(key, facts), mac)),
  };
}

function textOf({ id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt }: PassportFacts): string {
  return [id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt.getTime()].join("\n");
}
