import { createHash } from "node:crypto";
import { toHex } from "@signsealship/evidence/bytes";
import { isSha256Hex } from "@signsealship/evidence/digest";
import { EvidenceError } from "@signsealship/evidence/errors";
import { evidenceNames, otherPdfs } from "@signsealship/evidence/records";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Context, NamedBytes } from "../context.ts";
import { verifyOtsFile } from "./ots-file.ts";
import { type Check, check, type Report, withChecks, worstOf } from "./report.ts";
import { verifySealedPdf } from "./sealed-pdf.ts";
import { quoted } from "./shell.ts";
import { verifyTokenFile } from "./token-file.ts";

/** What a service's record states of a passport; only what is there. */
export type PassportRecord = {
  readonly sealedSha256?: string;
  readonly docSha256?: string;
  readonly environment?: string;
  readonly verdict?: string;
};

const MAX_RECORD = 1024 * 1024;

/**
 * Verifies the evidence of one proof passport. The certificates in it are compared and never trusted for being there;
 * its record can only lower the verdict.
 *
 * @param files by name, without folders
 * @param where put before a name in the commands shown
 */
export async function verifyEvidenceSet(
  files: ReadonlyMap<string, Uint8Array>,
  where: string,
  context: Context,
): Promise<Report> {
  const named = (name: string): NamedBytes | undefined => {
    const bytes = files.get(name);
    return bytes && { path: `${where}${name}`, bytes };
  };
  const recordFile = named(evidenceNames.record);
  const record = recordFile === undefined ? {} : readRecord(recordFile.bytes);
  const token = named(evidenceNames.token);
  const ots = named(evidenceNames.ots);
  const others = otherFiles(files);
  if (record === null) {
    const checks = [check("record_readable", "fails", `${evidenceNames.record} cannot be read.`)];
    return { verdict: "not_verified", kind: "evidence", checks, facts: {} };
  }
  const inSet = named(evidenceNames.sealed);
  const sealed = inSet ?? context.doc;
  if (sealed === null) return withoutSealedPdf({ token, ots, record, others }, context);
  const report = await verifySealedPdf(
    sealed,
    { ...(token && { token }), ...(ots && { ots }) },
    inSet === undefined ? { ...context, doc: null } : context,
  );
  const certificates = named(evidenceNames.certificates);
  const more = [
    ...recordChecks(record, report, sealed.path),
    ...(certificates === undefined ? [] : [certificatesCheck(certificates, report)]),
    ...others,
  ];
  return asTest({ ...withChecks(report, more), kind: "evidence" }, record);
}

async function withoutSealedPdf(
  {
    token,
    ots,
    record,
    others,
  }: { token?: NamedBytes | undefined; ots?: NamedBytes | undefined; record: PassportRecord; others: Check[] },
  context: Context,
): Promise<Report> {
  const { sealedSha256: sha256 } = record;
  const reports = [
    ...(ots ? [await verifyOtsFile(ots, sha256 === undefined ? null : { sha256 }, context)] : []),
    ...(token ? [await verifyTokenFile(token, context)] : []),
  ];
  const why = "The sealed PDF is not among the evidence: give your own copy with --doc FILE.";
  const checks = [check("sealed_pdf", "unchecked", why), ...reports.flatMap((one) => one.checks), ...others];
  const failed = worstOf(reports.map(({ verdict }) => verdict)) === "not_verified" && reports.length > 0;
  return {
    verdict: failed ? "not_verified" : "unchecked",
    kind: "evidence",
    checks,
    facts: { ...(sha256 !== undefined && { sealedSha256: sha256 }) },
  };
}

/** Reads a record; null when it is no JSON object with members of the right shapes. */
function readRecord(bytes: Uint8Array): PassportRecord | null {
  if (bytes.length > MAX_RECORD) return null;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  return typeof value === "object" && value !== null ? recordOf(value) : null;
}

/** The members of a record that are looked at; null when one of them has the wrong shape. */
export function recordOf(value: object): PassportRecord | null {
  const { sealedSha256, docSha256, environment, verdict } = value as Record<string, unknown>;
  const isText = (text: unknown): text is string | undefined => text === undefined || typeof text === "string";
  const isHash = (text: unknown): text is string | undefined => text === undefined || isSha256Hex(text);
  if (!isHash(sealedSha256) || !isHash(docSha256) || !isText(environment) || !isText(verdict)) return null;
  return {
    ...(sealedSha256 !== undefined && { sealedSha256 }),
    ...(docSha256 !== undefined && { docSha256 }),
    ...(environment !== undefined && { environment }),
    ...(verdict !== undefined && { verdict }),
  };
}

/** Compares the record's hashes with those of the file. */
export function recordChecks(record: PassportRecord, { facts }: Report, path: string): Check[] {
  const checks: Check[] = [];
  const compare = (
    claim: string,
    what: string,
    stated: string | undefined,
    actual: string | undefined,
    shown: string,
  ) => {
    if (stated === undefined) return;
    if (actual === undefined)
      checks.push(check(claim, "unchecked", `The ${what}'s hash cannot be computed from the file.`));
    else if (stated === actual)
      checks.push(check(claim, "holds", `The record names the ${what}'s SHA-256 ${stated}.`, shown));
    else checks.push(check(claim, "fails", `The record names ${stated}; the ${what} hashes to ${actual}.`, shown));
  };
  const whole = `sha256sum ${quoted(path)}`;
  compare("record_sealed_hash", "sealed file", record.sealedSha256, facts.sealedSha256, whole);
  compare("record_document_hash", "document", record.docSha256, facts.docSha256, whole);
  return checks;
}

/** A record that speaks of a test makes `verified` into `verified_test`. */
export function asTest(report: Report, { environment, verdict }: PassportRecord): Report {
  const test = environment === "test" || verdict === "verified_test";
  return test && report.verdict === "verified" ? { ...report, verdict: "verified_test" } : report;
}

function certificatesCheck({ path, bytes }: NamedBytes, { facts }: Report): Check {
  const claim = "certificates_are_the_seals";
  const command = `openssl x509 -noout -subject -fingerprint -sha256 -in ${quoted(path)}`;
  try {
    const [leaf] = parseCertificatesPem(new TextDecoder().decode(bytes));
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

/** Another PDF among verified evidence would pass for a part of it, under a name that the format knows or under another. */
function otherFiles(files: ReadonlyMap<string, Uint8Array>): Check[] {
  const claim = "other_files";
  const pdfs = otherPdfs(files);
  if (pdfs.length > 0)
    return [check(claim, "fails", `This is not sealed.pdf, and opens as a PDF: ${pdfs.join(", ")}.`)];
  const known: readonly string[] = Object.values(evidenceNames);
  const others = [...files.keys()].filter((name) => !known.includes(name));
  if (others.length === 0) return [];
  return [check(claim, "unchecked", `This evidence does not cover: ${others.join(", ")}.`)];
}
