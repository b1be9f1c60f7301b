import type { Claim } from "@signsealship/evidence/claim";
import type { ClosingVerdict, ProofStatement, ProofVerdict, SealPurpose } from "@signsealship/evidence/seal";
import type { EarlierFacts, SealFacts } from "./seal-facts.ts";

/** A certificate as people see it. Times are epoch milliseconds. */
export type CertificateFacts = { subject: string; notBefore: number; notAfter: number; sha256: string };

/** The outcome for one file, as plain data that a worker can send. */
export type ProofOutcome = {
  kind: "proof";
  name: string;
  /** `handed_in`: the file equals, byte for byte, the recorded document before it was sealed. */
  verdict: ProofVerdict | "handed_in";
  claims: readonly Claim[];
  statement: ProofStatement;
  fileSha256: string;
  /**
   * SHA-256 of the document before its seal. Null when no valid seal states where that document ends. Also null for
   * `handed_in`, because `fileSha256` then is this hash.
   */
  docSha256: string | null;
  purpose: SealPurpose | null;
  certificate: CertificateFacts | null;
  seal: SealFacts | null;
  earlier: readonly EarlierFacts[];
  anchoring: readonly Claim[];
  /** The signing that a custody certificate describes. */
  custody?: CustodyFacts;
  /**
   * Set for a genuine custody certificate: true if the document checked with it is genuine but comes from another
   * signing.
   */
  isOfAnotherFile?: boolean;
  /** Set for a genuine custody certificate: the name of a file that isn't the document named in the certificate. */
  unmatched?: string;
  /**
   * True for an unsealed file that a closing certificate with a live seal lists. The reader chose both files, and the
   * certificate passed.
   */
  isListed?: boolean;
  /** True if the reader also chose this document's custody certificate, and that certificate did not fail. */
  hasCustody?: boolean;
};

/** The facts that a custody certificate states about a signing. */
export type CustodyFacts = { orderCode: string; signers: readonly string[]; documentSha256: string };

export type ClosingOutcome = {
  kind: "closing";
  names: readonly string[];
  verdict: ClosingVerdict;
  claims: readonly Claim[];
  roomName: string | null;
  /**
   * The newest version with a certificate, or the newest of all if none has one. `roomName` and `seal` are those of the
   * same version.
   */
  version: number | null;
  seal: SealFacts | null;
  purpose: SealPurpose | null;
  anchoring: readonly Claim[];
};

/** A file that could not be examined. `why` completes "contract.zip: ...". */
export type FailedOutcome = { kind: "failed"; name: string; why: string };

export const failed = ({ name }: { name: string }, why: string): FailedOutcome => ({ kind: "failed", name, why });

/** An error's message as a sentence. */
export const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

export type Outcome = ProofOutcome | ClosingOutcome | FailedOutcome;
