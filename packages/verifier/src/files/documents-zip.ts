import { createHash } from "node:crypto";
import { parseEnvelope, readCustodyCertificate } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { readSealPurpose } from "@signsealship/evidence/seal";
import type { Context, NamedBytes } from "../context.ts";
import { isExplanation, proofsByPdf } from "./documents.ts";
import { type FileKind, kindOf } from "./kind.ts";
import { type Check, check, failure, type Report, withChecks, worstOf } from "./report.ts";
import { equalOnce, isClosingCertificate, verifyRoomDocuments } from "./room-documents.ts";
import { type Beside, verifySealedPdf } from "./sealed-pdf.ts";

type BesideOf = (pdf: NamedBytes) => Beside;

/**
 * Verifies the files of a zip of documents: each PDF with the proofs that are named after it, each custody certificate
 * with its document, and all documents by the closing certificate, if there is one.
 * @param where prefix of file names in the printed commands
 */
export async function verifyDocumentsZip(
  files: ReadonlyMap<string, Uint8Array>,
  where: string,
  context: Context,
): Promise<Report> {
  const all = [...files].map(([name, bytes]) => ({ path: `${where}${name}`, bytes }));
  const ofKind = (...kinds: FileKind[]) => all.filter(({ path, bytes }) => kinds.includes(kindOf(path, bytes)));
  const pdfs = equalOnce(ofKind("pdf"));
  if (pdfs.length === 0) return failure("evidence", "not_verified", "kind", "The zip has no PDF.");
  const [closing, documents]: [NamedBytes[], NamedBytes[]] = [[], []];
  for (const pdf of pdfs) ((await isClosingCertificate(pdf.bytes)) ? closing : documents).push(pdf);
  const proofs = proofsOf(pdfs, ofKind("log", "ots"));
  const besides = new Map<NamedBytes, Beside>();
  for (const pdf of pdfs) {
    const document = await documentOf(pdf, documents);
    besides.set(pdf, { ...proofs.get(pdf), ...(document && { document }) });
  }
  const besideOf = (pdf: NamedBytes) => besides.get(pdf) ?? {};
  const pieces = closing.map(({ path, bytes }) => ({ path, certificate: bytes }));
  const report =
    pieces.length > 0
      ? await verifyRoomDocuments(pieces, documents, context, besideOf)
      : await verifyEach(documents, context, besideOf);
  const used = new Set<NamedBytes | undefined>([...proofs.values()].flatMap(({ logProof, ots }) => [logProof, ots]));
  const rest = all.filter(
    (file) => kindOf(file.path, file.bytes) !== "pdf" && !used.has(file) && !isExplanation(file.path),
  );
  return withChecks(report, [...(await closingProofs(closing, context, besideOf)), ...otherFiles(rest)]);
}

/** The log proof and the OpenTimestamps proof of each PDF, by their names. */
function proofsOf(pdfs: readonly NamedBytes[], proofs: readonly NamedBytes[]) {
  const named = (file: NamedBytes) => ({ name: file.path, file });
  const found = proofsByPdf(pdfs.map(named), proofs.map(named));
  return new Map(
    [...found].map(([{ file: pdf }, own]) => {
      const first = (kind: FileKind) => own.find(({ file }) => kindOf(file.path, file.bytes) === kind)?.file;
      const [logProof, ots] = [first("log"), first("ots")];
      return [pdf, { ...(logProof && { logProof }), ...(ots && { ots }) }];
    }),
  );
}

/** The document that a custody certificate names; null for another PDF, and when the document is not there. */
async function documentOf({ bytes }: NamedBytes, documents: readonly NamedBytes[]): Promise<NamedBytes | null> {
  try {
    if ((await readSealPurpose(bytes))?.kind !== "custody") return null;
    const { envelope } = await readCustodyCertificate(bytes);
    if (envelope === null) return null;
    const { document } = parseEnvelope(envelope);
    const sha256 = (file: NamedBytes) =>
      createHash("sha256").update(file.bytes.subarray(0, document.bytes)).digest("hex");
    const isIt = (file: NamedBytes) => file.bytes.length >= document.bytes && sha256(file) === document.sealedSha256;
    return documents.find(isIt) ?? null;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/** Verifies documents that no closing certificate lists. One without a seal stays unchecked, because nobody names it. */
async function verifyEach(documents: readonly NamedBytes[], context: Context, besideOf: BesideOf): Promise<Report> {
  const checks: Check[] = [];
  const verdicts: Report["verdict"][] = [];
  for (const file of documents) {
    const report = await verifySealedPdf(file, besideOf(file), context);
    verdicts.push(report.verdict === "unsigned" ? "unchecked" : report.verdict);
    checks.push(...report.checks.map((one) => ({ ...one, target: file.path })));
  }
  return { verdict: worstOf(verdicts), kind: "evidence", checks, facts: { documents: String(documents.length) } };
}

/** The checks of closing certificates' proofs. The certificates themselves are judged as a set. */
async function closingProofs(closing: readonly NamedBytes[], context: Context, besideOf: BesideOf): Promise<Check[]> {
  const checks: Check[] = [];
  for (const file of closing) {
    const report = await verifySealedPdf(file, besideOf(file), context);
    const own = report.checks.filter(({ claim }) => /^(?:log_|ots\.|anchored_in_block$)/.test(claim));
    checks.push(...own.map((one) => ({ ...one, target: file.path })));
  }
  return checks;
}

function otherFiles(files: readonly NamedBytes[]): Check[] {
  if (files.length === 0) return [];
  return [check("other_files", "unchecked", `These were not judged: ${files.map(({ path }) => path).join(", ")}.`)];
}
