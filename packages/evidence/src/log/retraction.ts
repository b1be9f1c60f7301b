import type { Claim } from "../claim.ts";
import { EvidenceError } from "../errors.ts";
import { isLogProof, type LogProof, parseCheckpoint, parseLogProof, type SignedCheckpoint } from "./checkpoint.ts";
import { formatEntry, parseEntry, type RetractionReason, retractionReasons } from "./entry.ts";
import { leafHash, verifyInclusion } from "./tree.ts";

/** Each completes the sentence "The seal was retracted, because ...". */
export const retractionMeanings: Readonly<Record<RetractionReason, string>> = {
  superseded: "another document replaces it",
  "wrong-document": "the wrong document was sealed",
  "key-compromise": "others may have had the seal key",
  "court-order": "a court ordered it",
  withdrawn: "it was withdrawn",
};

type RetractionClaim = Claim<"log_not_retracted">;

/**
 * Verifies the retraction in the `extra` of a log proof. Makes no claim if the proof contains no retraction. A
 * retraction is a second log proof: the same log, or a later one, contains a line `retract/v1` for the same file.
 *
 * The claim fails only if the log made the retraction. The claim is `unchecked` if the retraction is unreadable, is
 * about another file, is from another log, or lacks the log's signature. Anybody can add such a retraction to a proof.
 *
 * @param entry the line of the sealed file
 * @param signedBy verifies the signatures of a checkpoint
 */
export async function retractionClaims(
  { extra, checkpoint: ownCheckpoint }: LogProof,
  entry: string,
  signedBy: (checkpoint: SignedCheckpoint) => Promise<Pick<Claim, "state" | "why">>,
): Promise<RetractionClaim[]> {
  if (extra === null || !isLogProof(extra)) return [];
  const claims = (state: "fails" | "unchecked", why: string): RetractionClaim[] => [
    { name: "log_not_retracted", state, why },
  ];
  try {
    const proof = parseLogProof(extra);
    const checkpoint = parseCheckpoint(proof.checkpoint);
    const { origin } = checkpoint;
    if (firstName(origin) !== firstName(parseCheckpoint(ownCheckpoint).origin))
      return claims(
        "unchecked",
        `The retraction in the proof is of another log, ${origin}, and so counts for nothing.`,
      );
    const reason = await reasonOf(proof, checkpoint, entry);
    if (reason === null)
      return claims("unchecked", "The retraction in the proof is not one of this seal, and so counts for nothing.");
    const retracted = `was retracted, because ${retractionMeanings[reason]} (${reason}): entry ${proof.index} of the log ${origin}.`;
    const { state, why } = await signedBy(checkpoint);
    if (state === "holds") return claims("fails", `This seal ${retracted}`);
    return claims("unchecked", `The proof says that this seal ${retracted} ${why}`);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return claims(
      "unchecked",
      `The retraction in the proof cannot be read, and so counts for nothing: ${error.message}.`,
    );
  }
}

/**
 * Removes the successor's number from a log's origin. `HOST/log/live-2` is a successor of `HOST/log/live`. A successor
 * may retract the entries of the logs before it.
 */
const firstName = (origin: string): string => origin.replace(/-\d{1,3}$/, "");

/** Reads the reason for the retraction in a log proof; null when the proof is not about a retraction of this file. */
async function reasonOf(
  { index, hashes }: LogProof,
  { size, root }: SignedCheckpoint,
  line: string,
): Promise<RetractionReason | null> {
  const entry = parseEntry(line);
  if (entry.kind !== "seal/v1" && entry.kind !== "closing/v1") return null;
  for (const reason of retractionReasons) {
    const retraction = formatEntry({ kind: "retract/v1", sealedSha256: entry.sealedSha256, reason });
    const leaf = await leafHash(new TextEncoder().encode(retraction));
    if (await verifyInclusion({ leafHash: leaf, index, size, root, proof: hashes })) return reason;
  }
  return null;
}
