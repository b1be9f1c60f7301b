import { type Claim, claim } from "@signsealship/evidence/claim";
import { sha256Hex } from "@signsealship/evidence/digest";
import { EvidenceError } from "@signsealship/evidence/errors";
import { parseRoomRecord, type RoomRecord, serviceChainClaim } from "@signsealship/evidence/records";
import { type ClosingVerification, type ClosingVersion, verifyClosing } from "@signsealship/evidence/seal";
import { joinedVersions } from "./closing-versions.ts";
import type { VerifyConfig } from "./config.ts";
import type { NamedBytes } from "./files.ts";
import type { ClosingOutcome } from "./outcome.ts";
import { checkProofs, type ProvenCertificate } from "./proofs.ts";
import { sealFacts } from "./seal-facts.ts";
import { type CheckContext, trustClaim } from "./trust.ts";

/** A dropped manifest or certificate. `proofs`: the time stamps and proofs of the certificate. */
export type DroppedVersion = ClosingVersion & { name: string; proofs?: readonly NamedBytes[] };

/** Verifies certificates, manifests and records of one room together, and each certificate also by its proofs. */
export async function checkClosing(
  dropped: readonly DroppedVersion[],
  files: readonly NamedBytes[],
  context: CheckContext,
): Promise<ClosingOutcome> {
  const { config, trust, at, crypto } = context;
  const recorded = config.closing;
  const { records, claims } = readRoomRecords(files);
  const versions = joinedVersions(dropped, recorded?.versions ?? [], records);
  const room = recorded ? { roomCode: recorded.roomCode } : {};
  const verification = await verifyClosing({ versions, ...room, trust, at, crypto });
  const shown = shownVersion(verification);
  const purposes = verification.versions.flatMap(({ purpose }) => purpose ?? []);
  claims.push(...(await closingRecordClaim(dropped, config)));
  const proven = await provenCertificates(dropped, verification, context);
  claims.push(...proven.flatMap((one) => one.claims));
  const isShown = (one: ProvenCertificate) => one.verification.sealedSha256 === shown?.certificate?.sealedSha256;
  const seal = proven.find(isShown)?.verification ?? shown?.certificate;
  return {
    kind: "closing",
    names: [...dropped, ...files].map(({ name }) => name),
    verdict: claims.some(({ state }) => state === "fails") ? "not_verified" : verification.verdict,
    claims: [...claims, ...verification.claims, ...trustClaim(config)],
    roomName: shown?.manifest?.passport.roomName ?? null,
    version: shown?.version ?? null,
    seal: seal ? sealFacts(seal) : null,
    anchoring: proven.flatMap((one) => one.verification.anchoring),
    purpose: purposes.find(({ environment }) => environment === "test") ?? purposes[0] ?? null,
  };
}

/**
 * The version that the outcome describes: the newest one with a certificate, or the newest of all if none has one. The
 * page's record may list newer versions than the reader's files.
 */
function shownVersion({ versions }: ClosingVerification): ClosingVerification["versions"][number] | undefined {
  const sorted = versions.toSorted((a, b) => (a.version ?? 0) - (b.version ?? 0));
  return sorted.findLast(({ certificate }) => certificate !== null) ?? sorted.at(-1);
}

/** Verifies the proofs of each dropped certificate that has proofs. */
async function provenCertificates(
  dropped: readonly DroppedVersion[],
  { versions }: ClosingVerification,
  context: CheckContext,
): Promise<ProvenCertificate[]> {
  // Empty if the reader dropped more versions than the verifier accepts.
  if (versions.length === 0) return [];
  const proven: ProvenCertificate[] = [];
  for (const { certificate, proofs = [] } of dropped) {
    if (!certificate || proofs.length === 0) continue;
    const sha256 = await sha256Hex(certificate);
    const version = versions.find((one) => one.certificate?.sealedSha256 === sha256)?.version ?? null;
    proven.push(await checkProofs(certificate, proofs, version, context));
  }
  return proven;
}

/**
 * Compares closing certificates with the record on the page. On the page of a proof passport, the claim says that the
 * certificate is the file that was sealed for the passport. On the page of a signing, the claim always fails. A room's
 * own page has no such claim, because separate claims compare the certificates there.
 */
async function closingRecordClaim(
  dropped: readonly ClosingVersion[],
  { closing, proof, envelope }: VerifyConfig,
): Promise<Claim[]> {
  if (closing || !(proof || envelope)) return [];
  const hashes = await Promise.all(dropped.flatMap(({ certificate }) => (certificate ? [sha256Hex(certificate)] : [])));
  if (hashes.length === 0) return [];
  const isRecorded = proof !== null && !envelope && hashes.every((sha256) => sha256 === proof.docSha256);
  return [
    claim(
      "closing_of_this_record",
      isRecorded,
      "The closing certificate is the document on record, before it was sealed once more.",
      "The closing certificate is of a room, and not of the record on this page.",
    ),
  ];
}

/** Reads saved API responses of the service about versions of a room. */
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
