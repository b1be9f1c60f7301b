import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import type { Place } from "../../kernel/events/events.ts";
import { newSecret } from "../../kernel/platform/ids.ts";

export const signatureHeader = "Service-Signature";
export const eventHeader = "Service-Event";
export const chainHeader = "Service-Chain";

/**
 * The header with the newest checkpoint of the transparency log: a signed note in base64. A receiver that stores it can
 * later prove that the service showed this state of the log.
 */
export const checkpointHeader = "Service-Log-Checkpoint";

/** The most seconds by which a signature's time may differ from the receiver's clock. */
export const toleranceSeconds = 300;

/** Describes how to verify a signature (contract, Events, "Signature scheme"). */
export const verification =
  `${signatureHeader} is t=<unix seconds>,v1=<hex>; while a secret is being rotated it has several v1 entries, and any of them ` +
  "may match. v1 is HMAC-SHA256 in lowercase hex over '{t}.{raw body}', and its key is the lowercase hex of the SHA-256 of " +
  `the signing secret, as UTF-8. Compare in constant time, and refuse when t is more than ${toleranceSeconds} seconds away.`;

/** A new secret of 256 random bits. The caller shows it once and stores its hash. */
export const newSigningSecret = (): string => `svc_whsec_${newSecret()}`;

/** The SHA-256 of a secret. Tables store this hash encrypted. */
export const secretHash = (secret: string): Buffer => hash("sha256", secret, "buffer");

/**
 * The two HMAC keys made from a secret's hash. `contract` is the lowercase hex text of the hash, `standard` its bytes.
 */
export type SecretKeys = { contract: KeyObject; standard: KeyObject };

/** Keys are created once and reused, because creating one from bytes costs more than an HMAC. */
export const secretKeys = (hash: Buffer): SecretKeys => ({
  contract: createSecretKey(hash.toString("hex"), "utf8"),
  standard: createSecretKey(hash),
});

/**
 * The value of the signature header, with one `v1` for each secret: the HMAC-SHA256 over `{t}.{body}` in lowercase hex.
 * @param t the time of signing, in Unix seconds
 */
export const signatureValue = (secrets: readonly SecretKeys[], t: number, body: Uint8Array): string => {
  const signatures = secrets.map(({ contract }) => createHmac("sha256", contract).update(`${t}.`).update(body));
  return [`t=${t}`, ...signatures.map((each) => `v1=${each.digest("hex")}`)].join(",");
};

/**
 * The value of the chain header: the event's position in its firm's chain, and the chain's head, a hash over all events
 * up to it (docs/webhook-chain.md).
 */
export const chainValue = ({ position, head }: Place): string => `n=${position}; head=${head.toString("hex")}`;
