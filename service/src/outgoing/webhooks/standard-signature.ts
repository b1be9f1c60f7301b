import { createHmac, type KeyObject, sign } from "node:crypto";
import type { SecretKeys } from "./signing.ts";

/** Headers of Standard Webhooks 1.0.0 (standardwebhooks.com), in addition to the contract's own headers. */
export const standardHeaders = {
  id: "webhook-id",
  timestamp: "webhook-timestamp",
  signature: "webhook-signature",
} as const;

/** A signing secret in the standard's form: the base64 of the 32 stored bytes. */
export const standardSecret = (hash: Buffer): string => `whsec_${hash.toString("base64")}`;

/** A public key in the standard's form: the base64 of its 32 raw bytes. */
export const standardPublicKey = (raw: Buffer): string => `whpk_${raw.toString("base64")}`;

export type SigningKeys = {
  /** The secrets, newest first. */
  secrets: readonly SecretKeys[];
  /** The Ed25519 key; null unless the firm has created its public key. */
  privateKey: KeyObject | null;
};

/**
 * The standard's three headers: `v1` for each secret, HMAC-SHA256, and `v1a`, Ed25519, over `{id}.{t}.{body}`. @param
 * t Unix seconds
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
