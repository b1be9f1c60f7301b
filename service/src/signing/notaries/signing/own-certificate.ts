import { EvidenceError } from "@signsealship/evidence/errors";
import {
  type Certificate,
  leafFault,
  nameText,
  parseCertificate,
  parseCertificatesPem,
  serialNumberText,
} from "@signsealship/evidence/x509";
import type { SignerChain } from "../../../evidence/seals/seals.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { certificateDer } from "../commissions/certificate.ts";
import type { Notary } from "../commissions/store.ts";

/**
 * The notary's registered certificate with its chain. The certificate of the notary's key must be the registered one.
 * @throws ServiceError naming the reason why the certificate can't be used
 */
export function chainOf(notary: Notary, der: Uint8Array, at: Date): SignerChain {
  const leaf = read(der);
  const subject = nameText(leaf.subject);
  const fault = leafFault(leaf, "documentSigning", at.getTime());
  if (fault !== null) throw invalid(`The certificate of ${subject} can’t be used: ${faultWords[fault] ?? fault}.`);
  if (leaf.publicKey.type === "ec" && leaf.publicKey.curve !== "P-256")
    throw invalid(`The key of ${subject} is of another kind than RSA or ECDSA on P-256.`);
  if (notary.certificate === null)
    throw invalid("No certificate is registered for you: ask an administrator to add it.");
  const registered = read(certificateDer(notary.certificate));
  if (!Buffer.from(registered.der).equals(der))
    throw invalid(
      `The file has the certificate of ${description(leaf)}, and another one is registered for you, of ${description(registered)}.`,
    );
  return [leaf, ...(notary.certificateChain === null ? [] : parseCertificatesPem(notary.certificateChain))];
}

/** Describes a certificate by its name, serial number and last day, because two certificates may have the same name. */
const description = (certificate: Certificate): string =>
  `${nameText(certificate.subject)} (serial number ${serialNumberText(certificate)}, until ${new Date(certificate.notAfter).toISOString().slice(0, 10)})`;

function read(der: Uint8Array): Certificate {
  try {
    return parseCertificate(der);
  } catch (error) {
    if (error instanceof EvidenceError) throw invalid(`The certificate can’t be read: ${error.message}.`);
    throw error;
  }
}

const faultWords: Readonly<Record<string, string>> = {
  expired: "it has expired",
  "not-yet-valid": "it is not valid yet",
  "key-usage": "its key usage permits neither digital signatures nor non-repudiation",
  "extended-key-usage": "its extended key usage does not permit signing documents",
  "unknown-critical-extension": "it has a critical extension that is not known here",
  "weak-key": "its key is too short",
};

/**
 * Warns if the certificate's subject lacks a word of the notary's name. Ignores case, accents, word order and further
 * words in the subject.
 */
export function nameWarning({ subject }: Certificate, { commissionName }: Notary): string[] {
  const folded = (text: string) =>
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 0);
  const certified = new Set(folded(nameText(subject)));
  if (folded(commissionName).every((word) => certified.has(word))) return [];
  return [
    `The certificate names ${nameText(subject)}, and your commission ${commissionName}. Go on only if both are you.`,
  ];
}
