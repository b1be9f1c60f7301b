import { type DerNode, readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, readInteger, readOctetBitString, readOid, unsignedOf } from "../asn1/values.ts";
import { EvidenceError } from "../errors.ts";
import { readAlgorithm } from "./algorithms.ts";

export type CurveName = "P-256" | "P-384" | "P-521";

/** A public key. A certificate may contain an `other` key, but signatures by it are never accepted. */
export type PublicKeyInfo =
  | { readonly type: "rsa"; readonly bits: number }
  | { readonly type: "ec"; readonly curve: CurveName }
  | { readonly type: "other"; readonly oid: string };

const CURVES: Readonly<Record<string, CurveName>> = { [OID.p256]: "P-256", [OID.p384]: "P-384", [OID.p521]: "P-521" };
/** The length in octets of one coordinate of a point, and of each of r and s in a signature. */
export const CURVE_LENGTH: Readonly<Record<CurveName, number>> = { "P-256": 32, "P-384": 48, "P-521": 66 };

/**
 * Parses a DER SubjectPublicKeyInfo.
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`.
 */
export function parsePublicKeyInfo(spki: Uint8Array): PublicKeyInfo {
  return readPublicKeyInfo(readDer(spki));
}

/**
 * Reads a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7; RFC 5480).
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`.
 */
export function readPublicKeyInfo(node: DerNode): PublicKeyInfo {
  const fields = fieldsOf(node, "x509");
  const algorithm = readAlgorithm(fields.next("algorithm"));
  const key = readOctetBitString(fields.next("subjectPublicKey"));
  fields.end();
  if (algorithm.oid === OID.rsaEncryption) {
    const parts = fieldsOf(readDer(key), "x509");
    const modulus = unsignedOf(readInteger(parts.next("modulus")));
    const exponent = unsignedOf(readInteger(parts.next("publicExponent")));
    parts.end();
    if (!usableExponent(exponent)) return { type: "other", oid: algorithm.oid };
    return { type: "rsa", bits: modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24 };
  }
  if (algorithm.oid !== OID.ecPublicKey) return { type: "other", oid: algorithm.oid };
  // Only named curves are accepted: with explicit curve parameters, a forged generator once made a forged key look like
  // a trusted one (CVE-2020-0601).
  if (algorithm.parameters?.tag !== TAG.oid) return { type: "other", oid: algorithm.oid };
  const name = readOid(algorithm.parameters);
  const curve = CURVES[name];
  if (curve === undefined) return { type: "other", oid: name };
  if (key[0] !== 4 || key.length !== 1 + 2 * CURVE_LENGTH[curve])
    throw new EvidenceError("x509", "A public key is not an uncompressed point of its curve");
  return { type: "ec", curve };
}

// True for an odd RSA exponent that is not 1 and has at most 8 octets. With exponent 1, every message is its own
// signature. A very long exponent makes verification slow.
function usableExponent(exponent: Uint8Array): boolean {
  const last = exponent[exponent.length - 1] ?? 0;
  return last % 2 === 1 && exponent.length <= 8 && !(exponent.length === 1 && last === 1);
}
