import { concatBytes, toHex } from "../bytes.ts";
import { sha1, sha256 } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { keccak256 } from "./keccak256.ts";
import { ripemd160 } from "./ripemd160.ts";
import { type HashOp, type Op, otsLimits } from "./timestamp.ts";

export const opTags: Readonly<Record<Op["op"], number>> = {
  sha1: 0x02,
  ripemd160: 0x03,
  sha256: 0x08,
  keccak256: 0x67,
  append: 0xf0,
  prepend: 0xf1,
  reverse: 0xf2,
  hexlify: 0xf3,
};

/** Output length of each hash operation, in bytes. */
export const hashLengths: Readonly<Record<HashOp, number>> = { sha1: 20, ripemd160: 20, sha256: 32, keccak256: 32 };

const opOfTag = new Map(Object.entries(opTags).map(([op, tag]) => [tag, op as Op["op"]]));

/**
 * The name of the operation that a tag byte stands for.
 * @throws EvidenceError `ots` for an unknown tag
 */
export function opNameOf(tag: number): Op["op"] {
  const name = opOfTag.get(tag);
  if (name === undefined) throw new EvidenceError("ots", `unknown operation 0x${toHex(Uint8Array.of(tag))}`);
  return name;
}

export function isHashOp(name: Op["op"]): name is HashOp {
  return Object.hasOwn(hashLengths, name);
}

/**
 * Computes the length of an operation's result from the length of its message. So every limit is enforced before any
 * operation runs.
 *
 * @throws EvidenceError `limit` when argument, message or result is longer than the reference allows; `ots` when the
 * argument is empty, or when the message of `reverse` or `hexlify` is empty
 */
export function resultLength(op: Op, messageLength: number): number {
  const length = unboundedLength(op, messageLength);
  if (messageLength > otsLimits.messageBytes || length > otsLimits.messageBytes) {
    throw new EvidenceError("limit", `${op.op}: message longer than ${otsLimits.messageBytes} bytes`);
  }
  return length;
}

function unboundedLength(op: Op, messageLength: number): number {
  if (op.op === "append" || op.op === "prepend") {
    if (op.arg.length === 0) throw new EvidenceError("ots", `${op.op}: empty argument`);
    return messageLength + op.arg.length;
  }
  if (isHashOp(op.op)) return hashLengths[op.op];
  if (messageLength === 0) throw new EvidenceError("ots", `${op.op}: empty message`);
  return op.op === "hexlify" ? 2 * messageLength : messageLength;
}

/** Applies an operation to a message whose length {@link resultLength} accepts. */
export async function applyOp(op: Op, message: Uint8Array): Promise<Uint8Array> {
  switch (op.op) {
    case "append":
      return concatBytes([message, op.arg]);
    case "prepend":
      return concatBytes([op.arg, message]);
    case "reverse":
      return message.toReversed();
    case "hexlify":
      return new TextEncoder().encode(toHex(message));
    case "sha1":
      return sha1(message);
    case "sha256":
      return sha256(message);
    case "ripemd160":
      return ripemd160(message);
    case "keccak256":
      return keccak256(message);
  }
}

/** Compares operations for sorting: by tag, then by argument. 0 for equal operations. */
export function compareOps(a: Op, b: Op): number {
  if (a.op !== b.op) return opTags[a.op] - opTags[b.op];
  return "arg" in a && "arg" in b ? compareBytes(a.arg, b.arg) : 0;
}

/** Compares byte strings for sorting, lexicographically. A prefix sorts before the longer string. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
