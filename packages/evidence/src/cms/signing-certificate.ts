import { childrenOf, constructedTag, type DerNode, onlyChildOf, rawOf, readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, membersOf, readInteger, readOctetString } from "../asn1/values.ts";
import { equalBytes } from "../bytes.ts";
import type { EvidenceCrypto, HashName } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import { hashOf, readAlgorithm } from "../x509/algorithms.ts";
import type { Certificate } from "../x509/certificate.ts";
import { type Attribute, attributeValues } from "./signed-data.ts";

/**
 * The result of `checkSigningCertificate`: the version of the attribute that names the certificate, or the reason why
 * it is not named.
 */
export type SigningCertificateResult =
  | { readonly holds: true; readonly version: 1 | 2 }
  | { readonly holds: false; readonly why: string };

interface EssCertId {
  /** The hash algorithm of `certHash`, `SHA-1` in version 1. In version 2, null when it is SHA-1 or not supported. */
  readonly hash: HashName | null;
  readonly certHash: Uint8Array;
  readonly issuerSerial: { readonly issuer: Uint8Array | null; readonly serialNumber: Uint8Array } | null;
}

/**
 * Verifies that the signed signing-certificate attributes name this certificate. There may be one of version 2 (RFC
 * 5035) and one of version 1 (RFC 2634, with SHA-1). In each, the first identifier must match.
 */
export async function checkSigningCertificate(
  signedAttrs: readonly Attribute[],
  certificate: Certificate,
  crypto: EvidenceCrypto,
): Promise<SigningCertificateResult> {
  const v1 = attributeValues(signedAttrs, OID.idAaSigningCertificate);
  const v2 = attributeValues(signedAttrs, OID.idAaSigningCertificateV2);
  if (v1.length + v2.length === 0) return { holds: false, why: "No signing-certificate attribute is signed" };
  if (v1.length > 1 || v2.length > 1) return { holds: false, why: "A signing-certificate attribute appears twice" };
  for (const [values, version] of [[v2, 2] as const, [v1, 1] as const]) {
    for (const value of values) {
      const id = readFirstId(value, version);
      if (id === null) return { holds: false, why: "The signing-certificate attribute is malformed" };
      if (!(await matches(id, certificate, crypto)))
        return { holds: false, why: "The signing-certificate attribute names another certificate" };
    }
  }
  return { holds: true, version: v2.length > 0 ? 2 : 1 };
}

function readFirstId(value: Uint8Array, version: 1 | 2): EssCertId | null {
  try {
    const attribute = fieldsOf(readDer(value), "cms");
    const [first] = membersOf(attribute.next("certs"), "cms", TAG.sequence);
    attribute.optional(TAG.sequence);
    attribute.end();
    return first === undefined ? null : readId(first, version);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function readId(node: DerNode, version: 1 | 2): EssCertId {
  const fields = fieldsOf(node, "cms");
  const algorithm = version === 2 ? fields.optional(TAG.sequence) : undefined;
  const certHash = readOctetString(fields.next("certHash"));
  const issuerSerial = fields.optional(TAG.sequence);
  fields.end();
  const named = algorithm === undefined ? "SHA-256" : hashOf(readAlgorithm(algorithm));
  const hash = version === 1 ? "SHA-1" : named === "SHA-1" ? null : named;
  return { hash, certHash, issuerSerial: issuerSerial === undefined ? null : readIssuerSerial(issuerSerial) };
}

function readIssuerSerial(node: DerNode): { issuer: Uint8Array | null; serialNumber: Uint8Array } {
  const fields = fieldsOf(node, "cms");
  const names = childrenOf(fields.next("issuer", TAG.sequence));
  const serialNumber = readInteger(fields.next("serialNumber"));
  fields.end();
  const directoryName = names.find((name) => name.tag === constructedTag(4));
  return { issuer: directoryName === undefined ? null : rawOf(onlyChildOf(directoryName)), serialNumber };
}

async function matches(id: EssCertId, certificate: Certificate, crypto: EvidenceCrypto): Promise<boolean> {
  if (id.hash === null) return false;
  const { issuerSerial } = id;
  if (issuerSerial !== null) {
    if (!equalBytes(issuerSerial.serialNumber, certificate.serialNumber)) return false;
    if (issuerSerial.issuer !== null && !equalBytes(issuerSerial.issuer, certificate.issuer)) return false;
  }
  return equalBytes(await crypto.digest(id.hash, [certificate.der]), id.certHash);
}
