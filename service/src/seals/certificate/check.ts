import { X509Certificate } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import type { Certificate } from "@signsealship/evidence/x509";
import { leafFault, nameText } from "@signsealship/evidence/x509";

/** What is wrong with a seal's certificates. Only `expires-soon` is a warning; a seal made with any other is worthless. */
export type SealCertificateProblemCode =
  | "no-certificate"
  | "key-mismatch"
  | "not-yet-valid"
  | "expired"
  | "expires-soon"
  | "wrong-usage"
  | "unusable"
  | "chain-order";

export type SealCertificateProblem = {
  readonly code: SealCertificateProblemCode;
  readonly severity: "error" | "warning";
  /** One line for the operator. */
  readonly detail: string;
};

const SOON_MS = 30 * 24 * 3_600_000;

/**
 * Checks the certificates of a seal key before anything is sealed with it: the first is for this key, allows signing
 * documents and is valid; each of the rest issued the one before it; none has expired or will within 30 days.
 * @param input `chain` the seal's own certificate first; `at` epoch milliseconds
 * @returns nothing when all is well
 */
export function checkSealCertificate(input: {
  readonly chain: readonly Certificate[];
  readonly key: { readonly publicKey: Uint8Array };
  readonly at: number;
}): SealCertificateProblem[] {
  const { chain, key, at } = input;
  const [leaf] = chain;
  if (leaf === undefined) return [problem("no-certificate", "there is no certificate")];
  const problems: SealCertificateProblem[] = [];
  if (!equalBytes(leaf.spki, key.publicKey)) {
    problems.push(
      problem("key-mismatch", `${described(leaf)} is not for the key of SEAL_KEY; the seal's own comes first`),
    );
  }
  problems.push(...usageProblems(leaf));
  for (const certificate of chain) problems.push(...validityProblems(certificate, at));
  for (const [index, issuer] of chain.slice(1).entries()) {
    const subject = chain[index];
    if (subject !== undefined && !isIssuedBy(subject, issuer)) {
      problems.push(
        problem("chain-order", `${described(issuer)} did not issue ${described(subject)}, which stands before it`),
      );
    }
  }
  return problems;
}

function usageProblems(leaf: Certificate): SealCertificateProblem[] {
  // At its own first instant, so that what its dates say is not said twice.
  const fault = leafFault(leaf, "documentSigning", leaf.notBefore);
  switch (fault) {
    case null:
    case "expired":
    case "not-yet-valid":
      break;
    case "key-usage":
      return [
        problem("wrong-usage", `${described(leaf)}: its key usage allows neither digitalSignature nor nonRepudiation`),
      ];
    case "extended-key-usage":
      return [problem("wrong-usage", `${described(leaf)}: its extended key usage does not allow signing documents`)];
    default:
      return [problem("unusable", `${described(leaf)}: ${fault.replaceAll("-", " ")}`)];
  }
  if (leaf.basicConstraints?.ca === true) return [problem("wrong-usage", `${described(leaf)} is an authority's`)];
  return [];
}

function validityProblems(certificate: Certificate, at: number): SealCertificateProblem[] {
  const { notBefore, notAfter } = certificate;
  const day = (instant: number) => new Date(instant).toISOString().slice(0, 10);
  if (at < notBefore) return [problem("not-yet-valid", `${described(certificate)} is valid from ${day(notBefore)}`)];
  if (at >= notAfter + 1000) return [problem("expired", `${described(certificate)} expired on ${day(notAfter)}`)];
  if (notAfter - at >= SOON_MS) return [];
  return [{ ...problem("expires-soon", `${described(certificate)} expires on ${day(notAfter)}`), severity: "warning" }];
}

function isIssuedBy(subject: Certificate, issuer: Certificate): boolean {
  if (!equalBytes(subject.issuer, issuer.subject)) return false;
  try {
    return new X509Certificate(subject.der).verify(new X509Certificate(issuer.der).publicKey);
  } catch {
    // A key that OpenSSL can't use has verified nothing.
    return false;
  }
}

function described(certificate: Certificate): string {
  return `SEAL_CERTIFICATE: ${nameText(certificate.subject) || "a certificate without a name"}`;
}

function problem(code: SealCertificateProblemCode, detail: string): SealCertificateProblem {
  return { code, severity: "error", detail };
}
