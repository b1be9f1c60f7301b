import { hash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import {
  formatEntry,
  inclusionRanges,
  type LogEntry,
  leafMessage,
  parseCheckpoint,
  verifyInclusion,
} from "@signsealship/evidence/log";
import { parseDetached, type Timestamp, writeDetached } from "@signsealship/evidence/ots";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { openTimestamps, selectCalendarRoot, selectProofs, selectRoots } from "./anchor-store.ts";
import { forgetTiles, inclusionHashes } from "./proof-tiles.ts";
import { selectCheckpoint } from "./store.ts";
import type { LogName } from "./trees.ts";

export type SealedEntry = Extract<LogEntry, { kind: "seal/v1" | "closing/v1" }>;

/**
 * The `.ots` proof of a sealed file through the log. It leads from the file's hash to its line in the log, up the tree
 * to a root that calendars have stamped, and on to the calendars' attestations. Any OpenTimestamps client can read it.
 * @returns null until calendars have stamped a root that covers the line
 * @throws Error when the stored data do not lead to that root
 */
export async function composedOts(db: Sql, environment: Environment, entry: SealedEntry): Promise<Buffer | null> {
  const line = formatEntry(entry);
  const found = await selectCalendarRoot(db, environment, line);
  if (!found) return null;
  const { log, leaf: index, checkpoint, proof: rootProof } = found;
  const { size, root } = parseCheckpoint(checkpoint.note);
  const hashes = await inclusionHashes(db, log, index, size);
  const { digest, timestamp } = parseDetached(rootProof);
  const leafHash = hash("sha256", leafMessage(Buffer.from(line)), "buffer");
  const isIncluded = await verifyInclusion({ leafHash, index, size, root, proof: hashes });
  if (!isIncluded) forgetTiles(db, log, index, size);
  if (!isIncluded || !equalBytes(digest, root))
    throw new Error(`the ${log} log does not lead entry ${index} to its anchor`);
  const ranges = inclusionRanges(index, size);
  const climb = hashes.reduceRight<Timestamp>((above, sibling, i) => {
    const isRight = (ranges[i]?.start ?? 0) > index;
    return isRight
      ? [{ op: { op: "append", arg: sibling }, next: [{ op: { op: "prepend", arg: inner }, next: hashed(above) }] }]
      : [{ op: { op: "prepend", arg: Buffer.concat([inner, sibling]) }, next: hashed(above) }];
  }, timestamp);
  const [before = "", after = ""] = line.split(entry.sealedSha256);
  const toLeaf: Timestamp = [
    {
      op: { op: "hexlify" },
      next: [
        {
          op: { op: "prepend", arg: leafMessage(Buffer.from(before)) },
          next: [{ op: { op: "append", arg: Buffer.from(after) }, next: hashed(climb) }],
        },
      ],
    },
  ];
  return Buffer.from(
    writeDetached({ fileHashOp: "sha256", digest: Buffer.from(entry.sealedSha256, "hex"), timestamp: toLeaf }),
  );
}

/** The first byte of the input when an inner node is hashed (RFC 6962). */
const inner = Buffer.of(1);

const hashed = (next: Timestamp): Timestamp => [{ op: { op: "sha256" }, next }];

/** The message of the refusal that is sent until calendars have stamped a root that covers the line. */
export const notAnchoredYet = "No hourly root of the transparency log with this seal is with the calendars yet.";

/**
 * Like `composedOts`, but throws instead of returning null.
 * @throws ServiceError `conflict` until calendars have stamped a root that covers the line
 */
export async function requireComposedOts(db: Sql, log: Environment, entry: SealedEntry): Promise<Buffer> {
  const proof = await composedOts(db, log, entry);
  if (!proof) throw new ServiceError("conflict", notAnchoredYet);
  return proof;
}

/**
 * The proofs of time for a checkpoint. Authorities' tokens cover the checkpoint's note with only the log's signature,
 * without the witnesses' cosignatures. The calendars' detached timestamp covers the checkpoint's root.
 */
export type CheckpointProofs = { tokens: Buffer[]; ots: Buffer | null };

/** The evidence of a passport contains tokens of at most this many authorities. */
const maxTokens = 8;

export async function checkpointProofs(db: Sql, log: LogName, size: number): Promise<CheckpointProofs> {
  const proofs = await selectProofs(db, log, size);
  return {
    tokens: proofs.flatMap(({ source, proof }) => (source === openTimestamps ? [] : [proof])).slice(0, maxTokens),
    ots: proofs.find(({ source }) => source === openTimestamps)?.proof ?? null,
  };
}

/** The proofs over a checkpoint, for public download; null for a checkpoint that no source anchored. */
export async function anchorsOf(db: Sql, log: LogName, size: number) {
  const proofs = await selectProofs(db, log, size);
  const checkpoint = proofs.length > 0 ? await selectCheckpoint(db, log, size) : undefined;
  return checkpoint
    ? {
        size,
        checkpoint: checkpoint.note,
        anchors: proofs.map(({ source, status, proof, anchoredAt, blockHeight }) => ({
          source,
          status,
          anchoredAtUtc: anchoredAt.toISOString(),
          blockHeight,
          proof: proof.toString("base64"),
        })),
      }
    : null;
}

/**
 * The published list of the newest checkpoints that were chosen to be anchored. Monitors use it to find hours without
 * an anchor.
 */
export async function listedRoots(db: Sql, log: LogName, intervalMs: number) {
  const roots = await selectRoots(db, log);
  return {
    intervalSeconds: Math.round(intervalMs / 1_000),
    roots: roots.map(({ chosenAt, ...root }) => ({ ...root, chosenAtUtc: chosenAt.toISOString() })),
  };
}
