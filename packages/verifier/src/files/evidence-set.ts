import { createHash } from "node:crypto";
import { toHex } from "@signsealship/evidence/bytes";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  checkpointTokenNames,
  evidenceNames,
  otherPdfs,
  type ProofRecord,
  parseProofRecord,
  recordClaims,
} from "@signsealship/evidence/records";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Context, NamedBytes } from "../context.ts";
import { verifyOtsFile } from "./ots-file.ts";
import { type Check, check, checksOf, failure, type Kind, type Report, withChecks } from "./report.ts";
import { verifySealedPdf } from "./sealed-pdf.ts";
import { quoted } from "./shell.ts";
import { verifyTokenFile } from "./token-file.ts";

/**
 * Verifies the evidence of one proof passport. Certificates in the evidence are compared but not trusted, because
 * anyone could have added them. The record in the evidence can only lower the verdict.
 *
 * @param files by name, without folders
 * @param where prefix of file names in the printed commands
 * @param verifyCode the requested code, if any
 */
export async function verifyEvidenceSet(
  files: ReadonlyMap<string, Uint8Array>,
  where: string,
  context: Context,
  verifyCode?: string,
): Promise<Report> {
  const named = (name: string): NamedBytes | undefined => {
    const bytes = files.get(name);
    return bytes && { path: `${where}${name}`, bytes };
  };
  const recordFile = named(evidenceNames.record);
  const record = recordFile === undefined ? null : readRecord(recordFile.bytes);
  if (record instanceof EvidenceError) return unreadableRecord("evidence", record);
  const token = named(evidenceNames.token);
  const ots = named(evidenceNames.ots);
  const logProof = named(evidenceNames.logProof);
  const checkpointTokens = checkpointTokenNames.flatMap((name) => named(name) ?? []);
  const checkpointOts = named(evidenceNames.checkpointOts);
  const others = otherFiles(files);
  const inSet = named(evidenceNames.sealed);
  const sealed = inSet ?? context.doc;
  if (sealed === null) return withoutSealedPdf({ token, ots, record, others, verifyCode }, context);
  const report = await verifySealedPdf(
    sealed,
    {
      ...(token && { token }),
      ...(ots && { ots }),
      ...(logProof && { logProof }),
      ...(checkpointOts && { checkpointOts }),
      checkpointTokens,
    },
    inSet === undefined ? { ...context, doc: null } : context,
  );
  const certificates = named(evidenceNames.certificates);
  const more = [
    ...(record === null ? [] : recordChecks(record, report, sealed.path, verifyCode)),
    ...(certificates === undefined ? [] : [certificatesCheck(certificates, report)]),
    ...others,
  ];
  return asTest({ ...withChecks(report, more), kind: "evidence" }, record);
}

type Rest = {
  readonly token: NamedBytes | undefined;
  readonly ots: NamedBytes | undefined;
  readonly record: ProofRecord | null;
  readonly others: readonly Check[];
  readonly verifyCode: string | undefined;
};

async function withoutSealedPdf({ token, ots, record, others, verifyCode }: Rest, context: Context): Promise<Report> {
  const reports = [
    ...(ots ? [await verifyOtsFile(ots, record && { sha256: record.sealedSha256 }, context)] : []),
    ...(token ? [await verifyTokenFile(token, context)] : []),
  ];
  const why = "The sealed PDF is not among the evidence: give your own copy with --doc FILE.";
  const codes =
    record === null ? [] : recordClaims(record, {}, verifyCode).filter(({ state }) => state !== "unchecked");
  const checks = [
    check("sealed_pdf", "unchecked", why),
    ...reports.flatMap((one) => one.checks),
    ...checksOf(codes),
    ...others,
  ];
  return {
    verdict: checks.some(({ result }) => result === "fails") ? "not_verified" : "unchecked",
    kind: "evidence",
    checks,
    facts: { ...(record && { sealedSha256: record.sealedSha256 }) },
  };
}

function readRecord(bytes: Uint8Array): ProofRecord | EvidenceError {
  try {
    return parseProofRecord(bytes);
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

/**
 * Makes a failed report for an unreadable record. The record must not be ignored, because other software might be able
 * to read it.
 */
export function unreadableRecord(kind: Kind, { code, message }: EvidenceError): Report {
  return failure(kind, "not_verified", "record_readable", `The record cannot be read: ${message} (${code}).`);
}

/**
 * Makes the checks that compare the record with the file. A check contains a shell command if a command can repeat the
 * comparison.
 */
export function recordChecks(
  record: ProofRecord,
  { facts, checks }: Report,
  path: string,
  verifyCode?: string,
): Check[] {
  const shown = new Map([["record_sealed_hash", `sha256sum ${quoted(path)}`]]);
  const document = checks.find(({ claim }) => claim === "original_document_hash")?.command;
  if (document !== undefined) shown.set("record_document_hash", document);
  return checksOf(recordClaims(record, facts, verifyCode), shown);
}

/** If the record says that the proof passport is a test, the verdict `verified` becomes `verified_test`. */
export function asTest(report: Report, record: ProofRecord | null): Report {
  return record?.isTest && report.verdict === "verified" ? { ...report, verdict: "verified_test" } : report;
}

function certificatesCheck({ path, bytes }: NamedBytes, { facts }: Report): Check {
  const claim = "certificates_are_the_seals";
  const command = `openssl x509 -noout -subject -fingerprint -sha256 -in ${quoted(path)}`;
  try {
    const [leaf] = parseCertificatesPem(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    const sha256 = toHex(
      createHash("sha256")
        .update(leaf?.der ?? new Uint8Array(0))
        .digest(),
    );
    return sha256 === facts.certificateSha256
      ? check(claim, "holds", "The certificate file is that of the seal. Being here does not make it trusted.", command)
      : check(claim, "fails", "The certificate file is not that of the seal.", command);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return check(claim, "fails", `The certificate file cannot be read: ${error.message}.`);
  }
}

/**
 * Makes a check about the files that the evidence does not cover. It fails for any PDF other than `sealed.pdf`,
 * whatever its name: people could mistake that PDF for verified evidence.
 */
function otherFiles(files: ReadonlyMap<string, Uint8Array>): Check[] {
  const claim = "other_files";
  const pdfs = otherPdfs(files);
  if (pdfs.length > 0)
    return [check(claim, "fails", `This is not sealed.pdf, and opens as a PDF: ${pdfs.join(", ")}.`)];
  const covered: readonly string[] = [...Object.values(evidenceNames), ...checkpointTokenNames];
  const others = [...files.keys()].filter((name) => !covered.includes(name));
  if (others.length === 0) return [];
  return [check(claim, "unchecked", `This evidence does not cover: ${others.join(", ")}.`)];
}
