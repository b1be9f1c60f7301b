import { createHash } from "node:crypto";
import { type EnvelopeEvidence, parseEnvelope, readCustodyCertificate } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { readSealPurpose } from "@signsealship/evidence/seal";
import type { Context, NamedBytes } from "../context.ts";
import { isExplanation, proofsByPdf } from "./documents.ts";
import { type FileKind, kindOf } from "./kind.ts";
import { type Check, check, failure, type Report, withChecks, worstOf } from "./report.ts";
import { equalOnce, isClosingCertificate, verifyRoomDocuments } from "./room-documents.ts";
import { type Companions, verifySealedPdf } from "./sealed-pdf.ts";

type CompanionsOf = (pdf: NamedBytes) => Companions;

/**
 * Verifies the files of a zip of documents: each PDF with the proofs named after it, and each custody certificate with
 * its document. If there is a closing certificate, verifies all documents against it.
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
  const companions = new Map<NamedBytes, Companions>();
  const certified = await certifiedDocuments(pdfs, documents);
  for (const pdf of pdfs) {
    const document = certified.get(pdf);
    companions.set(pdf, { ...proofs.get(pdf), ...(document && { document }) });
  }
  const companionsOf = (pdf: NamedBytes) => companions.get(pdf) ?? {};
  const pieces = closing.map(({ path, bytes }) => ({ path, certificate: bytes }));
  const report =
    pieces.length > 0
      ? await verifyRoomDocuments(pieces, documents, context, companionsOf)
      : await verifyEach(documents, context, companionsOf);
  const used = new Set<NamedBytes | undefined>([...proofs.values()].flatMap(({ logProof, ots }) => [logProof, ots]));
  const rest = all.filter(
    (file) => kindOf(file.path, file.bytes) !== "pdf" && !used.has(file) && !isExplanation(file.path),
  );
  return withChecks(report, [...(await closingProofs(closing, context, companionsOf)), ...otherFiles(rest)]);
}

/** Finds the log proof and the OpenTimestamps proof of each PDF, by file name. */
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

type Named = Pick<EnvelopeEvidence["document"], "bytes" | "sealedSha256">;

/** Finds the document that each custody certificate is about, if the zip contains it. */
async function certifiedDocuments(pdfs: readonly NamedBytes[], documents: readonly NamedBytes[]) {
  const named = new Map<NamedBytes, Named>();
  for (const pdf of pdfs) {
    const document = await documentNamedIn(pdf);
    if (document) named.set(pdf, document);
  }
  const keyOf = ({ bytes, sealedSha256 }: Named) => `${bytes} ${sealedSha256}`;
  const lengths = new Set([...named.values()].map(({ bytes }) => bytes));
  const found = new Map<string, NamedBytes>();
  // A notarized document begins with the bytes of the signed document. Sorting puts the signed document, which is
  // shorter, first.
  for (const file of documents.toSorted((a, b) => a.bytes.length - b.bytes.length))
    for (const one of beginningsOf(file.bytes, lengths)) if (!found.has(keyOf(one))) found.set(keyOf(one), file);
  return new Map([...named].map(([pdf, document]) => [pdf, found.get(keyOf(document))]));
}

/**
 * Hashes the first bytes of a file, for each of the lengths. Each byte is hashed once, however many certificates state
 * a length.
 */
function beginningsOf(file: Uint8Array, lengths: ReadonlySet<number>): Named[] {
  const hash = createHash("sha256");
  let hashed = 0;
  const within = [...lengths].filter((bytes) => bytes <= file.length);
  return within
    .sort((a, b) => a - b)
    .map((bytes) => {
      hash.update(file.subarray(hashed, bytes));
      hashed = bytes;
      return { bytes, sealedSha256: hash.copy().digest("hex") };
    });
}

/** Reads the hash and length of the document that a custody certificate is about; null for another PDF. */
async function documentNamedIn({ bytes }: NamedBytes): Promise<Named | null> {
  try {
    if ((await readSealPurpose(bytes))?.kind !== "custody") return null;
    const { envelope } = await readCustodyCertificate(bytes);
    return envelope && parseEnvelope(envelope).document;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/**
 * Verifies documents that no closing certificate lists. A document without a seal stays unchecked, because no
 * certificate or seal confirms it.
 */
async function verifyEach(
  documents: readonly NamedBytes[],
  context: Context,
  companionsOf: CompanionsOf,
): Promise<Report> {
  const checks: Check[] = [];
  const verdicts: Report["verdict"][] = [];
  for (const file of documents) {
    const report = await verifySealedPdf(file, companionsOf(file), context);
    verdicts.push(report.verdict === "unsigned" ? "unchecked" : report.verdict);
    checks.push(...report.checks.map((one) => ({ ...one, target: file.path })));
  }
  return { verdict: worstOf(verdicts), kind: "evidence", checks, facts: { documents: String(documents.length) } };
}

/**
 * Verifies the log proofs and OpenTimestamps proofs of closing certificates. The certificates themselves are verified
 * as a set.
 */
async function closingProofs(
  closing: readonly NamedBytes[],
  context: Context,
  companionsOf: CompanionsOf,
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const file of closing) {
    const report = await verifySealedPdf(file, companionsOf(file), context);
    const own = report.checks.filter(({ claim }) => /^(?:log_|ots\.|anchored_in_block$)/.test(claim));
    checks.push(...own.map((one) => ({ ...one, target: file.path })));
  }
  return checks;
}

function otherFiles(files: readonly NamedBytes[]): Check[] {
  if (files.length === 0) return [];
  return [check("other_files", "unchecked", `These were not judged: ${files.map(({ path }) => path).join(", ")}.`)];
}
