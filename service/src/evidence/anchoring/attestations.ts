import { toHex } from "@signsealship/evidence/bytes";
import type { DetachedTimestamp, Timestamp } from "@signsealship/evidence/ots";
import { applyOp } from "@signsealship/evidence/ots";

/**
 * A calendar's pending attestation in a proof. `commitment` is the value that the calendar attests. `heights` are the
 * heights of the Bitcoin blocks to which the proof already leads from that value.
 */
export type PendingAttestation = {
  readonly calendar: string;
  readonly commitment: Uint8Array;
  readonly commitmentHex: string;
  readonly heights: readonly number[];
};

/** True if a timestamp contains an attestation of a known kind: a calendar's pending one, or one of a Bitcoin block. */
export function attestsAnything(timestamp: Timestamp): boolean {
  return timestamp.some((branch) =>
    "attestation" in branch ? branch.attestation.kind !== "unknown" : attestsAnything(branch.next),
  );
}

/** The heights of the Bitcoin blocks that a timestamp names, in the timestamp's order. */
export function bitcoinHeights(timestamp: Timestamp): number[] {
  return timestamp.flatMap((branch) => {
    if (!("attestation" in branch)) return bitcoinHeights(branch.next);
    return branch.attestation.kind === "bitcoin" ? [branch.attestation.height] : [];
  });
}

/** All pending attestations of a parsed proof, each pair of calendar and commitment only once. */
export async function pendingAttestations(proof: DetachedTimestamp): Promise<PendingAttestation[]> {
  const found = new Map<string, PendingAttestation>();
  const walk = async (timestamp: Timestamp, commitment: Uint8Array): Promise<void> => {
    for (const branch of timestamp) {
      if (!("attestation" in branch)) {
        await walk(branch.next, await applyOp(branch.op, commitment));
      } else if (branch.attestation.kind === "pending") {
        const { uri: calendar } = branch.attestation;
        const commitmentHex = toHex(commitment);
        const heights = bitcoinHeights(timestamp);
        found.set(`${calendar} ${commitmentHex}`, { calendar, commitment, commitmentHex, heights });
      }
    }
  };
  await walk(proof.timestamp, proof.digest);
  return [...found.values()];
}
