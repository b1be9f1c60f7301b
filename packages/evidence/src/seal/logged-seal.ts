import type { Claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { type CarriedClaimName, type LogClaimName, type TrustedLog, verifyCarried } from "../log/log.ts";
import type { BlockHeaders } from "../ots/verify.ts";
import type { PdfDictionary } from "../pdf/values.ts";
import type { Certificate } from "../x509/certificate.ts";
import { carriedNote } from "./carried-note.ts";
import { type CheckpointClaimName, verifyCheckpointAnchors } from "./checkpoint-anchors.ts";
import { claimedTimeOf } from "./claimed-time.ts";
import { type DetachedEvidence, type DetachedLogProof, verifyDetachedLogProof } from "./detached-evidence.ts";
import { sealPurposeOf } from "./purpose.ts";

/** The trusted certificates and logs that claims about the log depend on. */
type LogTrust = {
  readonly tsaAnchors: readonly Certificate[];
  readonly blockHeaders?: BlockHeaders;
  readonly logs?: readonly TrustedLog[];
};

type LoggedClaimName = LogClaimName | CheckpointClaimName | CarriedClaimName;

type LoggedSeal = Pick<DetachedLogProof, "bytes" | "sealedSha256" | "purpose">;

/**
 * Makes the claims about the transparency log. The log's checkpoint proves a time for the seal only if the log proof
 * shows that the checkpoint includes the seal's line.
 */
export async function verifyLogged(
  sealed: LoggedSeal,
  { logProof, checkpoint = {} }: DetachedEvidence,
  { tsaAnchors, blockHeaders = new Map(), logs = [] }: LogTrust,
  context: { readonly at: number; readonly crypto: EvidenceCrypto },
): Promise<Logged> {
  const claims = logProof === undefined ? [] : await verifyDetachedLogProof({ proof: logProof, ...sealed, logs });
  const isIncluded = claims.some(({ name, state }) => name === "log_inclusion" && state === "holds");
  const anchors = await verifyCheckpointAnchors({
    evidence: checkpoint,
    logProof,
    tsaAnchors,
    blockHeaders,
    ...context,
  });
  return {
    claims: [...claims, ...anchors.claims],
    provenTime: isIncluded ? anchors.provenTime : null,
    stampedTime: isIncluded ? anchors.stampedTime : null,
    logProof: isIncluded ? logProof : undefined,
  };
}

/**
 * The claims about a log proof and its checkpoint. The times, and the log proof itself, are given only if the proof is
 * about this seal's line.
 */
type Logged = {
  readonly claims: readonly Claim<LoggedClaimName>[];
  readonly provenTime: number | null;
  readonly stampedTime: number | null;
  readonly logProof: Uint8Array | undefined;
};

/** The claims about the checkpoint inside a seal; an empty list for a seal without a checkpoint. */
export async function verifyCarriedIn(
  dictionary: PdfDictionary,
  { logProof, stampedTime }: Pick<Logged, "logProof" | "stampedTime">,
  logs: readonly TrustedLog[],
): Promise<Claim<LoggedClaimName>[]> {
  if (!dictionary.entries.has("SSSLogCheckpoint")) return [];
  const environment = sealPurposeOf(dictionary)?.environment ?? null;
  const carried = carriedNote(dictionary);
  return verifyCarried({ carried, logProof, environment, logs, claimedTime: claimedTimeOf(dictionary), stampedTime });
}
