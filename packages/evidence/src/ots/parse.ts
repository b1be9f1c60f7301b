import { equalBytes } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import { readAttestation } from "./attestation.ts";
import { type OtsReader, otsReader } from "./bytes.ts";
import { hashLengths, isHashOp, opNameOf, resultLength } from "./ops.ts";
import {
  attestationTag,
  type Branch,
  type DetachedTimestamp,
  detachedMagic,
  detachedVersion,
  forkTag,
  type Op,
  otsLimits,
  type Timestamp,
} from "./timestamp.ts";

/**
 * Parses a detached proof (an `.ots` file). Before anything is hashed, enforces all limits of the reference reader and
 * makes sure that every operation is applicable. Refuses numbers with padding groups, which the reference reads but
 * never writes.
 *
 * @throws EvidenceError `ots` for malformed bytes, `limit` for a proof beyond {@link otsLimits}
 */
export function parseDetached(bytes: Uint8Array): DetachedTimestamp {
  const reader = boundedReader(bytes, otsLimits.proofBytes);
  if (bytes.length < detachedMagic.length || !equalBytes(reader.bytes(detachedMagic.length), detachedMagic)) {
    throw new EvidenceError("ots", "not an OpenTimestamps proof");
  }
  const version = reader.varuint();
  if (version !== detachedVersion) throw new EvidenceError("ots", `proof version ${version} is not supported`);
  const fileHashOp = opNameOf(reader.byte());
  if (!isHashOp(fileHashOp)) throw new EvidenceError("ots", `${fileHashOp} is not a file hash`);
  const digest = reader.bytes(hashLengths[fileHashOp]);
  return { fileHashOp, digest, timestamp: readWhole(reader, digest.length) };
}

/**
 * Parses a bare timestamp, which a calendar sends as its answer to `POST /digest` and `GET /timestamp/{hex}`.
 *
 * @param messageLength length in bytes of the message that the timestamp is for
 * @throws EvidenceError as {@link parseDetached}; `limit` beyond 10,000 bytes
 */
export function parseTimestamp(bytes: Uint8Array, messageLength: number): Timestamp {
  return readWhole(boundedReader(bytes, otsLimits.replyBytes), messageLength);
}

function boundedReader(bytes: Uint8Array, maxLength: number): OtsReader {
  if (bytes.length > maxLength) throw new EvidenceError("limit", `proof longer than ${maxLength} bytes`);
  return otsReader(bytes);
}

function readWhole(reader: OtsReader, messageLength: number): Timestamp {
  if (messageLength > otsLimits.messageBytes) {
    throw new EvidenceError("limit", `message longer than ${otsLimits.messageBytes} bytes`);
  }
  const timestamp = readTimestamp({ reader, branches: 0 }, messageLength, 0);
  if (!reader.atEnd()) throw new EvidenceError("ots", "trailing bytes after the proof");
  return timestamp;
}

type Reading = { readonly reader: OtsReader; branches: number };

function readTimestamp(reading: Reading, messageLength: number, depth: number): Timestamp {
  if (depth > otsLimits.depth) throw new EvidenceError("limit", `proof deeper than ${otsLimits.depth} operations`);
  const branches: Branch[] = [];
  let tag = reading.reader.byte();
  for (; tag === forkTag; tag = reading.reader.byte()) {
    branches.push(readBranch(reading, reading.reader.byte(), messageLength, depth));
  }
  branches.push(readBranch(reading, tag, messageLength, depth));
  return branches;
}

function readBranch(reading: Reading, tag: number, messageLength: number, depth: number): Branch {
  reading.branches += 1;
  if (reading.branches > otsLimits.branches) {
    throw new EvidenceError("limit", `proof of more than ${otsLimits.branches} branches`);
  }
  if (tag === attestationTag) return { attestation: readAttestation(reading.reader) };
  const op = readOp(reading.reader, tag);
  return { op, next: readTimestamp(reading, resultLength(op, messageLength), depth + 1) };
}

function readOp(reader: OtsReader, tag: number): Op {
  const op = opNameOf(tag);
  if (op !== "append" && op !== "prepend") return { op };
  return { op, arg: reader.varbytes(otsLimits.messageBytes) };
}
