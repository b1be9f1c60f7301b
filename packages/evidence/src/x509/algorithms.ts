import { constructedTag, type DerNode, onlyChildOf, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, readOid, readSmallInteger } from "../asn1/values.ts";
import type { HashName, SignatureScheme } from "../crypto-port.ts";

/** An AlgorithmIdentifier: its object identifier, and its parameters when there are any (RFC 5280, section 4.1.1.2). */
export interface AlgorithmIdentifier {
  readonly oid: string;
  readonly parameters: DerNode | undefined;
}

const HASHES: Readonly<Record<string, HashName>> = {
  [OID.sha1]: "SHA-1",
  [OID.sha256]: "SHA-256",
  [OID.sha384]: "SHA-384",
  [OID.sha512]: "SHA-512",
};

const SIGNATURES: Readonly<Record<string, SignatureScheme>> = {
  [OID.sha1WithRsa]: { scheme: "rsa-pkcs1", hash: "SHA-1" },
  [OID.sha256WithRsa]: { scheme: "rsa-pkcs1", hash: "SHA-256" },
  [OID.sha384WithRsa]: { scheme: "rsa-pkcs1", hash: "SHA-384" },
  [OID.sha512WithRsa]: { scheme: "rsa-pkcs1", hash: "SHA-512" },
  [OID.ecdsaWithSha1]: { scheme: "ecdsa", hash: "SHA-1" },
  [OID.ecdsaWithSha256]: { scheme: "ecdsa", hash: "SHA-256" },
  [OID.ecdsaWithSha384]: { scheme: "ecdsa", hash: "SHA-384" },
  [OID.ecdsaWithSha512]: { scheme: "ecdsa", hash: "SHA-512" },
};

/** The length of each hash in octets. */
export const HASH_LENGTH: Readonly<Record<HashName, number>> = {
  "SHA-1": 20,
  "SHA-256": 32,
  "SHA-384": 48,
  "SHA-512": 64,
};

/**
 * Reads an AlgorithmIdentifier.
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`
 */
export function readAlgorithm(node: DerNode): AlgorithmIdentifier {
  const fields = fieldsOf(node, "x509");
  const oid = readOid(fields.next("algorithm", TAG.oid));
  const parameters = fields.optional();
  fields.end();
  return { oid, parameters };
}

/** The hash of a digest algorithm; null when it is unsupported (such as MD5) or has unusual parameters. */
export function hashOf(algorithm: AlgorithmIdentifier): HashName | null {
  return absentOrNull(algorithm.parameters) ? (HASHES[algorithm.oid] ?? null) : null;
}

/**
 * The scheme of a signature algorithm; null when it is unsupported.
 * @param digest the digest algorithm of the same SignerInfo, which completes a bare `rsaEncryption` (RFC 3370, section
 * 3.2).
 * @throws EvidenceError as `readAlgorithm`, on malformed RSASSA-PSS parameters.
 */
export function signatureSchemeOf(
  algorithm: AlgorithmIdentifier,
  digest: HashName | null = null,
): SignatureScheme | null {
  if (algorithm.oid === OID.rsassaPss) return pssScheme(algorithm.parameters);
  if (!absentOrNull(algorithm.parameters)) return null;
  const listed = SIGNATURES[algorithm.oid];
  // RFC 5758, section 3.2: an ECDSA algorithm has no parameters. An RSA algorithm has NULL as its parameters; absent
  // ones are accepted as well.
  if (listed?.scheme === "ecdsa" && algorithm.parameters !== undefined) return null;
  if (algorithm.oid === OID.rsaEncryption) return digest === null ? null : { scheme: "rsa-pkcs1", hash: digest };
  return listed ?? null;
}

function pssScheme(parameters: DerNode | undefined): SignatureScheme | null {
  if (parameters === undefined) return null;
  const fields = fieldsOf(parameters, "x509");
  const hash = hashIn(fields.optional(constructedTag(0)));
  const mask = fields.optional(constructedTag(1));
  const salt = fields.optional(constructedTag(2));
  const trailer = fields.optional(constructedTag(3));
  fields.end();
  const maskAlgorithm = mask === undefined ? undefined : readAlgorithm(onlyChildOf(mask));
  const saltLength = salt === undefined ? 20 : readSmallInteger(onlyChildOf(salt));
  if (trailer !== undefined && readSmallInteger(onlyChildOf(trailer)) !== 1) return null;
  // The parameters name a hash for the message and one for the mask; if one is absent, it is SHA-1. Crypto libraries
  // use a single hash for both purposes, so the two must be equal.
  if (hash === null || saltLength > 512) return null;
  if (maskAlgorithm === undefined) return hash === "SHA-1" ? { scheme: "rsa-pss", hash, saltLength } : null;
  if (maskAlgorithm.oid !== OID.mgf1 || maskAlgorithm.parameters === undefined) return null;
  return hashOf(readAlgorithm(maskAlgorithm.parameters)) === hash ? { scheme: "rsa-pss", hash, saltLength } : null;
}

function hashIn(wrapper: DerNode | undefined): HashName | null {
  return wrapper === undefined ? "SHA-1" : hashOf(readAlgorithm(onlyChildOf(wrapper)));
}

function absentOrNull(parameters: DerNode | undefined): boolean {
  return parameters === undefined || (parameters.tag === TAG.null && parameters.contentStart === parameters.end);
}
