import { hash, X509Certificate } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type Certificate, leafFault, nameText, parseCertificatesPem } from "@signsealship/evidence/x509";

/** The facts that a notary's certificate states. Times are in whole seconds; the fingerprint is in hex. */
export type CertificateFacts = {
  subject: string;
  issuer: string;
  fingerprintSha256: string;
  notBefore: Date;
  notAfter: Date;
};

/**
 * Parses a PEM text that must contain exactly one certificate.
 * @throws EvidenceError for any other text
 */
function oneOf(pem: string): Certificate {
  const [certificate, another] = parseCertificatesPem(pem);
  if (certificate === undefined || another !== undefined)
    throw new EvidenceError(
      "x509",
      "There must be one certificate, the notary's own; those of issuers go to the chain",
    );
  return certificate;
}

const faultWords = {
  "key-usage": "its key usage does not permit signing",
  "extended-key-usage": "its extended key usage does not permit signing documents",
  "unknown-critical-extension": "it has a critical extension that is not known here",
} as const;

/** Returns the fault that makes a certificate permanently unsuitable for signing documents. Null when it has none. */
export function certificateFault(pem: string): string | null {
  try {
    const certificate = oneOf(pem);
    const fault = leafFault(certificate, "documentSigning", certificate.notBefore);
    if (fault === null) return null;
    return faultWords[fault as keyof typeof faultWords] ?? `its key cannot be relied on (${fault})`;
  } catch (error) {
    if (error instanceof EvidenceError) return `cannot be read: ${error.message}`;
    throw error;
  }
}

/**
 * The fault in the chain of issuers' certificates; null when it has none. The chain begins with the issuer of the
 * notary's own certificate.
 */
export function chainFault(pem: string, chain: string): string | null {
  try {
    const certificates = [oneOf(pem), ...parseCertificatesPem(chain)];
    const gap = certificates.findIndex((each, index) => {
      const issuer = certificates[index + 1];
      return issuer !== undefined && !isIssuedBy(each, issuer);
    });
    return gap < 0 ? null : `certificate ${gap + 1} is not issued by the one after it`;
  } catch (error) {
    if (error instanceof EvidenceError) return `cannot be read: ${error.message}`;
    throw error;
  }
}

/**
 * True if the issuer's name is the one in the certificate, and the issuer's key verifies the certificate's signature.
 */
function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  if (!Buffer.from(certificate.issuer).equals(issuer.subject)) return false;
  try {
    return new X509Certificate(certificate.der).verify(new X509Certificate(issuer.der).publicKey);
  } catch {
    // Node's crypto does not support this kind of key or signature.
    return false;
  }
}

/** The DER of a certificate whose PEM was validated earlier. */
export const certificateDer = (pem: string): Uint8Array => oneOf(pem).der;

/**
 * Returns the facts that a certificate states.
 * @param pem a certificate that was validated earlier, so it can be parsed
 */
export function certificateFacts(pem: string): CertificateFacts {
  const { der, subject, issuer, notBefore, notAfter } = oneOf(pem);
  return {
    subject: nameText(subject),
    issuer: nameText(issuer),
    fingerprintSha256: hash("sha256", der),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
  };
}
