import { toHex } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import {
  closingLinkText,
  formatEntry,
  type LogClaimName,
  sealEntry,
  type TrustedLog,
  verifyLogProof,
} from "../log/log.ts";
import { parseManifest } from "../manifest/validate.ts";
import { type BlockHeaders, type OtsClaim, verifyOts } from "../ots/verify.ts";
import { type TimeStampVerification, verifyTimeStampToken } from "../rfc3161/verify.ts";
import type { Certificate } from "../x509/certificate.ts";
import { readClosingCertificate } from "./closing-certificate.ts";
import type { SealPurpose } from "./purpose.ts";

/** Proofs that the checkpoint of a log proof existed. */
export type CheckpointEvidence = {
  /**
   * DER of RFC 3161 tokens. Each token is over the checkpoint's note with only the first signature, which is the log's
   * own.
   */
  readonly tokens?: readonly Uint8Array[];
  /** Bytes of an `.ots` proof of the checkpoint's root. */
  readonly ots?: Uint8Array;
};

/** Evidence that is not inside the sealed PDF. All members are optional. Each member that is present adds claims. */
export interface DetachedEvidence {
  /** Expected lowercase hex SHA-256 of the whole file. */
  readonly sealedSha256?: string;
  /** Expected lowercase hex SHA-256 of the document before sealing. */
  readonly docSha256?: string;
  /** DER of an RFC 3161 token over the signature value or over the sealed file. */
  readonly timeStampToken?: Uint8Array;
  /** Bytes of an `.ots` proof of `sealedSha256`. */
  readonly otsProof?: Uint8Array;
  /** Bytes of a `.tlog-proof` of the seal's line in a transparency log. */
  readonly logProof?: Uint8Array;
  /** Proofs of the time at which the checkpoint of `logProof` existed. */
  readonly checkpoint?: CheckpointEvidence;
}

export type DetachedClaimName =
  | "sealed_hash_as_expected"
  | "document_hash_as_expected"
  | "separate_time_stamp_valid"
  | "anchored_in_block";

export interface DetachedResult {
  readonly claims: readonly Claim<DetachedClaimName>[];
  readonly timeStamp: TimeStampVerification | null;
  /** The claims of `verifyOts` about the `.ots` proof; empty without a proof. */
  readonly anchoring: readonly Claim[];
  /**
   * The earliest time at which the seal provably existed by this evidence, epoch ms; null when the evidence proves no
   * time.
   */
  readonly provenTime: number | null;
}

/** The stated time of a Bitcoin block may differ from the true time by about this many milliseconds. */
const BLOCK_TOLERANCE_MS = 2 * 3600_000;

/** The earliest of several instants; null when none is known. */
export function earliest(instants: readonly (number | null)[]): number | null {
  const defined = instants.filter((instant) => instant !== null);
  return defined.length === 0 ? null : Math.min(...defined);
}

/** The times of tokens from trusted authorities. Other tokens prove no time. */
export const trustedTimes = (tokens: readonly TimeStampVerification[]): number[] =>
  tokens.flatMap(({ trusted, genTime }) => (trusted && genTime !== null ? [genTime] : []));

export type DetachedInput = {
  readonly evidence: DetachedEvidence;
  readonly sealedSha256: Uint8Array;
  readonly docSha256: Uint8Array | null;
  readonly signatureValue: Uint8Array | null;
  readonly tsaAnchors: readonly Certificate[];
  readonly blockHeaders: BlockHeaders;
  readonly at: number;
  readonly crypto: EvidenceCrypto;
};

/**
 * Compares the file's hashes with the expected hashes. Verifies a detached time-stamp token and a detached `.ots`
 * proof.
 */
export async function verifyDetached(input: DetachedInput): Promise<DetachedResult> {
  const { evidence } = input;
  const claims: Claim<DetachedClaimName>[] = [];
  if (evidence.sealedSha256 !== undefined) {
    claims.push(hashClaim("sealed_hash_as_expected", evidence.sealedSha256, input.sealedSha256));
  }
  if (evidence.docSha256 !== undefined) {
    claims.push(hashClaim("document_hash_as_expected", evidence.docSha256, input.docSha256));
  }
  let timeStamp: TimeStampVerification | null = null;
  if (evidence.timeStampToken !== undefined) {
    timeStamp = await separateTimeStamp(evidence.timeStampToken, input);
    claims.push(separateTimeStampClaim(timeStamp));
  }
  let anchoring: readonly OtsClaim[] = [];
  if (evidence.otsProof !== undefined) {
    anchoring = await verifyOts({ proof: evidence.otsProof, digest: input.sealedSha256, headers: input.blockHeaders });
    claims.push(anchoringClaim("anchored_in_block", anchoring, "this file"));
  }
  const isAnchored = claims.some(({ name, state }) => name === "anchored_in_block" && state === "holds");
  const provenTime = earliest([
    ...(timeStamp === null ? [] : trustedTimes([timeStamp])),
    isAnchored ? blockTime(anchoring, input.at) : null,
  ]);
  return { claims, timeStamp, anchoring, provenTime };
}

