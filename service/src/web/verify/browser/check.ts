import { toHex } from "@signsealship/evidence/bytes";
import type { Claim } from "@signsealship/evidence/claim";
import { sha256Hex } from "@signsealship/evidence/digest";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  evidenceNames,
  otherPdfs,
  parseRoomRecord,
  type RoomRecord,
  serviceChainClaim,
} from "@signsealship/evidence/records";
import {
  type ClosingVersion,
  type ProofTrust,
  type ProofVerification,
  readTrust,
  type TrustList,
  verifyClosing,
  verifyProof,
} from "@signsealship/evidence/seal";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import { nameText } from "@signsealship/evidence/x509";
import { readZip } from "@signsealship/evidence/zip";
import { findingsBeside } from "./beside.ts";
import { isClosingCertificate, joinedVersions } from "./closing-versions.ts";
import type { ReadersTrust, VerifyConfig } from "./config.ts";
import { custodyClaims, isCustodyCertificate } from "./custody.ts";
import { kindOf, type NamedBytes } from "./files.ts";
import type { CertificateFacts, ClosingOutcome, FailedOutcome, Outcome, ProofOutcome } from "./outcome.ts";

export type CheckInput = {
  readonly files: readonly NamedBytes[];
  readonly config: VerifyConfig;
  readonly trust: ReadersTrust;
  /** The instant of the verification, epoch ms. */
  readonly at: number;
  readonly subtle: SubtleCrypto;
};

type Context = { config: VerifyConfig; trust: ProofTrust; at: number; crypto: ReturnType<typeof createWebCrypto> };

/** Judges what was dropped: every PDF on its own, closing certificates and manifests of one room together. */
export async function checkFiles({ files, config, trust, at, subtle }: CheckInput): Promise<Outcome[]> {
  const failures: FailedOutcome[] = [];
  const given = files.flatMap((file) => unpacked(file, failures));
  const proofTrust = trustFrom(config, trust, failures);
  const context = { config, trust: proofTrust, at, crypto: createWebCrypto(subtle) };
  const closing: (ClosingVersion & { name: string })[] = [];
  const pdfs: NamedBytes[] = [];
  const beside: NamedBytes[] = [];
  const ignored: NamedBytes[] = [];
  const records: NamedBytes[] = [];
  const isBesidePdf = given.filter((file) => kindOf(file) === "pdf").length === 1;
  for (const file of given) {
    const kind = kindOf(file);
    if (kind === "pdf") {
      // Known by its seal: one whose attachment cannot be read is still judged as a certificate.
      if (await isClosingCertificate(file.bytes)) closing.push({ name: file.name, certificate: file.bytes });
      else pdfs.push(file);
    } else if (kind === "json") closing.push({ name: file.name, manifest: file.bytes });
    else if (kind === "room_record") records.push(file);
    else if (kind === "certificates" && !isBesidePdf) ignored.push(file);
    else if (kind === "ots" || kind === "der" || kind === "record" || kind === "certificates") beside.push(file);
    else if (/\.(pem|txt|md|crt|cer)$/i.test(file.name)) ignored.push(file);
    else failures.push(failed(file, unreadable));
  }
  const outcomes: Outcome[] = [];
  if (closing.length + records.length > 0) outcomes.push(await checkClosing(closing, records, context));
  failures.push(...(pdfs.length === 1 ? withoutSeconds(beside) : []));
  const custody = new Set<NamedBytes>();
  for (const pdf of pdfs) if (await isCustodyCertificate(pdf)) custody.add(pdf);
  const documents = pdfs.filter((pdf) => !custody.has(pdf));
  for (const pdf of pdfs) {
    const outcome = await checkPdf(
      pdf,
      pdfs.length === 1 ? beside : [],
      custody.has(pdf) ? ofNoRecord(context) : context,
    );
    outcomes.push(custody.has(pdf) ? withClaims(outcome, await custodyClaims(pdf, documents, context)) : outcome);
  }
  if (pdfs.length !== 1)
    for (const file of beside) failures.push(failed(file, "Drop it together with the one PDF that it belongs to."));
  // Beside a document they explain it; alone there is nothing to say about them.
  if (outcomes.length === 0) failures.push(...ignored.map((file) => failed(file, unreadable)));
  return [...outcomes, ...failures];
}

