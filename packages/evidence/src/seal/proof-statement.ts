import type { Claim } from "../claim.ts";
import { lengthNotStated } from "../pdf/structure.ts";

/** The meaning of a verification result, in sentences for people. */
export interface ProofStatement {
  /** Facts that this verification recomputed from the bytes and the given trusted certificates. */
  readonly proven: readonly string[];
  /** Facts that somebody states and that can't be recomputed. */
  readonly attested: readonly string[];
  /** Facts that no seal can prove. */
  readonly notCovered: readonly string[];
}

const PROVEN: Readonly<Record<string, string>> = {
  whole_file_covered: "The seal's signature covers every byte of the file.",
  document_unchanged_since_seal: "No byte has changed since the seal was made.",
  seal_signature_valid: "The seal was made with the private key of the certificate shown.",
  seal_certificate_trusted: "The certificate is one that you trust.",
  seal_certificate_not_retired: "The seal existed before its certificate was retired.",
  seal_certificate_environment: "The seal is of a test, as its certificate allows.",
  time_stamp_valid: "The seal existed at the time that an independent authority stamped.",
  original_document_hash: "The hash shown is that of the document as it was handed in for sealing.",
  separate_time_stamp_valid: "The separate token is a time stamp of this seal.",
  anchored_in_block: "The sealed file existed when the named block was made.",
  log_checkpoint_signed: "The named log has the seal, so that nobody can take it out or date it back unseen.",
  log_witnessed:
    "Witnesses that you chose saw the log with the seal, so that nobody can be shown another history of it.",
};

const NOT_COVERED = [
  "Whether what the document says is true, or has legal effect.",
  "Who signed the document, or agreed to it, before it was sealed.",
  "What programs show when a document contains active content: the bytes are fixed, the display is not.",
] as const;

/** Claims about a seal of the service. A valid signature by someone else may fail them. */
const OF_A_SEAL: ReadonlySet<string> = new Set([
  "signature_structure",
  "seal_signature_valid",
  "seal_place",
  "seal_purpose",
  "seal_certificate_trusted",
  "seal_certificate_valid_at_time",
]);

/**
 * True if the claims are about a valid signature over the whole file by another program. Such a signature states
 * neither a purpose of a seal nor a length of a document, but has no other fault. The verdict on it is still
 * `not_verified`.
 */
export function isForeignSignature(claims: readonly Claim[]): boolean {
  const stateOf = (wanted: string) => claims.find(({ name }) => name === wanted)?.state;
  const structure = claims.find(({ name }) => name === "signature_structure");
  return (
    structure?.why === `${lengthNotStated}.` &&
    stateOf("seal_purpose") === "fails" &&
    stateOf("document_unchanged_since_seal") === "holds" &&
    claims.every(({ name, state }) => state !== "fails" || OF_A_SEAL.has(name))
  );
}

/**
 * Groups the claims of a result into proven, attested and not covered.
 *
 * @param claims the claims of the result
 * @param hasClaimedTime whether the signature dictionary states a time (/M)
 */
export function proofStatement(claims: readonly Claim[], hasClaimedTime: boolean): ProofStatement {
  const holding = new Set(claims.filter(({ state }) => state === "holds").map(({ name }) => name));
  const attested: string[] = [];
  if (hasClaimedTime && !holding.has("time_stamp_valid")) {
    attested.push("The time of sealing: the sealer's own word, with no independent time stamp that was checked.");
  }
  const stamp = claims.find(({ name, state }) => name === "time_stamp_valid" && state === "unchecked");
  if (stamp !== undefined) attested.push(stamp.why);
  // If the bytes were changed, or the signature is invalid, the other claims prove nothing.
  const intact = holding.has("document_unchanged_since_seal") && holding.has("seal_signature_valid");
  return {
    proven: Object.entries(intact ? PROVEN : {}).flatMap(([name, sentence]) => (holding.has(name) ? [sentence] : [])),
    attested,
    notCovered: NOT_COVERED,
  };
}
