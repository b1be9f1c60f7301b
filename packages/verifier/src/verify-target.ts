import { stat } from "node:fs/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import { jsonKindOf } from "@signsealship/evidence/records";
import { readSealPurpose, type SealPurpose } from "@signsealship/evidence/seal";
import type { Context, NamedBytes } from "./context.ts";
import { UsageError } from "./errors.ts";
import { type ClosingPiece, roomRecordPiece, verifyClosingSet } from "./files/closing-set.ts";
import { kindOf } from "./files/kind.ts";
import { readBounded } from "./files/read-file.ts";
import type { Report } from "./files/report.ts";
import { verifySealedPdf } from "./files/sealed-pdf.ts";
import { verifyFile } from "./files/verify-file.ts";
import { type FolderDeps, verifyFolder } from "./folder/verify-folder.ts";
import type { Fetch } from "./url/fetch-bounded.ts";
import { roomPieces } from "./url/room-pieces.ts";
import { parseVerifyUrl, verifyUrl } from "./url/verify-url.ts";

export type TargetDeps = FolderDeps & { readonly fetch: Fetch };

/**
 * Verifies a file, a folder or a verify URL.
 *
 * @param more further manifests, certificates or verify URLs of the same room; or the document of a custody certificate
 * @throws UsageError for a target that is not there or no such thing
 */
export async function verifyTarget(
  target: string,
  more: readonly string[],
  context: Context,
  deps: TargetDeps,
): Promise<Report> {
  if (more.length > 0) return verifyTogether([target, ...more], context, deps);
  if (isUrl(target)) return verifyUrl(urlOf(target), context, deps.fetch);
  if (await isFolder(target)) {
    if (context.doc !== null) throw new UsageError("--doc goes with one file or verify URL");
    return verifyFolder(target, context, deps);
  }
  const bytes = await readBounded(target);
  if (context.doc === null && target.endsWith(".ots")) {
    const about = await besides(target.slice(0, -".ots".length));
    return verifyFile({ path: target, bytes }, { ...context, doc: about });
  }
  return verifyFile({ path: target, bytes }, context);
}

/** The file that a proof beside it is about, when it is there. */
async function besides(path: string): Promise<Context["doc"]> {
  const there = await stat(path).catch(() => null);
  return there?.isFile() ? { path, bytes: await readBounded(path) } : null;
}

async function verifyTogether(targets: readonly string[], context: Context, deps: TargetDeps): Promise<Report> {
  const custody = await custodyPair(targets);
  if (custody) return verifySealedPdf(custody.certificate, { document: custody.document }, context);
  const pieces: ClosingPiece[] = [];
  for (const target of targets) {
    if (isUrl(target)) {
      pieces.push(...(await roomPieces(urlOf(target), deps.fetch)));
      continue;
    }
    if (await isFolder(target)) throw new UsageError(`${target}: --with goes with files and verify URLs of one room`);
    const bytes = await readBounded(target);
    const kind = kindOf(target, bytes);
    if (kind === "pdf") pieces.push({ path: target, certificate: bytes });
    else if (kind === "json") pieces.push(jsonPiece({ path: target, bytes }));
    else throw new UsageError(`${target} is no manifest and no certificate: --with goes with those of one room`);
  }
  return verifyClosingSet(pieces, context);
}

/** Two files of which one was sealed as a custody certificate: the other is the document that it is about. */
async function custodyPair(targets: readonly string[]) {
  if (targets.length !== 2 || targets.some(isUrl)) return null;
  const files: NamedBytes[] = [];
  for (const path of targets) {
    if (await isFolder(path)) return null;
    files.push({ path, bytes: await readBounded(path) });
  }
  for (const [index, certificate] of files.entries()) {
    const document = files[1 - index];
    if (document && (await purposeOf(certificate))?.kind === "custody") return { certificate, document };
  }
  return null;
}

async function purposeOf({ path, bytes }: NamedBytes): Promise<SealPurpose | null> {
  if (kindOf(path, bytes) !== "pdf") return null;
  try {
    return await readSealPurpose(bytes);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/** A manifest, or a service's answer that was saved. @throws UsageError for such an answer that cannot be read */
function jsonPiece(file: NamedBytes): ClosingPiece {
  if (jsonKindOf(file.bytes) !== "room_record") return { path: file.path, manifest: file.bytes };
  try {
    return roomRecordPiece(file);
  } catch (error) {
    if (error instanceof EvidenceError) throw new UsageError(`${file.path}: ${error.message}`);
    throw error;
  }
}

function isUrl(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

function urlOf(target: string) {
  const url = parseVerifyUrl(target);
  if (url === null) throw new UsageError(`${target} is no verify URL of a proof passport or of a closing passport`);
  return url;
}

async function isFolder(target: string): Promise<boolean> {
  try {
    return (await stat(target)).isDirectory();
  } catch (error) {
    if (error instanceof Error && "code" in error) throw new UsageError(`${target} cannot be read (${error.code})`);
    throw error;
  }
}
