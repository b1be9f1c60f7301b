import { evidenceNames } from "@signsealship/evidence/records";
import type { StoredFile } from "../../platform/blobs/stored-file.ts";
import type { EvidenceRow } from "../store.ts";
import { verifyPath } from "../views.ts";
import { evidenceReadme } from "./readme.ts";
import { recordFile } from "./record.ts";
import type { SealedParts } from "./sealed-parts.ts";
import type { ZipEntry } from "./zip.ts";

/**
 * Everything that is known of a passport, for a stranger's own check. The same evidence gives the same bytes; it grows
 * only when a block confirms the proof.
 * @param sealed the sealed PDF, null when it is not kept
 */
export function evidenceFiles(
  evidence: EvidenceRow,
  sealed: { file: StoredFile; parts: SealedParts } | null,
  baseUrl: string,
): ZipEntry[] {
  const { environment, verifyCode, docSha256, sealedSha256 } = evidence;
  const { token, proof, chainPem } = evidence;
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
  });
  const files = [
    { name: evidenceNames.sealed, bytes: sealed?.file ?? null },
    { name: evidenceNames.token, bytes: token },
    { name: evidenceNames.ots, bytes: proof },
    { name: evidenceNames.certificates, bytes: Buffer.from(chainPem) },
    { name: evidenceNames.record, bytes: recordFile(evidence, baseUrl) },
    { name: evidenceNames.readme, bytes: Buffer.from(readme) },
  ];
  return files.flatMap(({ name, bytes }) => (bytes ? [{ name, bytes }] : []));
}
