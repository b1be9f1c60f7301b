import { toHex } from "@signsealship/evidence/bytes";
import type { Claim } from "@signsealship/evidence/claim";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { EarlierSignature, ProofVerification } from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";
import { commonName } from "../published-certificates.ts";

/** The facts about a seal as people see them. Times are epoch milliseconds. */
export type SealFacts = {
  /** The name in the seal's certificate. */
  by: string;
  /** The time in a trusted authority's time stamp, otherwise the time that the seal claims. */
  at: number | null;
  /** The outcome of the seal's independent time stamp. */
  stamp: "passed" | "failed" | "authority_unknown" | "none";
};

/** The facts about the seal of a file; null when the file has no seal with a readable certificate. */
export function sealFacts({ seal, claims }: ProofVerification): SealFacts | null {
  const certificate = seal?.pades.certificate;
  if (!certificate) return null;
  const { stampedTime, claimedTime, pades } = seal;
  const state = claims.find(({ name }) => name === "time_stamp_valid")?.state;
  const unchecked = pades.timeStamps.length > 0 ? "authority_unknown" : "none";
  return {
    by: commonName(subjectText(certificate.subject)),
    at: stampedTime ?? claimedTime,
    stamp: state === "holds" ? "passed" : state === "fails" ? "failed" : unchecked,
  };
}

/**
 * A signature that was in the document before its seal, described in plain words. `by` is the unverified name in the
 * signature's certificate.
 */
export type EarlierFacts = {
  claims: readonly Claim[];
  by: string | null;
  at: number | null;
  /** The combined result of the signature's claims. */
  state: Claim["state"];
  /** True for a document time stamp, which is stored like a signature, but signed by no person. */
  isTimeStamp: boolean;
};

/** The facts about a signature. Only its validity was verified; all other facts are the signer's claims. */
export function earlierFacts({ claims, pades, claimedTime }: EarlierSignature): EarlierFacts {
  const certificate = pades?.certificate;
  return {
    claims,
    by: certificate ? shownName(commonName(subjectText(certificate.subject))) : null,
    at: claimedTime,
    state: stateOf(claims),
    isTimeStamp: pades?.format === "document-time-stamp",
  };
}

const maxNameLength = 120;
const blank = /^[\p{Default_Ignorable_Code_Point}\p{Z}\p{M}\u2800]*$/u;

/**
 * A certificate's name, made safe to show, because a certificate may contain any text. A long name is truncated. Null
 * for a name without visible characters.
 */
export function shownName(name: string): string | null {
  if (blank.test(name)) return null;
  const letters = [...name];
  return letters.length > maxNameLength ? `${letters.slice(0, maxNameLength).join("")}…` : name;
}

function stateOf(claims: readonly Claim[]): Claim["state"] {
  if (claims.some(({ state }) => state === "fails")) return "fails";
  return claims.every(({ state }) => state === "holds") ? "holds" : "unchecked";
}

export function subjectText(subject: Uint8Array): string {
  try {
    return nameText(subject);
  } catch (error) {
    if (error instanceof EvidenceError) return toHex(subject);
    throw error;
  }
}