/**
 * The earliest time of a confirming block, plus the tolerance; null for none. Ignores a time later than the instant of
 * the verification, `at`.
 */
export function blockTime(claims: readonly OtsClaim[], at: number): number | null {
  const times = claims.flatMap((one) => (one.blockTime === undefined ? [] : [one.blockTime + BLOCK_TOLERANCE_MS]));
  return earliest(times.filter((time) => time <= at));
}

function hashClaim(name: DetachedClaimName, expected: string, actual: Uint8Array | null): Claim<DetachedClaimName> {
  if (actual === null) return { name, state: "unchecked", why: "The hash cannot be computed from this file." };
  const hex = toHex(actual);
  return claim(name, hex === expected, `It is ${hex}, as expected.`, `It is ${hex}, and not ${expected}.`);
}

async function separateTimeStamp(
  token: Uint8Array,
  { signatureValue, sealedSha256, tsaAnchors: anchors, at, crypto }: DetachedInput,
): Promise<TimeStampVerification | null> {
  try {
    if (signatureValue !== null) {
      const overSignature = await verifyTimeStampToken({
        token,
        stamped: { message: signatureValue },
        anchors,
        at,
        crypto,
      });
      const imprint = overSignature.claims.find(({ name }) => name === "messageImprint");
      if (imprint?.state === "holds") return overSignature;
    }
    return await verifyTimeStampToken({ token, stamped: { sha256: sealedSha256 }, anchors, at, crypto });
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function separateTimeStampClaim(verification: TimeStampVerification | null): Claim<DetachedClaimName> {
  const name = "separate_time_stamp_valid";
  if (verification === null) return { name, state: "fails", why: "The time-stamp token cannot be read." };
  const failed = verification.claims.find(({ state }) => state === "fails");
  if (failed !== undefined || !verification.intact) {
    return { name, state: "fails", why: `${failed?.why ?? "The time-stamp token is not intact"}.` };
  }
  const time = new Date(verification.genTime ?? 0).toISOString();
  return verification.trusted
    ? { name, state: "holds", why: `A trusted authority stamped this seal at ${time}.` }
    : { name, state: "unchecked", why: `The token of ${time} is intact; its authority was not checked.` };
}

/**
 * Combines the claims of an `.ots` proof into one.
 * @param subject what the proof is about, in words
 */
export function anchoringClaim<Name extends string>(
  name: Name,
  claims: readonly Claim[],
  subject: string,
): Claim<Name> {
  const failed = claims.find(({ state }) => state === "fails");
  if (failed !== undefined) return { name, state: "fails", why: failed.why };
  const block = claims.find(({ name: kind, state }) => kind === "ots.bitcoin" && state === "holds");
  if (block !== undefined) return { name, state: "holds", why: block.why };
  return { name, state: "unchecked", why: `The proof is for ${subject}; no block header was there to confirm it.` };
}

export type DetachedLogProof = {
  readonly proof: Uint8Array;
  readonly bytes: Uint8Array;
  readonly sealedSha256: Uint8Array;
  /** As the seal states it. */
  readonly purpose: SealPurpose | null;
  readonly logs: readonly TrustedLog[];
};

/** Verifies a proof that a transparency log contains the line of a sealed file. */
export async function verifyDetachedLogProof(input: DetachedLogProof): Promise<Claim<LogClaimName>[]> {
  const { proof, bytes, purpose, logs } = input;
  const entry = await logEntryOf(bytes, purpose, toHex(input.sealedSha256));
  return verifyLogProof({ proof, entry, environment: purpose?.environment ?? null, logs });
}

/**
 * The line of the transparency log for a sealed file. For a closing certificate, the line also contains the link to the
 * previous version, from the attached manifest.
 *
 * If that manifest is missing or unreadable, returns the line of an ordinary seal. The log has no such line for a
 * closing certificate, so the log proof then fails.
 */
async function logEntryOf(bytes: Uint8Array, purpose: SealPurpose | null, sealedSha256: string): Promise<string> {
  if (purpose?.kind !== "closing") return sealEntry(sealedSha256);
  try {
    const { manifest } = readClosingCertificate(bytes);
    if (manifest === null) return sealEntry(sealedSha256);
    const { roomCode, prevManifestSha256 } = parseManifest(manifest).passport;
    const link = await sha256Hex(new TextEncoder().encode(closingLinkText(prevManifestSha256 ?? roomCode)));
    return formatEntry({ kind: "closing/v1", sealedSha256, link });
  } catch (error) {
    if (error instanceof EvidenceError) return sealEntry(sealedSha256);
    throw error;
  }
}
