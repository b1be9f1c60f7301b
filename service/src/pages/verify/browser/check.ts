import type { Claim } from "@signsealship/evidence/claim";
import { sha256Hex } from "@signsealship/evidence/digest";
import { verifySigningComplete } from "@signsealship/evidence/envelope";
import type { Manifest } from "@signsealship/evidence/manifest";
import {
  mayBeListed,
  type ProofVerification,
  type SealPurpose,
  verifyAttachedRecord,
  verifyProof,
} from "@signsealship/evidence/seal";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import { isExplanation, proofsByPdf } from "@signsealship/verifier/documents";
import { checkClosing, type DroppedVersion } from "./check-closing.ts";
import { isClosingCertificate, manifestOf } from "./closing-versions.ts";
import { companionFindings } from "./companions.ts";
import type { ReadersTrust, VerifyConfig } from "./config.ts";
import { checkCustody, readCustody, readManifests, roomClaim } from "./custody.ts";
import { kindOf, type NamedBytes } from "./files.ts";
import { type CertificateFacts, type FailedOutcome, failed, type Outcome, type ProofOutcome } from "./outcome.ts";
import { evidenceIn, extractProofs, withoutSeconds } from "./proofs.ts";
import { earlierFacts, sealFacts, subjectText } from "./seal-facts.ts";
import { type CheckContext, trustClaim, trustFrom } from "./trust.ts";
import { unpacked } from "./unpack.ts";

export type CheckInput = {
  readonly files: readonly NamedBytes[];
  readonly config: VerifyConfig;
  readonly trust: ReadersTrust;
  /** The time of the verification, in epoch ms. */
  readonly at: number;
  readonly subtle: SubtleCrypto;
};

/** The manifests of closing certificates that passed. `isLiveRoom`: true if their seals are live. */
type RoomFacts = { manifests: readonly Manifest[]; isLiveRoom: boolean };

/** Verifies the dropped files: each PDF by itself, and the closing certificates and manifests of a room together. */
export async function checkFiles({ files, config, trust, at, subtle }: CheckInput): Promise<Outcome[]> {
  const failures: FailedOutcome[] = [];
  const unpackedFiles = await once(unpacked(files, failures));
  const proofTrust = trustFrom(config, trust, failures);
  const context = { config, trust: proofTrust, at, crypto: createWebCrypto(subtle) };
  const closing: DroppedVersion[] = [];
  const pdfs: NamedBytes[] = [];
  const companions: NamedBytes[] = [];
  const ignored: NamedBytes[] = [];
  const records: NamedBytes[] = [];
  const hasOnePdf = unpackedFiles.filter((file) => kindOf(file) === "pdf").length === 1;
  for (const file of unpackedFiles) {
    const kind = kindOf(file);
    if (kind === "pdf") {
      // The seal's purpose identifies a certificate. So a certificate with an unreadable attachment is still verified
      // as a certificate.
      if (await isClosingCertificate(file.bytes)) closing.push({ name: file.name, certificate: file.bytes });
      else pdfs.push(file);
    } else if (kind === "json") closing.push({ name: file.name, manifest: file.bytes });
    else if (kind === "room_record") records.push(file);
    else if (kind === "certificates" && !hasOnePdf) ignored.push(file);
    else if (kind === "ots" || kind === "log" || kind === "der" || kind === "record" || kind === "certificates")
      companions.push(file);
    else if (/\.(pem|txt|md|crt|cer)$/i.test(file.name) || isExplanation(file.name)) ignored.push(file);
    else failures.push(failed(file, unreadable));
  }
  const outcomes: Outcome[] = [];
  const allPdfs = [...pdfs, ...closing.filter(({ certificate }) => certificate)];
  const named = proofsByPdf<{ name: string }, NamedBytes>(allPdfs, companions);
  const unnamed = new Set(companions);
  for (const proofs of named.values()) for (const proof of proofs) unnamed.delete(proof);
  for (const version of closing) {
    if (!version.certificate) continue;
    const proofs = extractProofs(companions, named.get(version) ?? [], allPdfs.length === 1);
    failures.push(...withoutSeconds(proofs));
    version.proofs = proofs;
  }
  const ofClosing = closing.length + records.length > 0 ? await checkClosing(closing, records, context) : null;
  if (ofClosing) outcomes.push(ofClosing);
  // A certificate that failed proves nothing about other files.
  const isGood = ofClosing?.verdict === "verified";
  const manifests = isGood ? readManifests(closing.flatMap((version) => manifestOf(version) ?? [])) : [];
  const isLiveRoom = isGood && ofClosing.purpose?.environment === "live";
  failures.push(...(pdfs.length === 1 ? withoutSeconds(companions) : []));
  const { custody, documents } = await readCustody(pdfs);
  const judged: ProofOutcome[] = [];
  const certified = new Set<NamedBytes>();
  for (const pdf of pdfs) {
    const own = pdfs.length === 1 ? companions : (named.get(pdf) ?? []);
    const others = documents.filter((one) => one !== pdf);
    const read = custody.get(pdf);
    const outcome = await checkPdf(pdf, own, others, {
      ...(read ? ofNoRecord(context) : context),
      manifests,
      isLiveRoom,
    });
    if (!read || outcome.verdict === "handed_in") {
      judged.push(outcome);
      continue;
    }
    const { claims, facts, isOfAnotherFile, unmatched } = await checkCustody(pdf, read, context);
    const isGenuine = outcome.verdict === "verified";
    const whole = { ...withClaims(outcome, claims), isOfAnotherFile: isGenuine && isOfAnotherFile };
    judged.push({ ...whole, ...(facts && { custody: facts }), ...(isGenuine && unmatched !== null && { unmatched }) });
    if (whole.verdict !== "not_verified") for (const document of read.documents) certified.add(document);
  }
  // Runs after all files are judged, because a certificate may come before or after its document.
  outcomes.push(
    ...judged.map((outcome, index) => {
      const pdf = pdfs[index];
      return pdf && certified.has(pdf) ? { ...outcome, hasCustody: true } : outcome;
    }),
  );
  if (pdfs.length !== 1)
    for (const file of companions)
      if (unnamed.has(file)) failures.push(failed(file, "Choose it together with the one PDF that it belongs to."));
  // Certificates and explanations are ignored if another file was verified. Alone, they are reported as unreadable.
  if (outcomes.length === 0) failures.push(...ignored.map((file) => failed(file, unreadable)));
  return [...outcomes, ...failures];
}

