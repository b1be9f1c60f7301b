import { createHmac, type KeyObject, sign } from "node:crypto";
import type { SecretKeys } from "./signing.ts";

/**
 * The names of the headers of Standard Webhooks 1.0.0 (standardwebhooks.com). They are sent in addition to the
 * contract's headers.
 */
export const standardHeaders = {
  id: "webhook-id",
  timestamp: "webhook-timestamp",
  signature: "webhook-signature",
} as const;

/** A signing secret in the form of Standard Webhooks: the 32 bytes of its stored hash in base64. */
export const standardSecret = (hash: Buffer): string => `whsec_${hash.toString("base64")}`;

/** A public key in the form of Standard Webhooks: its 32 raw bytes in base64. */
export const standardPublicKey = (raw: Buffer): string => `whpk_${raw.toString("base64")}`;

export type SigningKeys = {
  /** The secrets, newest first. */
  secrets: readonly SecretKeys[];
  /** The Ed25519 key; null for a firm that has not created one. */
  privateKey: KeyObject | null;
};

/**
 * The three headers of Standard Webhooks. The signature covers `{id}.{t}.{body}`: one `v1` (HMAC-SHA256) for each
 * secret, and one `v1a` (Ed25519) if there is a key.
 * @param t in Unix seconds
 */
export function standardSigned(id: string, t: number, body: Buffer, keys: SigningKeys): Record<string, string> {
  const content = Buffer.concat([Buffer.from(`${id}.${t}.`), body]);
  const signatures = keys.secrets.map(
    ({ standard }) => `v1,${createHmac("sha256", standard).update(content).digest("base64")}`,
  );
  if (keys.privateKey) signatures.push(`v1a,${sign(null, content, keys.privateKey).toString("base64")}`);
  return {
    [standardHeaders.id]: id,
    [standardHeaders.timestamp]: String(t),
    [standardHeaders.signature]: signatures.join(" "),
  };
}
