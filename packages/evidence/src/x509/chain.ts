import { equalBytes } from "../bytes.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import type { Certificate } from "./certificate.ts";
import { namesMailAddress } from "./extensions.ts";
import { nameText } from "./name.ts";
import { signatureFault } from "./signature-policy.ts";
import { type CertificateFault, type ChainPurpose, issuerFault, leafFault } from "./usage.ts";

export type { ChainPurpose } from "./usage.ts";

/** The reason why no valid chain was found. It is the fault of the longest path that was tried. */
type ChainReason = CertificateFault | "no-path" | "bad-signature" | "name-constraints" | "limit";

export interface ChainInput {
  readonly leaf: Certificate;
  /** Certificates from the signature. Their presence there does not make them trusted. */
  readonly intermediates: readonly Certificate[];
  /** Trusted certificates. A leaf that is itself an anchor is a chain of one certificate. */
  readonly anchors: readonly Certificate[];
  /** The instant at which every certificate must be valid, epoch milliseconds. */
  readonly at: number;
  readonly purpose: ChainPurpose;
  readonly crypto: EvidenceCrypto;
}

export type ChainResult =
  | { readonly valid: true; readonly path: readonly Certificate[] }
  | { readonly valid: false; readonly reason: ChainReason; readonly why: string };

/** Limit of the certificates in one chain, leaf and anchor included. */
const MAX_PATH = 8;
/** The most signatures that one search verifies. */
const MAX_CHAIN_SIGNATURES = 64;

const WHY: Readonly<Record<ChainReason, string>> = {
  "no-path": "no trusted certificate issued it",
  "bad-signature": "its issuer's key did not sign it",
  "name-constraints": "a certificate above it excludes email addresses, and it may have one",
  limit: "the search for a chain was given up at its bound",
  "not-yet-valid": "it was not valid yet",
  expired: "it had expired",
  "not-a-ca": "it is not a certification authority",
  "path-length": "it stands above more authorities than it may",
  "key-usage": "its key usage does not allow this",
  "extended-key-usage": "its extended key usage does not allow this",
  "unknown-critical-extension": "it has a critical extension that is not known here",
  "weak-algorithm": "it is signed with MD5 or SHA-1",
  "weak-key": "its key is too short",
  "unsupported-algorithm": "its key or signature algorithm is not supported",
  "algorithm-mismatch": "its signature algorithm does not fit its issuer's key",
};

const ABOUT_SUBJECT: ReadonlySet<ChainReason> = new Set([
  "bad-signature",
  "weak-algorithm",
  "algorithm-mismatch",
  "name-constraints",
]);

interface Search extends ChainInput {
  signaturesLeft: number;
  /** The fault that was found furthest from the leaf so far. `depth` is that distance. */
  fault: { readonly depth: number; readonly reason: ChainReason; readonly about: Certificate };
}

/**
 * Finds a valid chain from the leaf to an anchor (RFC 5280, section 6). Accepts only one name constraint: the exclusion
 * of all mail addresses. The certificates below this constraint must certainly have no mail address. Failures are in
 * the result; parsed certificates never cause an exception.
 */
export async function verifyChain(input: ChainInput): Promise<ChainResult> {
  const { leaf, purpose, at } = input;
  const fault = leafFault(leaf, purpose, at);
  if (fault !== null) return failed(fault, leaf);
  const start = { depth: 0, reason: "no-path", about: leaf } as const;
  const search: Search = { ...input, signaturesLeft: MAX_CHAIN_SIGNATURES, fault: start };
  const path = await extend(search, [leaf]);
  return path === null ? failed(search.fault.reason, search.fault.about) : { valid: true, path };
}

async function extend(search: Search, path: readonly Certificate[]): Promise<readonly Certificate[] | null> {
  const subject = path[path.length - 1];
  if (subject === undefined) return null;
  if (search.anchors.some((anchor) => equalBytes(anchor.der, subject.der))) return path;
  note(search, path.length, "no-path", subject);
  if (path.length >= MAX_PATH) {
    note(search, path.length, "limit", subject);
    return null;
  }
  for (const issuer of issuersOf(search, subject, path)) {
    const reason = await linkFault(search, subject, issuer, path);
    if (reason === null) {
      const found = await extend(search, [...path, issuer]);
      if (found !== null) return found;
    } else {
      note(search, path.length, reason, ABOUT_SUBJECT.has(reason) ? subject : issuer);
    }
  }
  return null;
}

async function linkFault(
  search: Search,
  subject: Certificate,
  issuer: Certificate,
  path: readonly Certificate[],
): Promise<ChainReason | null> {
  const { purpose, at, crypto } = search;
  const intermediatesBelow = path.slice(1).filter((below) => !equalBytes(below.issuer, below.subject)).length;
  const { signatureAlgorithm: algorithm, signatureOid, signature, tbsCertificate: data } = subject;
  const fault =
    issuerFault(issuer, purpose, at, intermediatesBelow) ?? signatureFault(issuer.publicKey, algorithm, signatureOid);
  if (fault !== null) return fault;
  if (issuer.excludesMailAddresses && path.some(mayNameMailAddress)) return "name-constraints";
  if (algorithm === null || search.signaturesLeft === 0) return "limit";
  search.signaturesLeft--;
  return (await crypto.verify({ spki: issuer.spki, algorithm, signature, data })) ? null : "bad-signature";
}

const mayNameMailAddress = ({ hasSubjectAltName, subject }: Certificate): boolean =>
  hasSubjectAltName || namesMailAddress(subject);

/**
 * The certificates that can be the issuer. The name must match. If both certificates state a key identifier, it must
 * match too. Trusted certificates come first.
 */
function issuersOf(search: Search, subject: Certificate, path: readonly Certificate[]): Certificate[] {
  return [...search.anchors, ...search.intermediates].filter(
    (candidate) =>
      equalBytes(candidate.subject, subject.issuer) &&
      (subject.authorityKeyIdentifier === null ||
        candidate.subjectKeyIdentifier === null ||
        equalBytes(candidate.subjectKeyIdentifier, subject.authorityKeyIdentifier)) &&
      !path.some((below) => equalBytes(below.spki, candidate.spki) && equalBytes(below.subject, candidate.subject)),
  );
}

function note(search: Search, depth: number, reason: ChainReason, about: Certificate): void {
  const { fault } = search;
  const moreTelling = depth === fault.depth && fault.reason === "no-path";
  if (depth > fault.depth || moreTelling) search.fault = { depth, reason, about };
}

function failed(reason: ChainReason, about: Certificate): ChainResult {
  return { valid: false, reason, why: `${describe(about)}: ${WHY[reason]}` };
}

function describe(certificate: Certificate): string {
  try {
    return nameText(certificate.subject) || "a certificate without a name";
  } catch {
    return "a certificate with an unreadable name";
  }
}