/** Merges PDFs with equal bytes, so that each is verified and shown once, under all its names. */
async function once(files: readonly NamedBytes[]): Promise<NamedBytes[]> {
  const byHash = new Map<string, NamedBytes>();
  for (const [index, file] of files.entries()) {
    const key = kindOf(file) === "pdf" ? await sha256Hex(file.bytes) : String(index);
    const before = byHash.get(key);
    const name = before && before.name !== file.name ? `${before.name} = ${file.name}` : file.name;
    byHash.set(key, before ? { ...before, name } : file);
  }
  return [...byHash.values()];
}

const unreadable = "We can’t check this kind of file. Choose a PDF, or evidence that belongs to one.";

/**
 * The claims about the record that is attached to a sealed PDF. A proof certificate is compared with the only other PDF
 * or, among several, with the one that it names.
 */
async function attachedClaims(
  { bytes }: NamedBytes,
  purpose: SealPurpose,
  others: readonly NamedBytes[],
  context: CheckContext,
): Promise<readonly Claim[]> {
  const alone = await verifyAttachedRecord(bytes, purpose, null, context);
  if (purpose.kind !== "certificate") return alone.claims;
  for (const other of others) {
    const { claims } = await verifyAttachedRecord(bytes, purpose, other.bytes, context);
    const isNamed = claims.some(({ name, state }) => name === "record_sealed_hash" && state === "holds");
    if (isNamed || others.length === 1) return claims;
  }
  return alone.claims;
}

async function checkPdf(
  file: NamedBytes,
  companions: readonly NamedBytes[],
  others: readonly NamedBytes[],
  context: CheckContext & RoomFacts,
): Promise<ProofOutcome> {
  const { config, trust, at, crypto } = context;
  const recorded = config.proof;
  if (recorded && (await sha256Hex(file.bytes)) === recorded.docSha256) return handedIn(file.name, recorded);
  const verify = (expected: Partial<NonNullable<typeof recorded>> | null) =>
    verifyProof(file.bytes, trust, at, { crypto, detached: { ...expected, ...evidenceIn(companions) } });
  let verification = await verify(recorded);
  // The page of a signing also contains the hash of the document that a notary completed afterwards.
  const { sealedSha256 } = verification;
  if (sealedSha256 === config.envelope?.notarizedSha256) verification = await verify({ sealedSha256 });
  const found = await companionFindings(companions, verification);
  const signing = await verifySigningComplete(file.bytes.subarray(0, verification.sealedBytes), verification, {
    trust,
    at,
    crypto,
  });
  const purpose = verification.seal?.purpose ?? null;
  const attached = purpose ? await attachedClaims(file, purpose, others, context) : [];
  const ofRoom =
    mayBeListed(purpose) && verification.verdict !== "not_a_pdf"
      ? await roomClaim(file, verification, config, context.manifests)
      : [];
  const isListed = verification.verdict === "unsigned" && ofRoom.some(({ state }) => state === "holds");
  const isChanged = ofRoom.some(({ state }) => state === "fails");
  const isFailed = found.fails || attached.some(({ state }) => state === "fails");
  const isSeal = verification.verdict === "verified" || verification.verdict === "intact";
  return {
    kind: "proof",
    name: file.name,
    verdict: isChanged || (isFailed && isSeal) ? "not_verified" : verification.verdict,
    claims: [
      ...verification.claims,
      ...attached,
      ...(signing ? [signing] : []),
      ...ofRoom,
      ...found.claims,
      ...trustClaim(config),
    ],
    statement: verification.statement,
    fileSha256: verification.sealedSha256,
    docSha256: verification.docSha256,
    ...(isListed && context.isLiveRoom && { isListed }),
    purpose: found.isTest && purpose ? { ...purpose, environment: "test" } : purpose,
    certificate: await certificateFacts(verification),
    seal: sealFacts(verification),
    earlier: verification.earlierSignatures.map(earlierFacts),
    anchoring: verification.anchoring,
  };
}

/**
 * The context for a custody certificate that is verified on the page of a signing. It omits the page's record, because
 * that record describes the signed document. A separate claim compares the certificate with the page.
 */
const ofNoRecord = (context: CheckContext): CheckContext =>
  context.config.envelope ? { ...context, config: { ...context.config, proof: null } } : context;

const withClaims = (outcome: ProofOutcome, claims: readonly Claim[]): ProofOutcome => ({
  ...outcome,
  verdict: claims.some(({ state }) => state === "fails") ? "not_verified" : outcome.verdict,
  claims: [...outcome.claims, ...claims],
});

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
    seal: null,
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
