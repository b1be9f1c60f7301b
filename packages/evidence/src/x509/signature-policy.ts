import { OID } from "../asn1/oid.ts";
import type { SignatureScheme } from "../crypto-port.ts";
import type { PublicKeyInfo } from "./public-key.ts";

/** The reason why signatures by a combination of key and algorithm are rejected. */
export type SignatureFault = "weak-algorithm" | "weak-key" | "unsupported-algorithm" | "algorithm-mismatch";

const WEAK: ReadonlySet<string> = new Set([OID.md5WithRsa, OID.sha1WithRsa, OID.ecdsaWithSha1, OID.md5, OID.sha1]);
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;

/**
 * The reason why signatures by this key and algorithm are rejected; null when they are accepted. The key must be RSA
 * with 2048 to 8192 bits, or on a named curve. The algorithm must be of the key's own kind and use neither MD5 nor
 * SHA-1.
 * @param signatureOid the named algorithm, which distinguishes weak from unknown when `scheme` is null
 */
export function signatureFault(
  key: PublicKeyInfo,
  scheme: SignatureScheme | null,
  signatureOid: string,
): SignatureFault | null {
  if (scheme === null) return WEAK.has(signatureOid) ? "weak-algorithm" : "unsupported-algorithm";
  if (scheme.hash === "SHA-1") return "weak-algorithm";
  return keyFault(key) ?? (key.type === (scheme.scheme === "ecdsa" ? "ec" : "rsa") ? null : "algorithm-mismatch");
}

/**
 * Names the outdated part of a signature: MD5, SHA-1, or a short key. Null when nothing is outdated; the signature may
 * still be invalid.
 * @param key null when the signer's certificate is unknown
 */
export function outdatedPart(
  key: PublicKeyInfo | null,
  scheme: SignatureScheme | null,
  oids: readonly string[],
): string | null {
  if (oids.some((oid) => oid === OID.md5 || oid === OID.md5WithRsa)) return "MD5";
  if (scheme?.hash === "SHA-1" || oids.some((oid) => WEAK.has(oid))) return "SHA-1";
  return key !== null && keyFault(key) === "weak-key" ? `a key of under ${MIN_RSA_BITS} bits` : null;
}

/** The reason why a key is rejected: it is too short, too long, or of an unknown type. Null when it is accepted. */
export function keyFault(key: PublicKeyInfo): "weak-key" | "unsupported-algorithm" | null {
  if (key.type === "other") return "unsupported-algorithm";
  if (key.type === "ec") return null;
  if (key.bits < MIN_RSA_BITS) return "weak-key";
  return key.bits > MAX_RSA_BITS ? "unsupported-algorithm" : null;
}
