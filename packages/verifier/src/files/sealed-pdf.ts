import { createHash } from "node:crypto";
import { toHex } from "@signsealship/evidence/bytes";
import { verifySigningComplete } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { parseTimeStampToken } from "@signsealship/evidence/rfc3161";
import type { SealPurpose } from "@signsealship/evidence/seal";
import {
  type ClosingVersion,
  mayBeListed,
  type ProofVerification,
  type RoomManifests,
  readClosingCertificate,
  roomDocumentClaim,
  verifyAttachedRecord,
  verifyClosing,
  verifyProof,
} from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";
import type { Context, NamedBytes } from "../context.ts";
import { closingCommands } from "./closing-commands.ts";
import { asCustody } from "./custody.ts";
import { type Check, check, checksOf, type Report, type Verdict, withChecks, worstOf } from "./report.ts";
import { type SealFacts, sealCommands } from "./seal-commands.ts";
import { type SealParts, sealPartsOf } from "./seal-parts.ts";
import { quoted } from "./shell.ts";

/** Files given together with a sealed PDF. */
export type Companions = {
  readonly token?: NamedBytes;
  readonly ots?: NamedBytes;
  readonly logProof?: NamedBytes;
  /** Time stamps over the checkpoint of the log proof, and an `.ots` proof of its root. */
  readonly checkpointTokens?: readonly NamedBytes[];
  readonly checkpointOts?: NamedBytes;
  /** For a closing certificate: the facts that a record states about it. */
  readonly closing?: ClosingVersion;
  /** For a custody certificate, or the certificate of a proof passport: the sealed document that it describes. */
  readonly document?: NamedBytes;
  /** For a document: manifests of a room that may list it. */
  readonly room?: RoomManifests;
};

/** Verifies a sealed PDF, or a closing certificate with its manifest, and the files that accompany it. */
export async function verifySealedPdf(file: NamedBytes, companions: Companions, context: Context): Promise<Report> {
  const proof = await verifyProof(file.bytes, context.trust, context.at, {
    crypto: context.crypto,
    detached: {
      ...(context.doc !== null && { docSha256: createHash("sha256").update(context.doc.bytes).digest("hex") }),
      ...(companions.token !== undefined && { timeStampToken: companions.token.bytes }),
      ...(companions.ots !== undefined && { otsProof: companions.ots.bytes }),
      ...(companions.logProof !== undefined && { logProof: companions.logProof.bytes }),
      checkpoint: {
        tokens: (companions.checkpointTokens ?? []).map(({ bytes }) => bytes),
        ...(companions.checkpointOts && { ots: companions.checkpointOts.bytes }),
      },
    },
  });
  // Archival time stamps may follow the sealed file. They are left out here.
  const sealed = file.bytes.subarray(0, proof.sealedBytes);
  const parts = await sealPartsOf(sealed);
  const signing = await verifySigningComplete(sealed, proof, context);
  const facts = {
    ...(companions.ots !== undefined && { ots: companions.ots.path }),
    ...(companions.token !== undefined && { token: tokenFacts(companions.token, proof) }),
    instant: proof.seal?.provenTime ?? context.at,
    genTime: proof.seal?.pades.timeStamps[0]?.genTime ?? null,
  };
  const report: Report = {
    verdict: withEnvironment(proof.verdict, parts?.purpose ?? null),
    kind: "sealed_pdf",
    checks: [
      ...checksOf(proof.claims, commandsFor(file, proof, parts, facts, context)),
      ...environmentCheck(parts?.purpose ?? null),
      ...proof.anchoring.map(({ name, state, why }) => check(name, state, why)),
      ...earlierChecks(proof),
      ...checksOf(signing ? [signing] : []),
    ],
    facts: { ...factsOf(proof, parts), ...(signing?.state === "fails" && { signing: "not completed in this file" }) },
    statement: proof.statement,
  };
  const { closing } = companions;
  if (parts?.purpose?.kind === "closing" || closing !== undefined) return asClosing(file, report, closing, context);
  if (parts?.purpose?.kind === "receipt" || parts?.purpose?.kind === "certificate")
    return withAttachedRecord(file, report, parts.purpose, companions.document ?? null, context);
  if (parts?.purpose?.kind === "custody" || companions.document !== undefined)
    return asCustody(file, report, companions.document ?? null, context);
  const { room } = companions;
  const listed =
    room !== undefined && mayBeListed(parts?.purpose)
      ? checksOf(
          [await roomDocumentClaim(file.bytes, proof, room)],
          new Map([["document_of_this_room", `sha256sum ${quoted(file.path)}`]]),
        )
      : [];
  return withChecks(report, [...strayManifest(file.bytes, parts), ...listed]);
}

