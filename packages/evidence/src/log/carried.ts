import { equalBytes } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import { EvidenceError } from "../errors.ts";
import { type LogProof, parseCheckpoint, parseLogProof, type SignedCheckpoint } from "./checkpoint.ts";
import { emptyRoot, inclusionRanges, rootOfParts } from "./tree.ts";
import { type LogTrust, signedClaim, type TrustedLog } from "./verify-log-proof.ts";

export type CarriedClaimName = "log_carried" | "log_sandwich";

/** The most time from a seal to its line in the log. The log's rules set it. */
const maxDelayMs = 24 * 3600_000;

export type CarriedInput = {
  /** The signed checkpoint in the seal (/SSSLogCheckpoint); null when it is not a text. */
  readonly carried: string | null;
  /** A log proof that was already verified to be about this seal. */
  readonly logProof: Uint8Array | undefined;
  readonly environment: "live" | "test" | null;
  readonly logs: readonly TrustedLog[];
  /** The time that the seal states, epoch ms; null if it states none. */
  readonly claimedTime: number | null;
  /** The earliest trusted time stamp over the checkpoint of the log proof, epoch ms; null if there is none. */
  readonly stampedTime: number | null;
};

/**
 * Verifies the log checkpoint that a seal contains. If the seal's log proof is of the same log, also verifies that the
 * seal's line entered the log between this checkpoint and the checkpoint of the proof.
 */
export async function verifyCarried(input: CarriedInput): Promise<Claim<CarriedClaimName>[]> {
  const carried = input.carried === null ? null : readOrNull(input.carried, parseCheckpoint);
  if (!carried) return [{ name: "log_carried", state: "fails", why: "The checkpoint in the seal cannot be read." }];
  const proof = input.logProof ? readOrNull(input.logProof, readProof) : null;
  if (proof?.proven.origin !== carried.origin) return [await carriedClaim(carried, input)];
  if (!(await isConsistent(carried, proof))) {
    const why = `The checkpoint in the seal is of another history of ${carried.origin} than the log proof.`;
    return withSandwich({ name: "log_carried", state: "fails", why }, sandwichClaim(carried, proof, input));
  }
  return withSandwich(await carriedClaim(carried, input), sandwichClaim(carried, proof, input));
}

/**
 * Returns both claims. If `sandwich` holds but `carried` does not, returns `sandwich` as `unchecked`. A checkpoint that
 * may not be the log's own proves nothing about the time of the seal.
 */
function withSandwich(carried: Claim<CarriedClaimName>, sandwich: Claim<CarriedClaimName>): Claim<CarriedClaimName>[] {
  if (carried.state === "holds" || sandwich.state !== "holds") return [carried, sandwich];
  const why = "Nobody trusted says that the checkpoint in the seal is a state of this log.";
  return [carried, { name: "log_sandwich", state: "unchecked", why }];
}

type ProofWithState = LogProof & { readonly proven: SignedCheckpoint };

function readProof(bytes: Uint8Array): ProofWithState {
  const proof = parseLogProof(bytes);
  return { ...proof, proven: parseCheckpoint(proof.checkpoint) };
}

function readOrNull<From, To>(from: From, read: (from: From) => To): To | null {
  try {
    return read(from);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

async function carriedClaim(carried: SignedCheckpoint, trust: LogTrust): Promise<Claim<CarriedClaimName>> {
  const { state, why } = await signedClaim(carried, trust);
  return { name: "log_carried", state, why: `The seal carries a checkpoint. ${why}` };
}

/**
 * True if both checkpoints can be states of one log. The proof decides this only in two cases: the checkpoints have the
 * same size, or the seal's checkpoint is the state directly before the seal's line. In any other case, returns true.
 */
async function isConsistent(carried: SignedCheckpoint, { proven, ...proof }: ProofWithState): Promise<boolean> {
  if (carried.size === proven.size) return equalBytes(carried.root, proven.root);
  if (carried.size !== proof.index) return true;
  const ranges = inclusionRanges(proof.index, proven.size);
  const before = proof.hashes.filter((_, i) => (ranges[i]?.end ?? 0) <= proof.index);
  return equalBytes(carried.root, (await rootOfParts(before.toReversed())) ?? (await emptyRoot()));
}

function sandwichClaim(
  { size }: SignedCheckpoint,
  { index }: LogProof,
  { claimedTime, stampedTime }: CarriedInput,
): Claim<CarriedClaimName> {
  const name = "log_sandwich";
  const place = `The log had ${size} entries when the seal was made, and the seal is entry ${index}`;
  if (index < size) return { name, state: "fails", why: `${place}: its line is older than the seal.` };
  if (claimedTime === null || stampedTime === null)
    return { name, state: "unchecked", why: `${place}. No trusted authority says by when the log had it.` };
  const stamped = new Date(stampedTime).toISOString();
  return claim(
    name,
    stampedTime <= claimedTime + maxDelayMs,
    `${place}, which the log had at ${stamped} as a stamp shows: within a day of the time that it states.`,
    `${place}, which a stamp shows in the log at ${stamped} at the earliest: more than a day after the time that it states.`,
  );
}
