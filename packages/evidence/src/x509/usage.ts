import { OID } from "../asn1/oid.ts";
import type { Certificate } from "./certificate.ts";
import { keyFault, type SignatureFault } from "./signature-policy.ts";

/** The purpose for which the leaf's key is used. */
export type ChainPurpose = "documentSigning" | "timeStamping";

/** The reason why a certificate can't be part of a chain. */
export type CertificateFault =
  | SignatureFault
  | "not-yet-valid"
  | "expired"
  | "not-a-ca"
  | "path-length"
  | "key-usage"
  | "extended-key-usage"
  | "unknown-critical-extension";

const ACCEPTED: Readonly<Record<ChainPurpose, ReadonlySet<string>>> = {
  timeStamping: new Set([OID.kpTimeStamping]),
  documentSigning: new Set([
    OID.kpDocumentSigning,
    OID.kpEmailProtection,
    OID.adobeAuthenticDocumentsTrust,
    OID.microsoftDocumentSigning,
    OID.anyExtendedKeyUsage,
  ]),
};

/** The reason why the certificate can't be the leaf of a chain for the purpose at the instant; null when it can. */
export function leafFault(certificate: Certificate, purpose: ChainPurpose, at: number): CertificateFault | null {
  const { keyUsage } = certificate;
  const common = commonFault(certificate, at);
  if (common !== null) return common;
  if (keyUsage !== null && !keyUsage.has("digitalSignature") && !keyUsage.has("contentCommitment")) return "key-usage";
  if (purpose === "timeStamping") return hasOnlyTimeStampingUsage(certificate) ? null : "extended-key-usage";
  return purposeAllowed(certificate, purpose) ? null : "extended-key-usage";
}

/**
 * The reason why the certificate can't issue the certificate below it; null when it can.
 * @param intermediatesBelow the number of certificates below this one that its path length limit counts
 */
export function issuerFault(
  certificate: Certificate,
  purpose: ChainPurpose,
  at: number,
  intermediatesBelow: number,
): CertificateFault | null {
  const { basicConstraints, keyUsage } = certificate;
  const common = commonFault(certificate, at);
  if (common !== null) return common;
  if (basicConstraints?.ca !== true) return "not-a-ca";
  if (basicConstraints.pathLength !== null && basicConstraints.pathLength < intermediatesBelow) return "path-length";
  if (keyUsage !== null && !keyUsage.has("keyCertSign")) return "key-usage";
  if (certificate.extendedKeyUsage?.purposes.includes(OID.anyExtendedKeyUsage)) return null;
  return purposeAllowed(certificate, purpose) ? null : "extended-key-usage";
}

/** True if the extended key usage is critical and allows only time-stamping, as RFC 3161, section 2.3, requires. */
export function hasOnlyTimeStampingUsage({ extendedKeyUsage }: Certificate): boolean {
  if (extendedKeyUsage === null) return false;
  const { critical, purposes } = extendedKeyUsage;
  return critical && purposes.length === 1 && purposes[0] === OID.kpTimeStamping;
}

function commonFault(certificate: Certificate, at: number): CertificateFault | null {
  if (certificate.unknownCriticalExtensions.length > 0) return "unknown-critical-extension";
  // The comparison is written so that NaN is outside every validity period.
  if (!(at >= certificate.notBefore)) return "not-yet-valid";
  // notAfter is inclusive: the certificate is valid until the end of that second.
  if (!(at < certificate.notAfter + 1000)) return "expired";
  return keyFault(certificate.publicKey);
}

function purposeAllowed({ extendedKeyUsage }: Certificate, purpose: ChainPurpose): boolean {
  return extendedKeyUsage === null || extendedKeyUsage.purposes.some((oid) => ACCEPTED[purpose].has(oid));
}