/** Leaves one time stamp and one proof, those of the evidence's names before others. @returns the others, as not checked */
function withoutSeconds(beside: NamedBytes[]): FailedOutcome[] {
  const rank = ({ name }: NamedBytes) => (name === evidenceNames.token || name === evidenceNames.ots ? 0 : 1);
  beside.sort((a, b) => rank(a) - rank(b));
  const seconds = (["der", "ots"] as const).flatMap((kind) => beside.filter((one) => kindOf(one) === kind).slice(1));
  for (const file of seconds) beside.splice(beside.indexOf(file), 1);
  return seconds.map((file) =>
    failed(file, "Another file of this kind was checked. Drop this one with the PDF alone."),
  );
}

const unreadable = "We can’t check this kind of file. Drop a PDF, or evidence that belongs to one.";

function unpacked(file: NamedBytes, failures: FailedOutcome[]): readonly NamedBytes[] {
  if (kindOf(file) !== "zip") return [file];
  try {
    const files = readZip(file.bytes);
    const isEvidence = files.has(evidenceNames.sealed) || files.has(evidenceNames.record);
    const pdfs = isEvidence ? otherPdfs(files) : [];
    if (pdfs.length === 0) return [...files].map(([name, bytes]) => ({ name, bytes }));
    failures.push(failed(file, `It holds a PDF that is not its sealed.pdf: ${pdfs.join(", ")}. Do not rely on it.`));
    return [];
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    failures.push(failed(file, `${sentence(error.message)} Unpack it, and drop the files inside.`));
    return [];
  }
}

function trustFrom(config: VerifyConfig, given: ReadersTrust, failures: FailedOutcome[]): ProofTrust {
  const read = (name: string, text: string): TrustList => {
    if (text.trim() === "") return nobody;
    try {
      return readTrust(text);
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      failures.push({ kind: "failed", name, why: `${sentence(error.message)} It was ignored.` });
      return nobody;
    }
  };
  const lists = [
    read("The service's certificates", config.sealCertificates),
    read("Your seal certificate", given.seal),
  ];
  const stampers = read("Your time-stamping certificate", given.timeStamping).sealAnchors;
  return {
    sealAnchors: lists.flatMap(({ sealAnchors }) => sealAnchors),
    retired: lists.flatMap(({ retired }) => retired),
    tsaAnchors: [...lists.flatMap(({ tsaAnchors }) => tsaAnchors), ...stampers],
  };
}

const nobody: TrustList = { sealAnchors: [], retired: [], tsaAnchors: [] };

async function checkClosing(
  given: readonly (ClosingVersion & { name: string })[],
  files: readonly NamedBytes[],
  { config, trust, at, crypto }: Context,
): Promise<ClosingOutcome> {
  const recorded = config.closing;
  const { records, claims } = readRoomRecords(files);
  const versions = joinedVersions(given, recorded?.versions ?? [], records);
  const room = recorded ? { roomCode: recorded.roomCode } : {};
  const verification = await verifyClosing({ versions, ...room, trust, at, crypto });
  const newest = verification.versions.toReversed().find(({ manifest }) => manifest !== null);
  const purposes = verification.versions.flatMap(({ purpose }) => purpose ?? []);
  return {
    kind: "closing",
    names: [...given, ...files].map(({ name }) => name),
    verdict: claims.some(({ state }) => state === "fails") ? "not_verified" : verification.verdict,
    claims: [...claims, ...verification.claims, ...trustClaim(config)],
    roomName: newest?.manifest?.passport.roomName ?? null,
    purpose: purposes.find(({ environment }) => environment === "test") ?? purposes[0] ?? null,
  };
}

