import { X509Certificate } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import { type Certificate, type CertificateFault, issuerFault, leafFault, nameText } from "@signsealship/evidence/x509";
import { dayMs } from "../../../kernel/platform/clock.ts";

/**
 * The faults of a key's certificates. `expires-soon` and `mail-addresses` are warnings. Any other fault would make
 * seals worthless.
 */
type CertificateProblemCode =
  | "no-certificate"
  | "key-mismatch"
  | "not-yet-valid"
  | "expired"
  | "expires-soon"
  | "wrong-usage"
  | "unusable"
  | "chain-order"
  | "mail-addresses";

export type CertificateProblem = {
  readonly code: CertificateProblemCode;
  readonly severity: "error" | "warning";
  /** Describes the fault in one line, for the operator. */
  readonly detail: string;
};

const SOON_MS = 30 * dayMs;

/**
 * The chain to check, which begins with the key's own certificate; the key; and the time of the check in epoch
 * milliseconds.
 */
type Checked = {
  readonly chain: readonly Certificate[];
  readonly key: { readonly publicKey: Uint8Array };
  readonly at: number;
};

/** A purpose of a certificate, and the names of the settings for the certificate and for its key. */
type Role = {
  readonly setting: string;
  readonly keySetting: string;
  /** The reason why a certificate doesn't fit the purpose. `place` is its index in the chain. */
  readonly fault: (certificate: Certificate, place: number) => Fault | null;
};

type Fault = readonly [CertificateProblemCode, why: string];

const seal: Role = { setting: "SEAL_CERTIFICATE", keySetting: "SEAL_KEY", fault: sealFault };
const testSeal: Role = { setting: "The seal of tests", keySetting: "keys/test-seal", fault: sealFault };
const authority: Role = { setting: "SIGNER_CA_CERTIFICATE", keySetting: "SIGNER_CA_KEY", fault: authorityFault };

/**
 * Checks the certificate chain of a seal key before anything is sealed. The first certificate must be valid, for this
 * key, and allowed to sign documents. Each further certificate must have issued the one before it. An expired
 * certificate is a problem, and so is one that expires within 30 days.
 * @returns an empty list when all is well
 */
export const checkSealCertificate = (checked: Checked): CertificateProblem[] =>
  checkChain(checked, checked.chain[0]?.isTestSeals ? testSeal : seal);

/**
 * Checks the certificate chain of the authority that issues signers' certificates, by the rules of
 * `checkSealCertificate`. In addition, each certificate must be allowed to issue the one below it.
 */
export const checkAuthorityCertificate = (checked: Checked): CertificateProblem[] => checkChain(checked, authority);

function checkChain({ chain, key, at }: Checked, { setting, keySetting, fault }: Role): CertificateProblem[] {
  const described = (certificate: Certificate) => describe(setting, certificate);
  const [leaf] = chain;
  if (leaf === undefined) return [problem("no-certificate", "there is no certificate")];
  const problems: CertificateProblem[] = [];
  if (!equalBytes(leaf.spki, key.publicKey)) {
    const order = "its own certificate comes first";
    problems.push(problem("key-mismatch", `${described(leaf)} is not for the key of ${keySetting}; ${order}`));
  }
  for (const [place, certificate] of chain.entries()) {
    const found = fault(certificate, place);
    if (found) problems.push(problem(found[0], `${described(certificate)}${found[1]}`));
    problems.push(...validityProblems(described(certificate), certificate, at));
  }
  for (const [index, issuer] of chain.slice(1).entries()) {
    const subject = chain[index];
    if (subject !== undefined && !isIssuedBy(subject, issuer)) {
      const detail = `${described(issuer)} did not issue ${described(subject)}, which stands before it`;
      problems.push(problem("chain-order", detail));
    }
  }
  return problems;
}

function sealFault(leaf: Certificate, place: number): Fault | null {
  // A reader that trusts the seal's own certificate needs no other. So the certificates above it may have any usage.
  if (place > 0) return null;
  // Checks the usage as of the start of the validity, because `checkChain` reports faults in the dates separately.
  const fault = leafFault(leaf, "documentSigning", leaf.notBefore);
  if (fault !== null) return explained(fault, ": its key usage allows neither digitalSignature nor nonRepudiation");
  return leaf.basicConstraints?.ca === true ? ["wrong-usage", " is an authority's"] : null;
}

function authorityFault(issuer: Certificate, place: number): Fault | null {
  const fault = issuerFault(issuer, "documentSigning", issuer.notBefore, place);
  return fault && explained(fault, ": its key usage does not allow keyCertSign");
}

function explained(fault: CertificateFault, keyUsage: string): Fault {
  switch (fault) {
    case "not-a-ca":
      return ["wrong-usage", " is not an authority's"];
    case "path-length":
      return ["wrong-usage", " allows no authority below it"];
    case "key-usage":
      return ["wrong-usage", keyUsage];
    case "extended-key-usage":
      return ["wrong-usage", ": its extended key usage does not allow signing documents"];
    default:
      return ["unusable", `: ${fault.replaceAll("-", " ")}`];
  }
}

function validityProblems(described: string, { notBefore, notAfter }: Certificate, at: number): CertificateProblem[] {
  const day = (instant: number) => new Date(instant).toISOString().slice(0, 10);
  if (at < notBefore) return [problem("not-yet-valid", `${described} is valid from ${day(notBefore)}`)];
  if (at >= notAfter + 1000) return [problem("expired", `${described} expired on ${day(notAfter)}`)];
  if (notAfter - at >= SOON_MS) return [];
  return [{ ...problem("expires-soon", `${described} expires on ${day(notAfter)}`), severity: "warning" }];
}

function isIssuedBy(subject: Certificate, issuer: Certificate): boolean {
  if (!equalBytes(subject.issuer, issuer.subject)) return false;
  try {
    return new X509Certificate(subject.der).verify(new X509Certificate(issuer.der).publicKey);
  } catch {
    // OpenSSL doesn't support this kind of key, so the signature could not be verified.
    return false;
  }
}

const describe = (setting: string, { subject }: Certificate): string =>
  `${setting}: ${nameText(subject) || "a certificate without a name"}`;

function problem(code: CertificateProblemCode, detail: string): CertificateProblem {
  return { code, severity: "error", detail };
}
