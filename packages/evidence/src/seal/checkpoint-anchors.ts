import type { Claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import { logSignedText, parseCheckpoint, parseLogProof, type SignedCheckpoint } from "../log/log.ts";
import { type BlockHeaders, verifyOts } from "../ots/verify.ts";
import { type TimeStampClaimName, type TimeStampVerification, verifyTimeStampToken } from "../rfc3161/verify.ts";
import type { Certificate } from "../x509/certificate.ts";
import { anchoringClaim, blockTime, type CheckpointEvidence, earliest, trustedTimes } from "./detached-evidence.ts";

export type CheckpointClaimName = "log_checkpoint_stamped" | "log_checkpoint_anchored";

export type CheckpointAnchors = {
  readonly claims: readonly Claim<CheckpointClaimName>[];
  /** The earliest time at which the log's checkpoint provably existed, epoch ms; null when nothing proves a time. */
  readonly provenTime: number | null;
  /**
   * The earliest trusted time stamp over the checkpoint, epoch ms. Ignores Bitcoin blocks, because the block that
   * confirms a checkpoint may be days younger than the checkpoint.
   */
  readonly stampedTime: number | null;
};

type Anchored = { readonly claim: Claim<CheckpointClaimName>; readonly provenTime: number | null };

type Input = {
  readonly evidence: CheckpointEvidence;
  readonly logProof: Uint8Array | undefined;
  readonly tsaAnchors: readonly Certificate[];
  readonly blockHeaders: BlockHeaders;
  readonly at: number;
  readonly crypto: EvidenceCrypto;
};

/**
 * Verifies the time stamps and OpenTimestamps proofs over the checkpoint of a log proof. A time stamp or proof of
 * another checkpoint makes a claim fail.
 */
export async function verifyCheckpointAnchors(input: Input): Promise<CheckpointAnchors> {
  const { tokens = [], ots } = input.evidence;
  const checkpoint = checkpointOf(input.logProof);
  const parts: Anchored[] = [];
  if (tokens.length > 0)
    parts.push(checkpoint ? await stamped(tokens, checkpoint, input) : nothingAnchored("log_checkpoint_stamped"));
  if (ots) parts.push(checkpoint ? await inBlock(ots, checkpoint, input) : nothingAnchored("log_checkpoint_anchored"));
  return {
    claims: parts.map((part) => part.claim),
    provenTime: earliest(parts.map(({ provenTime }) => provenTime)),
    stampedTime: earliest(parts.map((part) => (part.claim.name === "log_checkpoint_stamped" ? part.provenTime : null))),
  };
}

/**
 * The claims that must hold for every token, even from an unknown authority. The other claims may fail, because another
 * verifier may trust that authority. Here, such a token proves no time.
 */
const mustHold: readonly TimeStampClaimName[] = [
  "messageImprint",
  "contentType",
  "messageDigest",
  "signature",
  "signingCertificate",
];

const nothingAnchored = (name: CheckpointClaimName): Anchored => ({
  claim: { name, state: "unchecked", why: "There is no log proof with the checkpoint that this should be about." },
  provenTime: null,
});

function checkpointOf(logProof: Uint8Array | undefined): SignedCheckpoint | null {
  if (!logProof) return null;
  try {
    return parseCheckpoint(parseLogProof(logProof).checkpoint);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

async function stamped(
  tokens: readonly Uint8Array[],
  { note }: SignedCheckpoint,
  { tsaAnchors: anchors, at, crypto }: Input,
): Promise<Anchored> {
  const name = "log_checkpoint_stamped";
  const message = new TextEncoder().encode(logSignedText(note));
  const verified: TimeStampVerification[] = [];
  for (const token of tokens) {
    const stamp = await readStamp(() => verifyTimeStampToken({ token, stamped: { message }, anchors, at, crypto }));
    const broken = stamp?.claims.find(({ name: part, state }) => mustHold.includes(part) && state !== "holds");
    if (!stamp || broken) {
      const why = broken?.why ?? "A time stamp of the checkpoint can't be read";
      return { claim: { name, state: "fails", why: `${why}.` }, provenTime: null };
    }
    verified.push(stamp);
  }
  const times = trustedTimes(verified);
  const provenTime = earliest(times);
  if (provenTime === null) {
    const why = `${tokens.length} time stamps are over this state of the log; no authority of them is trusted.`;
    return { claim: { name, state: "unchecked", why }, provenTime };
  }
  const first = new Date(provenTime).toISOString();
  const why = `${times.length} of ${tokens.length} time stamps over this state of the log are by trusted authorities, the first of ${first}.`;
  return { claim: { name, state: "holds", why }, provenTime };
}

async function readStamp(verify: () => Promise<TimeStampVerification>): Promise<TimeStampVerification | null> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

async function inBlock(
  proof: Uint8Array,
  { root }: SignedCheckpoint,
  { blockHeaders: headers, at }: Input,
): Promise<Anchored> {
  const anchoring = await verifyOts({ proof, digest: root, headers });
  const anchored = anchoringClaim("log_checkpoint_anchored", anchoring, "this state of the log");
  return { claim: anchored, provenTime: anchored.state === "holds" ? blockTime(anchoring, at) : null };
}
