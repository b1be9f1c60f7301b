import { checkpointTokenNames, evidenceNames, recordFormat } from "@signsealship/evidence/records";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { CheckpointProofs } from "../../transparency-log/transparency-log.ts";
import type { EvidenceRow, PassportRow } from "../store.ts";
import { timestampsView, verifyPath } from "../views.ts";
import { evidenceReadme } from "./readme.ts";
import type { SealedParts } from "./sealed-parts.ts";
import type { ZipEntry } from "./zip.ts";

/** Proofs of a passport's seal from the transparency log. */
export type LogEvidence = {
  logProof: Buffer | null;
  /** The time-stamp tokens and the OpenTimestamps proof of the checkpoint in `logProof`. */
  checkpoint: CheckpointProofs;
  /**
   * The OpenTimestamps proof from the seal, through the log, to the hourly root (the log's checkpoint that is anchored
   * each hour). Null without such a proof, and for a seal with an OpenTimestamps proof of its own.
   */
  rootOts: Buffer | null;
};

/**
 * All evidence of a passport, so that anyone can verify it. Equal evidence gives equal bytes. The evidence changes with
 * the log's proof (see `logProof`), and when the hourly root is anchored. It also changes when a block confirms a
 * proof, and when the sealed PDF is deleted or can't be read.
 * @param sealed the sealed PDF; null when it is not stored or can't be read
 */
export function evidenceFiles(
  evidence: EvidenceRow & LogEvidence,
  sealed: { file: StoredFile; parts: SealedParts } | null,
  baseUrl: string,
): ZipEntry[] {
  const { environment, verifyCode, docSha256, sealedSha256 } = evidence;
  const { token, chainPem, checkpoint } = evidence;
  const proof = evidence.proof ?? evidence.rootOts;
  const verifyUrl = `${baseUrl}${verifyPath(verifyCode)}`;
  const readme = evidenceReadme({
    environment,
    verifyUrl,
    docSha256,
    sealedSha256,
    deletedAt: evidence.deletedAt,
    parts: sealed?.parts ?? null,
    stampedAt: token && evidence.stampedAt,
    anchored: proof !== null,
    logged: evidence.logProof !== null,
    rootStamps: checkpoint.tokens.length,
    rootAnchored: checkpoint.ots !== null,
  });
  const files = [
    { name: evidenceNames.sealed, bytes: sealed?.file ?? null },
    { name: evidenceNames.token, bytes: token },
    { name: evidenceNames.ots, bytes: proof },
    { name: evidenceNames.logProof, bytes: evidence.logProof },
    ...checkpointTokenNames.map((name, i) => ({ name, bytes: checkpoint.tokens[i] ?? null })),
    { name: evidenceNames.checkpointOts, bytes: checkpoint.ots },
    { name: evidenceNames.certificates, bytes: Buffer.from(chainPem) },
    { name: evidenceNames.record, bytes: recordFile(evidence, baseUrl) },
    { name: evidenceNames.readme, bytes: Buffer.from(readme) },
  ];
  return files.flatMap(({ name, bytes }) => (bytes ? [{ name, bytes }] : []));
}

export function recordFile(passport: PassportRow, baseUrl: string): Buffer {
  const { verifyCode, environment, docSha256, sealedSha256, createdAt } = passport;
  const record = {
    format: recordFormat,
    verifyCode,
    verifyUrl: `${baseUrl}${verifyPath(verifyCode)}`,
    environment,
    status: "sealed",
    docSha256,
    sealedSha256,
    sealedAtUtc: createdAt.toISOString(),
    timestamps: timestampsView(passport),
  };
  return Buffer.from(`${JSON.stringify(record, null, 2)}\n`);
}
