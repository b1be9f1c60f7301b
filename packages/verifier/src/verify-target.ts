import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { EvidenceError } from "@signsealship/evidence/errors";
import { checkpointTokenNames, evidenceNames, jsonKindOf } from "@signsealship/evidence/records";
import { readSealPurpose, type SealPurpose } from "@signsealship/evidence/seal";
import type { Context, NamedBytes } from "./context.ts";
import { UsageError } from "./errors.ts";
import { type ClosingPiece, roomRecordPiece, verifyClosingSet } from "./files/closing-set.ts";
import { unreadableRecord } from "./files/evidence-set.ts";
import { type FileKind, kindOf } from "./files/kind.ts";
import { readBounded } from "./files/read-file.ts";
import { type Check, check, type Report, withChecks } from "./files/report.ts";
import { isClosingCertificate, verifyRoomDocuments } from "./files/room-documents.ts";
import { verifySealedPdf } from "./files/sealed-pdf.ts";
import { verifyFile } from "./files/verify-file.ts";
import { type FolderDeps, verifyFolder } from "./folder/verify-folder.ts";
import { type Fetch, fetchBounded, fetchLimits } from "./url/fetch-bounded.ts";
import { parseVerifyUrl, type VerifyUrl, verifyUrl } from "./url/verify-url.ts";

export type TargetDeps = FolderDeps & { readonly fetch: Fetch };

/**
 * Verifies a file, a folder or a verify URL.
 * @param more other files about the same thing: manifests, certificates, verify URLs or documents of the same room; the
 * document of a custody or proof certificate; or the time stamp and proofs of a sealed PDF
 * @throws UsageError for a target that does not exist, or is not a file, folder or verify URL
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

/**
 * Reads the file that an `.ots` proof covers: it has the proof's path without `.ots`. Null if there is no such file.
 */
async function besides(path: string): Promise<Context["doc"]> {
  const there = await stat(path).catch(() => null);
  return there?.isFile() ? { path, bytes: await readBounded(path) } : null;
}

async function verifyTogether(targets: readonly string[], context: Context, deps: TargetDeps): Promise<Report> {
  const files = await filesOf(targets);
  const about = files && (await verifyAbout(files, context));
  if (about) return about;
  const pieces: ClosingPiece[] = [];
  const documents: NamedBytes[] = [];
  const refused: Check[] = [];
  for (const target of targets) {
    try {
      for (const piece of await closingPieces(target, deps)) {
        if ("certificate" in piece && !isUrl(target) && !(await isClosingCertificate(piece.certificate)))
          documents.push({ path: target, bytes: piece.certificate });
        else pieces.push(piece);
      }
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      refused.push(...unreadableRecord("room_record", error).checks.map((one) => ({ ...one, target })));
    }
  }
  const report =
    documents.length > 0
      ? await verifyRoomDocuments(pieces, documents, context)
      : await verifyClosingSet(pieces, context);
  return withChecks(report, refused);
}

/**
 * Reads a target as pieces of a room's set: a file, or the service's answer at a verify URL. A PDF of any kind becomes
 * a `certificate`.
 * @throws EvidenceError for a record that is refused; UsageError for a file that can't be part of the set
 */
async function closingPieces(target: string, deps: TargetDeps): Promise<ClosingPiece[]> {
  if (isUrl(target)) return roomPieces(urlOf(target), deps.fetch);
  if (await isFolder(target)) throw new UsageError(`${target}: --with goes with files and verify URLs of one room`);
  const bytes = await readBounded(target);
  const kind = kindOf(target, bytes);
  if (kind === "pdf") return [{ path: target, certificate: bytes }];
  if (kind !== "json")
    throw new UsageError(`${target} is not a manifest, certificate or PDF: use --with only for files of one room`);
  const isRecord = jsonKindOf(bytes) === "room_record";
  return [isRecord ? roomRecordPiece({ path: target, bytes }) : { path: target, manifest: bytes }];
}

/** The files at the targets' paths; null if a target is not a file. */
async function filesOf(targets: readonly string[]): Promise<NamedBytes[] | null> {
  const files: NamedBytes[] = [];
  for (const path of targets) {
    if (isUrl(path) || (await isFolder(path))) return null;
    files.push({ path, bytes: await readBounded(path) });
  }
  return files;
}

const isAboutDocument = (purpose: SealPurpose | null): boolean =>
  purpose?.kind === "custody" || purpose?.kind === "certificate";

/**
 * Verifies either of two sets of files:
 *
 * - a custody or proof certificate, and other PDFs: one of them may be the certificate's document
 * - a sealed PDF, and its time stamp and proofs
 *
 * A set with a JSON file or a closing certificate may be the files of one room, so the result is null. But a closing
 * certificate with only its log proof is verified here.
 * @throws UsageError for any other set of files
 */
