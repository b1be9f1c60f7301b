import { hash, timingSafeEqual } from "node:crypto";
import type { Environment } from "../identity/identity.ts";
import { deriveKey, type SecretBytes } from "../platform/secrets.ts";

const maxText = 512;

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
export type RowMac = {
  /** HMAC-SHA256, 32 bytes. */
  of: (facts: PassportFacts) => Buffer;
  /** Whether the facts are those that were written when the document was sealed. */
  holds: (facts: PassportFacts, mac: Uint8Array) => boolean;
};

/** @param master the key of SECRETS_KEY; another key of its own is derived from it. */
export function createRowMac(master: SecretBytes): RowMac {
  const mac = hmacSha256(deriveKey(master, "passport row"));
  const of = ({ id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt }: PassportFacts): Buffer =>
    mac([id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt.getTime()].join("\n"));
  return { of, holds: (facts, mac) => mac.length === 32 && timingSafeEqual(of(facts), mac) };
}

/**
 * HMAC-SHA256 (RFC 2104) of short ASCII texts, in two one-shot hashes: a verification is a few dozen microseconds in all,
 * and `createHmac` takes four of them.
 */
export function hmacSha256(key: Uint8Array): (text: string) => Buffer {
  const inner = Buffer.alloc(64 + maxText, 0x36);
  const outer = Buffer.alloc(64 + 32, 0x5c);
  for (const [at, byte] of key.entries()) {
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  return (text) => {
    if (text.length > maxText) throw new RangeError(`a text of more than ${maxText} characters`);
    const length = inner.write(text, 64, "latin1");
    hash("sha256", inner.subarray(0, 64 + length), "buffer").copy(outer, 64);
    return hash("sha256", outer, "buffer");
  };
}
