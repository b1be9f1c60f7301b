import { type DerValue, OID, oid, raw, sequence } from "@signsealship/evidence/asn1";
import { type Certificate, encodePem, parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { type Authority, issue, ownName, signingUses, validFor } from "./authority.ts";
import { commonNameOf, extension, keyUsage } from "./write.ts";

const VALID_YEARS = 10;

/**
 * Makes the ten-year certificate of a seal key under the root. Its key usages are digitalSignature and nonRepudiation.
 * Its extended key usages are document signing (RFC 9336) and mail protection. It is not an authority. A test
 * certificate is marked by its policy, and by its name if `subject` is a host's name.
 * @param input `publicKey` SubjectPublicKeyInfo, DER; `subject` a host's name or a distinguished name in DER;
 * `serialNumber` 16 random bytes; `at` now, epoch milliseconds
 * @returns the chain, the seal's own first
 * @throws {SealKeyError} when the root's key does not sign
 */
export function makeSealCertificate(input: {
  readonly root: Authority;
  readonly publicKey: Uint8Array;
  readonly subject: string | Uint8Array;
  readonly environment?: Environment;
  readonly serialNumber: Uint8Array;
  readonly at: number;
}): Promise<[Certificate, ...Certificate[]]> {
  const { root, publicKey, subject, serialNumber, at, environment = "live" } = input;
  const extensions = [
    extension(OID.basicConstraints, true, sequence()),
    keyUsage.signing,
    signingUses,
    ...(environment === "test" ? [testSealPolicy] : []),
  ];
  const fields = {
    subject: nameOf(subject, environment),
    publicKey,
    serialNumber,
    extensions,
    ...validFor(VALID_YEARS, at),
  };
  return issue(root, fields);
}

const testSealPolicy = extension(OID.certificatePolicies, false, sequence(sequence(oid(OID.testSealPolicy))));

const nameOf = (subject: string | Uint8Array, environment: Environment): DerValue =>
  typeof subject === "string" ? commonNameOf(ownName("seal", subject, environment)) : raw(subject);

/**
 * The chain of a PEM text, the seal's own certificate first.
 * @throws EvidenceError `x509` and others for an invalid text
 */
export const readSealChain = (pem: string): Certificate[] => parseCertificatesPem(pem);

export function sealChainPem(chain: readonly Certificate[]): string {
  return chain.map((certificate) => encodePem(certificate.der, "CERTIFICATE")).join("");
}
