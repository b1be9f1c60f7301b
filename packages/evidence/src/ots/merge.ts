import { equalBytes } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import { compareAttestations } from "./attestation.ts";
import { applyOp, compareOps } from "./ops.ts";
import { parseDetached, parseTimestamp } from "./parse.ts";
import type { Attestation, Branch, DetachedTimestamp, Op, Timestamp } from "./timestamp.ts";
import { writeDetached } from "./write.ts";

/**
 * Merges timestamps of the same message into one timestamp with every branch. Equal attestations appear once. Equal
 * operations appear once, with their continuations merged, because the reference reader uses only the last of two equal
 * operations. The order is that of the reference implementation: attestations, then operations, each sorted.
 *
 * For a single timestamp, the result is its normal form.
 */
export function mergeTimestamps(timestamps: readonly Timestamp[]): Timestamp {
  const attestations: Attestation[] = [];
  const edges: { op: Op; next: Timestamp }[] = [];
  for (const branch of timestamps.flat()) {
    if ("attestation" in branch) attestations.push(branch.attestation);
    else edges.push(branch);
  }
  return [
    ...distinct(attestations, compareAttestations).map(([attestation]): Branch => ({ attestation })),
    ...distinct(edges, (a, b) => compareOps(a.op, b.op)).map(
      ([edge, ...equal]): Branch => ({
        op: edge.op,
        next: mergeTimestamps([edge.next, ...equal.map(({ next }) => next)]),
      }),
    ),
  ];
}

/** Groups equal items, and sorts the groups. The first item of each group represents it. */
function distinct<T>(items: readonly T[], compare: (a: T, b: T) => number): [T, ...T[]][] {
  const groups: [T, ...T[]][] = [];
  for (const item of items.toSorted(compare)) {
    const group = groups.at(-1);
    if (group !== undefined && compare(group[0], item) === 0) group.push(item);
    else groups.push([item]);
  }
  return groups;
}

/**
 * Builds the detached proof of a SHA-256 digest from calendars' answers to `POST /digest`.
 *
 * @param digest the 32 bytes that were sent
 * @param replies the answers, at least one, as received
 * @throws EvidenceError `ots` or `limit` when an answer is malformed or missing
 */
export function proofOfReplies(digest: Uint8Array, replies: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const timestamp = mergeTimestamps(replies.map((reply) => parseTimestamp(reply, digest.length)));
  return writeDetached({ fileHashOp: "sha256", digest, timestamp });
}

/**
 * Merges a calendar's later answer into a proof, wherever the commitment occurs in the proof. The commitment is the
 * message that the calendar was asked about. The proof keeps its contents, including the pending attestation.
 *
 * @param input `proof` a detached proof; `commitment` the message whose hex was requested; `reply` the answer to `GET
 * /timestamp/{hex}`, as received
 * @returns the new proof's bytes, in normal form
 * @throws EvidenceError `ots` or `limit` when proof or answer is malformed, the proof does not contain the commitment,
 * or the result would exceed the limits of the reference reader
 */
export async function upgrade(input: {
  readonly proof: Uint8Array;
  readonly commitment: Uint8Array;
  readonly reply: Uint8Array;
}): Promise<Uint8Array<ArrayBuffer>> {
  const proof = parseDetached(input.proof);
  const answer = parseTimestamp(input.reply, input.commitment.length);
  const reached = { count: 0 };
  const timestamp = await graft(proof.timestamp, proof.digest, input.commitment, answer, reached);
  if (reached.count === 0) throw new EvidenceError("ots", "the proof does not reach the commitment");
  const upgraded: DetachedTimestamp = { ...proof, timestamp: mergeTimestamps([timestamp]) };
  return writeDetached(upgraded);
}

async function graft(
  timestamp: Timestamp,
  message: Uint8Array,
  commitment: Uint8Array,
  answer: Timestamp,
  reached: { count: number },
): Promise<Timestamp> {
  const branches: Branch[] = [];
  for (const branch of timestamp) {
    if ("attestation" in branch) branches.push(branch);
    else {
      const next = await graft(branch.next, await applyOp(branch.op, message), commitment, answer, reached);
      branches.push({ op: branch.op, next });
    }
  }
  if (!equalBytes(message, commitment)) return branches;
  reached.count += 1;
  return [...branches, ...answer];
}
