import { createHash } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type Manifest, parseManifest } from "@signsealship/evidence/manifest";
import { readClosingCertificate, readSealPurpose } from "@signsealship/evidence/seal";
import type { Context, NamedBytes } from "../context.ts";
import { type ClosingPiece, manifestIn, verifyClosingSet } from "./closing-set.ts";
import { type Check, type Report, type Verdict, worstOf } from "./report.ts";
import { type Companions, verifySealedPdf } from "./sealed-pdf.ts";

/**
 * True if a PDF is sealed as a closing certificate, or has an attached manifest. A PDF with a manifest but without such
 * a seal is verified as a certificate too, and fails.
 */
export async function isClosingCertificate(bytes: Uint8Array): Promise<boolean> {
  try {
    return (await readSealPurpose(bytes))?.kind === "closing" || readClosingCertificate(bytes).manifest !== null;
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

/**
 * Verifies documents together with the closing certificates, manifests and records of a room. Reports which document of
 * the closing each file is, but only if the closing's verdict is `verified`, `verified_test` or `intact`.
 * @param companionsOf the files that accompany a document
 */
export async function verifyRoomDocuments(
  pieces: readonly ClosingPiece[],
  documents: readonly NamedBytes[],
  context: Context,
  companionsOf: (document: NamedBytes) => Companions = () => ({}),
): Promise<Report> {
  const closing = await verifyClosingSet(pieces, context);
  const isGood = closing.verdict === "verified" || closing.verdict === "verified_test" || closing.verdict === "intact";
  const manifests = isGood ? pieces.flatMap((piece) => readManifest(piece) ?? []) : [];
  const sorted = manifests.toSorted((a, b) => a.passport.version - b.passport.version);
  const unnamed = isGood
    ? "The closing certificate that was given does not name this file."
    : "No closing certificate passed, so nothing says whether this file is a document of the closing.";
  const room = { manifests: sorted, unnamed };
  const judged: { path: string; report: Report }[] = [];
  for (const file of equalOnce(documents))
    judged.push({ path: file.path, report: await verifySealedPdf(file, { ...companionsOf(file), room }, context) });
  const checks: Check[] = judged.flatMap(({ path, report }) =>
    report.checks.map((check) => ({ ...check, target: path })),
  );
  const facts = judged.length === 1 ? judged[0]?.report.facts : {};
  return {
    verdict: togetherOf(closing.verdict, judged),
    kind: "closing_set",
    checks: [...closing.checks, ...checks],
    facts: { ...closing.facts, ...facts },
    isOfAnotherFile:
      judged.length > 0 &&
      isGood &&
      closing.verdict !== "intact" &&
      judged.every(({ report }) => isGenuineStranger(report)),
  };
}

const stateOf = ({ checks }: Report) => checks.find(({ claim }) => claim === "document_of_this_room")?.result;

const isGenuineStranger = (report: Report): boolean =>
  (report.verdict === "verified" || report.verdict === "verified_test") && stateOf(report) === "unchecked";

/**
 * The verdict on the closing and all of its files together. A document that no manifest lists never counts as verified.
 * This does not apply to kinds that manifests never list (`mayBeListed`), such as custody certificates.
 * A listed file without a seal gets the verdict on the closing, because the certificate contains the file's hash.
 */
function togetherOf(closing: Verdict, judged: readonly { report: Report }[]): Verdict {
  const verdicts = judged.map(({ report }): Verdict => {
    if (report.verdict === "unsigned") return stateOf(report) === "holds" ? closing : "unchecked";
    return report.verdict !== "not_verified" && stateOf(report) === "unchecked" ? "unchecked" : report.verdict;
  });
  // A closing without any certificate proves nothing. That is not a fault, so its verdict becomes `unchecked`.
  return worstOf([closing === "unsigned" ? "unchecked" : closing, ...verdicts]);
}

function readManifest(piece: ClosingPiece): Manifest | null {
  try {
    const bytes = manifestIn(piece);
    return bytes === null ? null : parseManifest(bytes);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/** Merges files with equal bytes into one file with all their names, so that it is verified once. */
export function equalOnce<File extends NamedBytes>(files: readonly File[]): File[] {
  const byHash = new Map<string, File>();
  for (const file of files) {
    const key = createHash("sha256").update(file.bytes).digest("hex");
    const before = byHash.get(key);
    byHash.set(key, before ? { ...before, path: `${before.path} = ${file.path}` } : file);
  }
  return [...byHash.values()];
}