/**
 * The commands for a sealed file. If archival time stamps follow it, the first command extracts the sealed file as
 * `sealed.pdf`, and the other commands use that file.
 */
function commandsFor(
  { path, bytes }: NamedBytes,
  { sealedBytes }: ProofVerification,
  ...rest: [SealParts | null, SealFacts, Context]
): ReadonlyMap<string, string> {
  if (sealedBytes === bytes.length) return sealCommands(path, ...rest);
  const cut = `head -c ${sealedBytes} ${quoted(path)} > sealed.pdf`;
  const commands = new Map(sealCommands("sealed.pdf", ...rest));
  commands.set("pdf_readable", `${cut}\n${commands.get("pdf_readable")}`);
  return commands.set("archival_time_stamp", `pdfsig ${quoted(path)}`);
}

/** The facts about a detached token. `overFile`: it covers the whole file and not only the signature value. */
function tokenFacts({ path, bytes }: NamedBytes, { sealedSha256, separateTimeStamp }: ProofVerification) {
  const imprint = imprintOf(bytes);
  return { path, overFile: imprint === sealedSha256, genTime: separateTimeStamp?.genTime ?? null };
}

function imprintOf(token: Uint8Array): string | null {
  try {
    const { tstInfo } = parseTimeStampToken(token);
    return tstInfo === null ? null : toHex(tstInfo.hashedMessage);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/**
 * Checks about the signatures that are older than the seal. They affect the verdict only through the claim
 * `certification_respected`.
 */
function earlierChecks({ earlierSignatures }: ProofVerification): Check[] {
  return earlierSignatures.flatMap(({ claims }, index) =>
    claims.map(({ name, state, why }) => check(`earlier.${index + 1}.${name}`, state, why)),
  );
}

/** Turns `verified` into `verified_test` if the seal states that it is a test. */
function withEnvironment(verdict: ProofVerification["verdict"], purpose: SealPurpose | null): Verdict {
  return verdict === "verified" && purpose?.environment === "test" ? "verified_test" : verdict;
}

function environmentCheck(purpose: SealPurpose | null): Check[] {
  if (purpose?.environment !== "test") return [];
  return [check("seal_environment", "unchecked", "The seal says that it was made in a test environment.")];
}

async function asClosing(
  file: NamedBytes,
  report: Report,
  stated: ClosingVersion | undefined,
  { trust, at, crypto }: Context,
): Promise<Report> {
  const version = { ...stated, certificate: file.bytes };
  const closing = await verifyClosing({ versions: [version], trust, at, crypto });
  const [result] = closing.versions;
  const passport = result?.manifest?.passport;
  // Omits the claims about the seal, because the report already has them.
  const claims = closing.claims.filter(({ name }) => !/^certificate\..*\.(seal|trusted)$/.test(name));
  const failed = report.verdict === "not_verified" || closing.verdict === "not_verified";
  return {
    ...report,
    verdict: failed ? "not_verified" : report.verdict,
    kind: "closing_certificate",
    checks: [...report.checks, ...checksOf(claims, closingCommands(claims, { certificate: file.path }))],
    facts: {
      ...report.facts,
      ...(passport && { room: passport.roomCode, version: String(passport.version), at: passport.generatedAtUtc }),
      ...(result?.manifestSha256 && { manifestSha256: result.manifestSha256 }),
    },
    ...(passport && { closing: { roomCode: passport.roomCode, version: passport.version } }),
  };
}

/**
 * Verifies a receipt, or a proof passport's certificate. The verdict covers the attachment, the seal and the given
 * document.
 */
async function withAttachedRecord(
  file: NamedBytes,
  report: Report,
  purpose: SealPurpose,
  document: NamedBytes | null,
  context: Context,
): Promise<Report> {
  const attached = await verifyAttachedRecord(file.bytes, purpose, document?.bytes ?? null, context);
  const whole = withChecks(report, checksOf(attached.claims, attachedCommands(file.path, document?.path ?? null)));
  if (attached.document === null || whole.verdict === "not_verified") return whole;
  const ofDocument = withEnvironment(attached.document.verdict, attached.document.seal?.purpose ?? null);
  return { ...whole, verdict: worstOf([whole.verdict, ofDocument]) };
}

function attachedCommands(path: string, document: string | null): ReadonlyMap<string, string> {
  const events = `pdfdetach -saveall ${quoted(path)}\nsha256sum event-*[0-9].json\njq -r '.events[].sha256' receipt.json`;
  const commands = new Map([
    ["record_attached", `pdfdetach -list ${quoted(path)}`],
    ["receipt_events", events],
  ]);
  return document === null ? commands : commands.set("record_sealed_hash", `sha256sum ${quoted(document)}`);
}

/**
 * Makes an `unchecked` check for a sealed document that contains a manifest. Anyone can get a document sealed, so such
 * a document must not be accepted as a certificate.
 */
function strayManifest(bytes: Uint8Array, parts: SealParts | null): Check[] {
  if (parts === null) return [];
  try {
    if (readClosingCertificate(bytes).manifest === null) return [];
  } catch (error) {
    if (error instanceof EvidenceError) return [];
    throw error;
  }
  const why =
    "A manifest.json is attached, but the seal was not made for a closing certificate: it vouches for no room.";
  return [check("attached_manifest", "unchecked", why)];
}

function factsOf(proof: ProofVerification, parts: SealParts | null): Record<string, string> {
  const certificate = proof.seal?.pades.certificate;
  const time = proof.seal?.provenTime;
  return {
    sealedSha256: proof.sealedSha256,
    ...(proof.docSha256 !== null && { docSha256: proof.docSha256 }),
    ...(certificate && {
      sealedBy: subjectOf(certificate.subject),
      certificateSha256: toHex(createHash("sha256").update(certificate.der).digest()),
    }),
    ...(proof.seal?.pades.level && { level: `PAdES ${proof.seal.pades.level}` }),
    ...(time !== null && time !== undefined && { provenTime: new Date(time).toISOString() }),
    ...(parts?.purpose && { purpose: purposeText(parts.purpose) }),
    ...(proof.earlierSignatures.length > 0 && { earlierSignatures: String(proof.earlierSignatures.length) }),
  };
}

const KINDS: Readonly<Record<SealPurpose["kind"], string>> = {
  proof: "proof passport",
  closing: "closing passport",
  custody: "custody certificate",
  signed: "signed document",
  notarized: "notarized document",
  signed_elsewhere: "document signed elsewhere, taken in by an operator",
  notarized_elsewhere: "document notarized elsewhere, taken in by an operator",
  journal: "notary journal",
  receipt: "receipt",
  certificate: "certificate of a proof passport",
};

const purposeText = ({ kind, environment }: SealPurpose): string => `${KINDS[kind]}, ${environment}`;

function subjectOf(name: Uint8Array): string {
  try {
    return nameText(name);
  } catch (error) {
    if (error instanceof EvidenceError) return "a certificate with an unreadable name";
    throw error;
  }
}
