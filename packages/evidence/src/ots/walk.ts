import { toHex } from "../bytes.ts";
import { applyOp } from "./ops.ts";
import type { Attestation, DetachedTimestamp, Timestamp } from "./timestamp.ts";

/** An attestation and the message it attests to. */
export type Commitment = { readonly message: Uint8Array; readonly attestation: Attestation };

/** Every attestation of a parsed proof with its message, in the proof's order. Each operation runs once. */
export async function commitments(proof: DetachedTimestamp): Promise<Commitment[]> {
  const found: Commitment[] = [];
  await walk(proof.timestamp, proof.digest, found);
  return found;
}

async function walk(timestamp: Timestamp, message: Uint8Array, found: Commitment[]): Promise<void> {
  for (const branch of timestamp) {
    if ("attestation" in branch) found.push({ message, attestation: branch.attestation });
    else await walk(branch.next, await applyOp(branch.op, message), found);
  }
}

/**
 * The calendars with pending attestations in a parsed proof, and the commitment to ask each for: `GET
 * {uri}/timestamp/{hex}` with `commitment` as lowercase hex. A calendar stays listed after a block attestation arrived,
 * because the proof does not say which answer settled which promise.
 *
 * The addresses come from the proof. Callers must check them against their own list of calendars.
 */
export async function pendingAttestations(
  proof: DetachedTimestamp,
): Promise<{ readonly uri: string; readonly commitment: Uint8Array; readonly commitmentHex: string }[]> {
  const all = await commitments(proof);
  return all.flatMap(({ message, attestation }) =>
    attestation.kind === "pending"
      ? [{ uri: attestation.uri, commitment: message, commitmentHex: toHex(message) }]
      : [],
  );
}
