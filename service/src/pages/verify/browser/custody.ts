import { type Claim, claim } from "@signsealship/evidence/claim";
import { sha256Hex } from "@signsealship/evidence/digest";
import {
  type EnvelopeEvidence,
  parseEnvelope,
  readCustodyCertificate,
  verifyCustody,
} from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type Manifest, type ManifestDocument, parseManifest } from "@signsealship/evidence/manifest";
import { type ProofVerification, readSealPurpose, roomDocumentClaim } from "@signsealship/evidence/seal";
import type { ClosingConfig, VerifyConfig } from "./config.ts";
import type { NamedBytes } from "./files.ts";
import type { CustodyFacts } from "./outcome.ts";

/** Whether a PDF was sealed as a custody certificate, judged before anything in it is verified. */
export async function isCustodyCertificate({ bytes }: NamedBytes): Promise<boolean> {
  try {
    return (await readSealPurpose(bytes))?.kind === "custody";
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

/** The findings about a custody certificate, apart from those about its seal. */
type CheckedCustody = {
  readonly claims: readonly Claim[];
  /** Null when the certificate's evidence can't be read. */
  readonly facts: CustodyFacts | null;
  /** True when the certificate was compared with a genuine document of another signing, and no other claim fails. */
  readonly isOfAnotherFile: boolean;
  /** The dropped PDF with which the certificate was compared. */
  readonly document: NamedBytes | null;
};

type Context = Parameters<typeof verifyCustody>[2] & { readonly config: VerifyConfig };

/** Judges a custody certificate. @param others the PDFs that were dropped with it */
export async function checkCustody(
  certificate: NamedBytes,
  others: readonly NamedBytes[],
  context: Context,
): Promise<CheckedCustody> {
  const envelope = await envelopeIn(certificate);
  const document = envelope ? await documentOf(envelope, others) : null;
  const { claims, isOfAnotherFile } = await verifyCustody(certificate.bytes, document?.bytes ?? null, context);
  const record = await custodyRecordClaim(certificate, envelope, context.config);
  return {
    claims: [...claims, ...record],
    isOfAnotherFile: isOfAnotherFile && record.every(({ state }) => state !== "fails"),
    facts: envelope && {
      orderCode: envelope.orderCode,
      signers: envelope.signers.map(({ name }) => name),
      documentSha256: envelope.document.sealedSha256,
    },
    document,
  };
}

async function envelopeIn({ bytes }: NamedBytes): Promise<EnvelopeEvidence | null> {
  try {
    const { envelope } = await readCustodyCertificate(bytes);
    return envelope && parseEnvelope(envelope);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/**
 * Finds the document that the certificate names among several PDFs. A single PDF is returned even if it is another
 * document, so that the comparison shows that.
 */
async function documentOf({ document }: EnvelopeEvidence, others: readonly NamedBytes[]): Promise<NamedBytes | null> {
  // A notarized document begins with the signed one.
  for (const file of others)
    if (file.bytes.length >= document.bytes)
      if ((await hashOfBeginning(file, document.bytes)) === document.sealedSha256) return file;
  const [only, another] = others;
  return only && !another ? only : null;
}

const beginnings = new WeakMap<NamedBytes, Map<number, Promise<string>>>();

/** The SHA-256 of a file's first bytes. Many certificates may name one document, and each compares all files. */
function hashOfBeginning(file: NamedBytes, bytes: number): Promise<string> {
  const known = beginnings.get(file) ?? new Map<number, Promise<string>>();
  beginnings.set(file, known);
  const sha256 = known.get(bytes) ?? sha256Hex(file.bytes.subarray(0, bytes));
  known.set(bytes, sha256);
  return sha256;
}

/**
 * Whether a custody certificate belongs to the record that the page shows. Returns no claim on a page without a record.
 */
async function custodyRecordClaim(
  { bytes }: NamedBytes,
  envelope: EnvelopeEvidence | null,
  { envelope: recorded, proof, closing }: VerifyConfig,
): Promise<Claim[]> {
  const name = "custody_of_this_record";
  const sha256 = await sha256Hex(bytes);
  const good = "The custody certificate is the one of the record on this page.";
  if (recorded) {
    const isOfCode = envelope?.verifyCode === recorded.verifyCode;
    const isStored = recorded.custodyCertSha256 === null || recorded.custodyCertSha256 === sha256;
    const other = isOfCode
      ? "The custody certificate names this signing, but is not the certificate on record."
      : `The custody certificate is of another signing than the record on this page: of verify code ${envelope?.verifyCode ?? "unknown"}.`;
    return [claim(name, isOfCode && isStored, good, other)];
  }
  if (closing) {
    const isListed = documentsOf(closing).some(({ custodyCertSha256 }) => custodyCertSha256 === sha256);
    return [
      claim(name, isListed, good, "The closing certificate on this page does not name this custody certificate."),
    ];
  }
  if (!proof) return [];
  return [{ name, state: "fails", why: "The record on this page is of a sealed document, and not of this signing." }];
}

/**
 * States which document of a closing the file is, by the manifests of the page's room and by those of the closing
 * certificates that were chosen with the file and passed. Returns no claim where there is neither.
 */
export async function roomClaim(
  { bytes }: NamedBytes,
  verification: ProofVerification,
  { closing }: VerifyConfig,
  chosen: readonly Manifest[],
): Promise<Claim<"document_of_this_room">[]> {
  const manifests = [...(closing ? manifestsOf(closing) : []), ...chosen];
  if (manifests.length === 0) return [];
  const certificate = closing ? "The closing certificate on this page" : "The closing certificate that was chosen";
  const unnamed = `${certificate} does not name this file.`;
  return [await roomDocumentClaim(bytes, verification, { manifests, unnamed })];
}

/** The readable manifests of a page or of files. */
export function readManifests(texts: readonly Uint8Array[]): Manifest[] {
  return texts.flatMap((bytes) => {
    try {
      return [parseManifest(bytes)];
    } catch (error) {
      if (error instanceof EvidenceError) return [];
      throw error;
    }
  });
}

const manifestsOf = ({ versions }: ClosingConfig): Manifest[] =>
  readManifests(versions.flatMap(({ manifest }) => (manifest === null ? [] : [new TextEncoder().encode(manifest)])));

const documentsOf = (closing: ClosingConfig): readonly ManifestDocument[] =>
  manifestsOf(closing).flatMap(({ documents }) => documents);