async function verifyAbout(files: readonly NamedBytes[], context: Context): Promise<Report | null> {
  const pdfs: { file: NamedBytes; purpose: SealPurpose | null }[] = [];
  const rest: NamedBytes[] = [];
  for (const file of files) {
    if (kindOf(file.path, file.bytes) === "pdf") pdfs.push({ file, purpose: await purposeOf(file) });
    else rest.push(file);
  }
  const certificates = pdfs.filter(({ purpose }) => isAboutDocument(purpose));
  const documents = pdfs.filter(({ purpose }) => !isAboutDocument(purpose)).map(({ file }) => file);
  const [certificate, second] = certificates;
  if (certificate !== undefined) {
    if (second !== undefined || rest.length > 0 || documents.length === 0)
      throw new UsageError("--with: one custody or proof certificate goes with PDFs that may be its document");
    return verifyAgainstEach(certificate.file, documents, context);
  }
  if (rest.some(({ path, bytes }) => kindOf(path, bytes) === "json")) return null;
  const ofCheckpoint = checkpointPieces(rest);
  const others = rest.filter((file) => !ofCheckpoint.files.has(file));
  const isLogged = others.length === 1 && others.every(({ path, bytes }) => kindOf(path, bytes) === "log");
  if (!isLogged && pdfs.some(({ purpose }) => purpose?.kind === "closing")) return null;
  const [pdf, other] = documents;
  const only = (kind: FileKind) => others.filter(({ path, bytes }) => kindOf(path, bytes) === kind);
  const [tokens, proofs, logProofs] = [only("der"), only("ots"), only("log")];
  const [[token], [ots], [logProof]] = [tokens, proofs, logProofs];
  const used = [token, ots, logProof].filter((file) => file !== undefined).length;
  if (pdf === undefined || other !== undefined || others.length !== used)
    throw new UsageError(
      "--with: a sealed PDF goes with one time stamp and one proof of each kind, a certificate with its document",
    );
  const detached = { ...(token && { token }), ...(ots && { ots }), ...(logProof && { logProof }) };
  return verifySealedPdf(pdf, { ...detached, ...ofCheckpoint.companions }, context);
}

/** The files about the checkpoint of a log proof, recognized by their names in the evidence. */
function checkpointPieces(files: readonly NamedBytes[]) {
  const named = (names: readonly string[]) => files.filter(({ path }) => names.includes(basename(path)));
  const checkpointTokens = named(checkpointTokenNames);
  const [checkpointOts] = named([evidenceNames.checkpointOts]);
  return {
    files: new Set([...checkpointTokens, ...(checkpointOts ? [checkpointOts] : [])]),
    companions: { checkpointTokens, ...(checkpointOts && { checkpointOts }) },
  };
}

const NAMES_DOCUMENT: readonly string[] = ["document_hash", "record_sealed_hash"];

/**
 * Verifies a certificate together with the given document whose hash it contains. If no given document matches,
 * verifies the certificate together with the first given document.
 */
async function verifyAgainstEach(
  certificate: NamedBytes,
  documents: readonly NamedBytes[],
  context: Context,
): Promise<Report> {
  let first: { report: Report; document: NamedBytes } | null = null;
  for (const document of documents) {
    const report = await verifySealedPdf(certificate, { document }, context);
    const found = { report, document };
    first ??= found;
    if (report.checks.some(({ claim, result }) => NAMES_DOCUMENT.includes(claim) && result === "holds")) {
      first = found;
      break;
    }
  }
  if (first === null) throw new UsageError("--with names no document");
  const { report, document } = first;
  const others = documents.filter((one) => one !== document).map(({ path }) => path);
  if (others.length === 0) return report;
  const why = `The certificate was compared with ${document.path}. These were not judged: ${others.join(", ")}.`;
  return withChecks(report, [check("other_files", "unchecked", why)]);
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

function isUrl(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

function urlOf(target: string) {
  const url = parseVerifyUrl(target);
  if (url === null) throw new UsageError(`${target} is not a verify URL of a proof passport or of a closing passport`);
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

/**
 * Fetches the published pieces of one Closing Passport version: its manifest, and its certificate if it is stored.
 *
 * @throws UsageError when the URL is that of a proof passport, or there is no answer; EvidenceError for a refused
 * record
 */
async function roomPieces({ kind, base, code }: VerifyUrl, fetch: Fetch): Promise<ClosingPiece[]> {
  const url = `${base}/api/verify/room/${code}`;
  if (kind !== "room") throw new UsageError(`${url}: --with goes with the verify URLs of one room`);
  const answer = await fetchBounded(fetch, url, fetchLimits.jsonBytes);
  if (!answer.ok || answer.status !== 200)
    throw new UsageError(answer.ok ? `${url} answered ${answer.status}` : answer.why);
  const pdf = await fetchBounded(fetch, `${url}/pdf`, fetchLimits.fileBytes);
  return [
    roomRecordPiece({ path: url, bytes: answer.bytes }),
    ...(pdf.ok && pdf.status === 200 ? [{ path: `${url}/pdf`, certificate: pdf.bytes }] : []),
  ];
}
