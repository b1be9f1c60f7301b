import { toHex } from "@signsealship/evidence/bytes";
import type { Claim } from "@signsealship/evidence/claim";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { EarlierSignature, ProofVerification } from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";
import { commonName } from "../known-certificates.ts";

/** The facts about a seal, for people. Instants are epoch milliseconds. */
export type SealFacts = {
  /** The name in its certificate. */
  by: string;
  /** The time that a trusted authority stamped, else the time that the seal claims. */
  at: number | null;
  /** The outcome of its independent time stamp. */
  stamp: "passed" | "failed" | "authority_unknown" | "none";
};

/** Null where there is no seal, or none whose certificate can be read. */
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

/** A signature that was in the document before its seal, for people: `by` is the name in its certificate, which nobody checked. */
export type EarlierFacts = {
  claims: readonly Claim[];
  by: string | null;
  at: number | null;
  /** The combined result of its claims. */
  state: Claim["state"];
  /** A document time stamp is stored like a signature, but nobody signed it. */
  isTimeStamp: boolean;
};

/** Self-declared, except for whether it is valid. */
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

const longestName = 120;
const blank = /^[\p{Default_Ignorable_Code_Point}\p{Z}\p{M}\u2800]*$/u;

/** A certificate may have any name: null for one that shows nothing, and the beginning of one without an end. */
export function shownName(name: string): string | null {
  if (blank.test(name)) return null;
  const letters = [...name];
  return letters.length > longestName ? `${letters.slice(0, longestName).join("")}…` : name;
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
