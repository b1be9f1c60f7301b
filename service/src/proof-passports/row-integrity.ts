import { createHmac, timingSafeEqual } from "node:crypto";
import type { Environment } from "../identity/identity.ts";
import { deriveKey, type SecretBytes } from "../platform/secrets.ts";

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

/** @param master the key of SECRETS_KEY; another key of its own is derived from it. */
export function createRowIntegrity(master: SecretBytes): RowIntegrity {
  const key = deriveKey(master, "passport row");
  const macOf = (facts: PassportFacts): Buffer => createHmac("sha256", key).update(textOf(facts)).digest();
  return { macOf, holds: (facts, mac) => mac.length === 32 && timingSafeEqual(macOf(facts), mac) };
}

function textOf({ id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt }: PassportFacts): string {
  return [id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt.getTime()].join("\n");
}