/** A service's answers about versions of a room, as somebody saved them. */
function readRoomRecords(files: readonly NamedBytes[]): { records: RoomRecord[]; claims: Claim[] } {
  const records: RoomRecord[] = [];
  const claims: Claim[] = [];
  for (const { bytes } of files) {
    try {
      const record = parseRoomRecord(bytes);
      records.push(record);
      claims.push(serviceChainClaim(record));
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      claims.push({ name: "record_readable", state: "fails", why: `The record cannot be read: ${error.message}.` });
    }
  }
  return { records, claims };
}

async function checkPdf(file: NamedBytes, beside: readonly NamedBytes[], context: Context): Promise<ProofOutcome> {
  const { config, trust, at, crypto } = context;
  const token = beside.find((one) => kindOf(one) === "der");
  const proof = beside.find((one) => kindOf(one) === "ots");
  const recorded = config.proof;
  if (recorded && (await sha256Hex(file.bytes)) === recorded.docSha256) return handedIn(file.name, recorded);
  const verification = await verifyProof(file.bytes, trust, at, {
    crypto,
    beside: {
      ...recorded,
      ...(token && { timeStampToken: token.bytes }),
      ...(proof && { otsProof: proof.bytes }),
    },
  });
  const found = await findingsBeside(beside, verification);
  const purpose = verification.seal?.purpose ?? null;
  const isSeal = verification.verdict === "verified" || verification.verdict === "intact";
  return {
    kind: "proof",
    name: file.name,
    verdict: found.fails && isSeal ? "not_verified" : verification.verdict,
    claims: [...verification.claims, ...found.claims, ...trustClaim(config)],
    statement: verification.statement,
    fileSha256: verification.sealedSha256,
    docSha256: verification.docSha256,
    purpose: found.isTest && purpose ? { ...purpose, environment: "test" } : purpose,
    certificate: await certificateFacts(verification),
    provenTime: verification.seal?.provenTime ?? null,
    earlier: verification.earlierSignatures.map(({ claims }) => claims),
    anchoring: verification.anchoring,
  };
}

/** A page's record is of the document that was signed, and not of its custody certificate. */
const ofNoRecord = (context: Context): Context => ({ ...context, config: { ...context.config, proof: null } });

const withClaims = (outcome: ProofOutcome, claims: readonly Claim[]): ProofOutcome => ({
  ...outcome,
  verdict: claims.some(({ state }) => state === "fails") ? "not_verified" : outcome.verdict,
  claims: [...outcome.claims, ...claims],
});

/** Nobody should take for proof what rests on certificates that came with the page. */
function trustClaim({ sealCertificates }: VerifyConfig): Claim[] {
  if (sealCertificates.trim() === "") return [];
  const why = "The certificates of the service that made this page are trusted.";
  return [{ name: "seal_certificate_source", state: "holds", why }];
}

function handedIn(name: string, { docSha256 }: NonNullable<VerifyConfig["proof"]>): ProofOutcome {
  const why = `Its SHA-256 is ${docSha256}, which is on record for the document that was submitted.`;
  return {
    kind: "proof",
    name,
    verdict: "handed_in",
    claims: [{ name: "document_hash_as_expected", state: "holds", why }],
    statement: {
      proven: ["This file is, byte for byte, the document whose hash is on record."],
      attested: ["That it was submitted, and when, as this service recorded it."],
      notCovered: ["The seal itself, which is in the sealed copy, not in this file."],
    },
    fileSha256: docSha256,
    docSha256: null,
    purpose: null,
    certificate: null,
    provenTime: null,
    earlier: [],
    anchoring: [],
  };
}

async function certificateFacts({ seal }: ProofVerification): Promise<CertificateFacts | null> {
  const certificate = seal?.pades.certificate;
  if (!certificate) return null;
  const { subject, notBefore, notAfter, der } = certificate;
  return { subject: subjectText(subject), notBefore, notAfter, sha256: await sha256Hex(der) };
}

function subjectText(subject: Uint8Array): string {
  try {
    return nameText(subject);
  } catch (error) {
    if (error instanceof EvidenceError) return toHex(subject);
    throw error;
  }
}

const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

const failed = ({ name }: NamedBytes, why: string): FailedOutcome => ({ kind: "failed", name, why });
