import { concatBytes } from "../bytes.ts";
import { attestationBytes } from "./attestation.ts";
import { varuintBytes } from "./bytes.ts";
import { opTags } from "./ops.ts";
import { parseDetached, parseTimestamp } from "./parse.ts";
import {
  attestationTag,
  type DetachedTimestamp,
  detachedMagic,
  detachedVersion,
  forkTag,
  type Op,
  type Timestamp,
} from "./timestamp.ts";

/**
 * Encodes a detached proof, with branches in their stored order. A proof that {@link parseDetached} read is therefore
 * written back byte for byte.
 *
 * @throws EvidenceError `ots` or `limit` for a proof that could not be read back
 */
export function writeDetached(proof: DetachedTimestamp): Uint8Array<ArrayBuffer> {
  const head = [detachedMagic, varuintBytes(detachedVersion), Uint8Array.of(opTags[proof.fileHashOp]), proof.digest];
  const bytes = concatBytes([...head, ...timestampParts(proof.timestamp)]);
  parseDetached(bytes);
  return bytes;
}

/**
 * Encodes a bare timestamp, in the form of a calendar's answer.
 *
 * @param messageLength length in bytes of the message that the timestamp is for
 * @throws EvidenceError `ots` or `limit` for a timestamp that could not be read back
 */
export function writeTimestamp(timestamp: Timestamp, messageLength: number): Uint8Array<ArrayBuffer> {
  const bytes = concatBytes(timestampParts(timestamp));
  parseTimestamp(bytes, messageLength);
  return bytes;
}

function timestampParts(timestamp: Timestamp): Uint8Array[] {
  return timestamp.flatMap((branch, i) => {
    const fork = i < timestamp.length - 1 ? [Uint8Array.of(forkTag)] : [];
    if ("attestation" in branch) {
      return [...fork, Uint8Array.of(attestationTag), attestationBytes(branch.attestation)];
    }
    return [...fork, ...opParts(branch.op), ...timestampParts(branch.next)];
  });
}

function opParts(op: Op): Uint8Array[] {
  const tag = Uint8Array.of(opTags[op.op]);
  return "arg" in op ? [tag, varuintBytes(op.arg.length), op.arg] : [tag];
}
