/**
 * The timestamp of one message: attestations of that message, and operations that lead to other messages with their own
 * timestamps. Never empty. The message itself is not stored, because it can be computed from the previous one.
 *
 * Branches stay in the order of the serialization, so that a parsed proof is written back byte for byte.
 */
export type Timestamp = readonly Branch[];

export type Branch = { readonly attestation: Attestation } | { readonly op: Op; readonly next: Timestamp };

/** An operation of a timestamp: it turns a message into the next one. */
export type Op =
  | { readonly op: "append" | "prepend"; readonly arg: Uint8Array }
  | { readonly op: "reverse" | "hexlify" | HashOp };

export type HashOp = "sha1" | "ripemd160" | "sha256" | "keccak256";

type Chain = "bitcoin" | "litecoin" | "ethereum";

/**
 * The attestation of a message: a calendar's promise of a proof, a block of a chain, or an unknown kind, which is
 * preserved. `tag` is 16 hex digits.
 */
export type Attestation =
  | { readonly kind: "pending"; readonly uri: string }
  | { readonly kind: Chain; readonly height: number }
  | { readonly kind: "unknown"; readonly tag: string; readonly payload: Uint8Array };

/** A proof file: the digest of a document, the name of the hash, and the timestamp of the digest. */
export type DetachedTimestamp = {
  readonly fileHashOp: HashOp;
  readonly digest: Uint8Array;
  readonly timestamp: Timestamp;
};

/** The 31 bytes that a proof file starts with. */
export const detachedMagic: Uint8Array = Uint8Array.from([
  0x00, 0x4f, 0x70, 0x65, 0x6e, 0x54, 0x69, 0x6d, 0x65, 0x73, 0x74, 0x61, 0x6d, 0x70, 0x73, 0x00, 0x00, 0x50, 0x72,
  0x6f, 0x6f, 0x66, 0x00, 0xbf, 0x89, 0xe2, 0xe8, 0x84, 0xe8, 0x92, 0x94,
]);
export const detachedVersion = 1;

/**
 * Tag bytes in a serialized timestamp. `forkTag` precedes every branch of a message except the last one;
 * `attestationTag` precedes an attestation.
 */
export const forkTag = 0xff;
export const attestationTag = 0x00;

/** Limits of the reference reader. Two limits are this package's own: proof size and number of branches. */
export const otsLimits = {
  /** Nesting depth of operations; the reference reader recurses 256 deep, the root included. */
  depth: 255,
  /** Length of a message, an operation's argument or its result. */
  messageBytes: 4096,
  attestationBytes: 8192,
  uriBytes: 1000,
  /** Size of a calendar's answer. */
  replyBytes: 10_000,
  proofBytes: 262_144,
  branches: 4096,
} as const;
