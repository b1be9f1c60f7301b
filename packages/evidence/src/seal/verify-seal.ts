import { type Claim, claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import type { SignedRange } from "../pdf/byte-range.ts";
import { isOnlyPlace } from "../pdf/structure.ts";
import { integerOf, type PdfDictionary } from "../pdf/values.ts";
import type { Certificate } from "../x509/certificate.ts";
import { verifyChain } from "../x509/chain.ts";
import { claimedTimeOf } from "./claimed-time.ts";
import { earliest, trustedTimes } from "./detached-evidence.ts";
import type { PadesVerification } from "./pades.ts";
import { environmentClaims, type SealPurpose, sealPurposeOf, sealReasons } from "./purpose.ts";
import { type RetiredCertificate, retirementClaims } from "./retirement.ts";
import { foreignToSealer } from "./seal-contents.ts";
import { readSealStatement, type SealStatement } from "./seal-statement.ts";

export type SealClaimName =
  | "document_unchanged_since_seal"
  | "seal_signature_valid"
  | "seal_place"
  | "seal_purpose"
  | "seal_certificate_trusted"
  | "seal_certificate_valid_at_time"
  | "seal_certificate_not_retired"
  | "seal_certificate_environment"
  | "time_stamp_valid";

/** Certificates that the caller trusts. With an empty list, the claims that depend on that list are unchecked. */
export interface SealTrust {
  /** The seal certificates themselves, or the certificates of their issuers. */
  readonly sealAnchors: readonly Certificate[];
  /** The time-stamping authorities' certificates, or the certificates of their issuers. */
  readonly tsaAnchors: readonly Certificate[];
  /** Retired certificates. They need not be among the anchors. */
  readonly retired?: readonly RetiredCertificate[];
}

export interface SealVerification {
  readonly pades: PadesVerification;
  readonly claims: readonly Claim<SealClaimName>[];
  /**
   * True if the seal states its own position in the file, even if that statement is wrong. The oldest seals, and other
   * programs' signatures, state none.
   */
  readonly statesPlace: boolean;
  /**
   * The earliest time at which the seal provably existed, epoch ms: by a trusted time stamp in the seal, or by detached
   * evidence. Null when nothing proves a time.
   */
  readonly provenTime: number | null;
  /** The earliest time of a trusted time stamp in the seal itself, epoch ms. */
  readonly stampedTime: number | null;
  /** The time that the seal itself states, epoch ms; null when missing or unreadable. */
  readonly claimedTime: number | null;
  /** The purpose in the seal; null when missing or unknown. */
  readonly purpose: SealPurpose | null;
}

/**
 * Verifies the signature that covers the whole file, its certificate and its time stamps. The certificate must be valid
 * at the earliest proven time, or else at `at`.
 *
 * @param detachedTime the earliest time that detached evidence proves, epoch ms; null for none
 */
export async function verifySeal(input: {
  readonly pades: PadesVerification;
  readonly dictionary: PdfDictionary;
  readonly range: SignedRange;
  readonly detachedTime: number | null;
  readonly trust: SealTrust;
  readonly at: number;
  readonly crypto: EvidenceCrypto;
}): Promise<SealVerification> {
  const { pades, dictionary, range, trust, at, crypto } = input;
  const stampedTime = earliest(trustedTimes(pades.timeStamps));
  const provenTime = earliest([stampedTime, input.detachedTime]);
  const statement = readSealStatement(pades.signedData?.signerInfos[0]?.signedAttrs ?? []);
  const purpose = sealPurposeOf(dictionary);
  const claimedTime = claimedTimeOf(dictionary);
  const certificate = await judgeCertificate(pades, trust.sealAnchors, provenTime ?? at, crypto);
  return {
    pades,
    provenTime,
    stampedTime,
    claimedTime,
    purpose,
    statesPlace: statement !== "absent",
    claims: [
      unchangedClaim(pades),
      await signatureClaim(pades, statement, range, crypto),
      placeClaim(statement, range, dictionary),
      purposeClaim(purpose),
      ...certificate.claims,
      ...retirementClaims(certificate.path, trust.retired ?? [], { provenTime, stampedTime, claimedTime }),
      ...environmentClaims(purpose, pades.certificate),
      timeStampClaim(pades),
    ],
  };
}

function unchangedClaim(pades: PadesVerification): Claim<SealClaimName> {
  const name = "document_unchanged_since_seal";
  if (pades.format === "document-time-stamp" && pades.valid) {
    const why = "A document time stamp covers the whole file, and no seal. Nothing has changed since it was made.";
    return { name, state: "unchecked", why };
  }
  const digest = pades.claims.find((one) => one.name === "messageDigest");
  if (digest === undefined) {
    const broken = pades.timeStamps.flatMap(({ claims }) => claims).find(({ state }) => state === "fails");
    return { name, state: "fails", why: `${broken?.why ?? pades.problem ?? "The seal cannot be read"}.` };
  }
  // A digest proves nothing unless a valid signature covers it.
  if (digest.state === "holds" && !pades.valid) {
    return { name, state: "unchecked", why: "The digest fits, but the signature that should vouch for it does not." };
  }
  return { name, state: digest.state, why: `${digest.why}.` };
}

async function signatureClaim(
  pades: PadesVerification,
  statement: ReturnType<typeof readSealStatement>,
  { contents }: SignedRange,
  crypto: EvidenceCrypto,
): Promise<Claim<SealClaimName>> {
  const name = "seal_signature_valid";
  const { valid, claims, level, certificate, signedData } = pades;
  const failed = claims.find(({ state }) => state === "fails") ?? claims.find(({ state }) => state !== "holds");
  if (!valid) return { name, state: "fails", why: `${failed?.why ?? pades.problem ?? "The seal is not valid"}.` };
  if (level !== null && typeof statement === "object" && signedData !== null && certificate !== null) {
    const foreign = await foreignToSealer(contents, signedData, certificate, statement, crypto);
    if (foreign !== null) return { name, state: "fails", why: `The signature value holds ${foreign}.` };
  }
  return claim(name, level !== null, `A valid PAdES ${level} signature.`, `${pades.problem}.`);
}

/**
 * Makes the claim about the position of the signature value in the file. The signed bytes do not determine that
 * position, so a signed attribute of the seal states it.
 */
function placeClaim(
  statement: SealStatement | "absent" | "malformed",
  range: SignedRange,
  dictionary: PdfDictionary,
): Claim<SealClaimName> {
  const name = "seal_place";
  if (statement === "absent") {
    return claim(
      name,
      isOnlyPlace(range),
      "The seal was made before seals signed their place in the file. What is signed allows no other place for it.",
      "The seal does not sign its place in the file, and what is signed allows another.",
    );
  }
  const { gapStart, gapEnd, end } = range;
  const place = [0, gapStart, gapEnd, end - gapEnd];
  const same =
    statement !== "malformed" &&
    statement.byteRange.length === place.length &&
    statement.byteRange.every((number, index) => number === place[index]) &&
    statement.originalLength === integerOf(dictionary, "SSSOriginalLength");
  return claim(
    name,
    same,
    "The seal signs its place in the file, and stands there.",
    "The seal signs another place in the file than the one where it stands, or is not understood.",
  );
}

/**
 * Makes the claim about the purpose. Without a known purpose, nobody can tell the kind of the sealed document, or
 * whether it is a test.
 */
function purposeClaim(purpose: SealPurpose | null): Claim<SealClaimName> {
  const name = "seal_purpose";
  if (purpose === null) return { name, state: "fails", why: "The seal states no purpose that is known." };
  const why = `The seal says what it was made for: ${sealReasons[purpose.kind][purpose.environment]}.`;
  return { name, state: "holds", why };
}

/**
 * The claims about the seal's certificate. `path` has all certificates that these claims depend on: those in the
 * signature and, if the chain is valid, those above them.
 */
type JudgedCertificate = {
  readonly claims: readonly Claim<SealClaimName>[];
  readonly path: readonly Certificate[];
};

async function judgeCertificate(
  { certificate: leaf, certificates: intermediates, format }: PadesVerification,
  anchors: readonly Certificate[],
  at: number,
  crypto: EvidenceCrypto,
): Promise<JudgedCertificate> {
  const trusted = "seal_certificate_trusted";
  const timely = "seal_certificate_valid_at_time";
  if (leaf === null) {
    const isStamp = format === "document-time-stamp";
    const why = isStamp
      ? "A document time stamp is by an authority, and by no seal certificate."
      : "The seal names no certificate that is included.";
    return {
      claims: [
        { name: trusted, state: "fails", why },
        { name: timely, state: "fails", why },
      ],
      path: [],
    };
  }
  const path = [leaf, ...intermediates];
  const instant = new Date(at).toISOString();
  const own = claim(
    timely,
    // notAfter is inclusive: the certificate is valid until the end of that second.
    leaf.notBefore <= at && at < leaf.notAfter + 1000,
    `The certificate was valid at ${instant}.`,
    `The certificate was not valid at ${instant}.`,
  );
  if (leaf.isSigners) {
    // Signers' certificates and the seal's certificate have the same root. Trust in that root must not make a signer's
    // certificate acceptable as a seal's.
    const why = "The certificate was issued to a signer, not to a seal.";
    return { claims: [{ name: trusted, state: "fails", why }, own], path };
  }
  if (anchors.length === 0) {
    const why = "No trusted seal certificate was given.";
    return { claims: [{ name: trusted, state: "unchecked", why }, own], path };
  }
  const chain = await verifyChain({ leaf, intermediates, anchors, at, purpose: "documentSigning", crypto });
  if (chain.valid) {
    const why = `The certificate is a trusted one, or was issued under one (${chain.path.length} in the chain).`;
    return { claims: [{ name: trusted, state: "holds", why }, own], path: [...path, ...chain.path] };
  }
  if (chain.reason !== "expired" && chain.reason !== "not-yet-valid") {
    return { claims: [{ name: trusted, state: "fails", why: `${chain.why}.` }, own], path };
  }
  return {
    claims: [
      { name: trusted, state: "unchecked", why: `The chain is not valid at ${instant}, so trust is not decided.` },
      { name: timely, state: "fails", why: `${chain.why}.` },
    ],
    path,
  };
}

function timeStampClaim({ timeStamps }: PadesVerification): Claim<SealClaimName> {
  const name = "time_stamp_valid";
  if (timeStamps.length === 0) return { name, state: "unchecked", why: "The seal bears no time stamp." };
  const failed = timeStamps.flatMap(({ claims }) => claims).find(({ state }) => state === "fails");
  if (failed !== undefined) return { name, state: "fails", why: `${failed.why}.` };
  if (timeStamps.some(({ intact }) => !intact)) return { name, state: "fails", why: "A time stamp is not intact." };
  const time = timeStamps.map(({ genTime }) => new Date(genTime ?? 0).toISOString()).join(", ");
  if (timeStamps.some(({ trusted }) => !trusted)) {
    return { name, state: "unchecked", why: `The time stamp of ${time} is intact; its authority was not checked.` };
  }
  return { name, state: "holds", why: `A trusted authority stamped it at ${time}.` };
}
