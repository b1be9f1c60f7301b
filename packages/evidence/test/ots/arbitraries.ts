import fc from "fast-check";
import { hashLengths } from "../../src/ots/ops.ts";
import type { Attestation, Branch, DetachedTimestamp, HashOp, Op, Timestamp } from "../../src/ots/timestamp.ts";

/**
 * Generates objects with the ordinary prototype, as parsed timestamps have, and not the null prototype of fast-check.
 */
function plain<T>(model: { [name in keyof T]: fc.Arbitrary<T[name]> }): fc.Arbitrary<T> {
  return fc.record<T>(model, { noNullPrototype: true });
}

const height = fc.oneof(fc.nat({ max: 1_000_000 }), fc.maxSafeNat());
const uri = fc.string({ unit: fc.constantFrom(..."abcXYZ019-._/:"), maxLength: 40 }).map((rest) => `https://${rest}`);

const attestation: fc.Arbitrary<Attestation> = fc.oneof(
  plain({ kind: fc.constant("pending" as const), uri }),
  plain({ kind: fc.constantFrom("bitcoin" as const, "litecoin" as const, "ethereum" as const), height }),
  plain({
    kind: fc.constant("unknown" as const),
    tag: fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 16, maxLength: 16 }),
    payload: fc.uint8Array({ maxLength: 60 }),
  }),
);

const hashNames = ["sha1", "ripemd160", "sha256", "keccak256"] as const;

const op: fc.Arbitrary<Op> = fc.oneof(
  // Uses few different arguments, so that equal operations occur in one timestamp.
  plain({
    op: fc.constantFrom("append" as const, "prepend" as const),
    arg: fc.oneof(
      fc.constantFrom(Uint8Array.of(1), Uint8Array.of(1, 0), Uint8Array.of(255)),
      fc.uint8Array({ minLength: 1, maxLength: 30 }),
    ),
  }),
  plain({ op: fc.constantFrom("reverse" as const, "hexlify" as const, ...hashNames) }),
);

/**
 * Timestamps with unsorted branches, some of them equal. Their operations are so few that a message of 32 bytes never
 * grows beyond the limit of 4,096 bytes.
 */
export const timestamp: fc.Arbitrary<Timestamp> = fc.letrec<{ timestamp: Timestamp; branch: Branch }>((tie) => ({
  timestamp: fc.array(tie("branch"), { minLength: 1, maxLength: 3, depthIdentifier: "ots", size: "max" }),
  branch: fc.oneof(
    { maxDepth: 6, depthSize: "max", depthIdentifier: "ots", withCrossShrink: true },
    plain({ attestation }),
    plain({ op, next: tie("timestamp") }),
  ),
})).timestamp;

export const detached: fc.Arbitrary<DetachedTimestamp> = fc.constantFrom<HashOp>(...hashNames).chain((fileHashOp) =>
  plain({
    fileHashOp: fc.constant(fileHashOp),
    digest: fc.uint8Array({ minLength: hashLengths[fileHashOp], maxLength: hashLengths[fileHashOp] }),
    timestamp,
  }),
);
