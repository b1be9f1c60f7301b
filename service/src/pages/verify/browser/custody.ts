import { type Claim, claim } from "@signsealship/evidence/claim";
import { sha256Hex } from "@signsealship/evidence/digest";
import {
  type EnvelopeEvidence,
  parseEnvelope,
  readCustodyCertificate,
  signaturesByEnd,
  verifyCustody,
} from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type Manifest, type ManifestDocument, parseManifest } from "@signsealship/evidence/manifest";
import {
  type ProofContext,
  type ProofVerification,
  readSealPurpose,
  roomDocumentClaim,
} from "@signsealship/evidence/seal";
import type { ClosingConfig, VerifyConfig } from "./config.ts";
import type { NamedBytes } from "./files.ts";
import type { CustodyFacts } from "./outcome.ts";

/**
 * True if a PDF was sealed as a custody certificate (the evidence of a signing). Read from the file before anything in
 * it is verified.
 */
async function isCustodyCertificate({ bytes }: NamedBytes): Promise<boolean> {
  try {
    return (await readSealPurpose(bytes))?.kind === "custody";
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

/** A custody certificate's evidence, and the dropped PDFs to compare it with. */
type ReadCustody = {
  /** Null when the evidence can't be read. */
  readonly envelope: EnvelopeEvidence | null;
  /**
   * The dropped PDFs that begin with the document named in the certificate, the shortest first. If no dropped PDF does,
   * at most one other PDF to compare with the certificate.
   */
  readonly documents: readonly NamedBytes[];
};

/** Reads the custody certificates among the dropped PDFs, and finds the document of each among the others. */
export async function readCustody(pdfs: readonly NamedBytes[]) {
  const [certificates, documents]: [NamedBytes[], NamedBytes[]] = [[], []];
  for (const pdf of pdfs) ((await isCustodyCertificate(pdf)) ? certificates : documents).push(pdf);
  const custody = new Map<NamedBytes, ReadCustody>();
  for (const certificate of certificates) {
    const envelope = await envelopeIn(certificate);
    custody.set(certificate, { envelope, documents: envelope ? await namedBy(envelope, documents) : [] });
  }
  const found = new Set([...custody.values()].flatMap((one) => one.documents));
  const others = documents.filter((pdf) => !found.has(pdf));
  for (const [certificate, { envelope, documents: named }] of custody)
    if (envelope && named.length === 0)
      custody.set(certificate, { envelope, documents: changedDocumentOf(envelope, others, documents.length === 1) });
  return { custody, documents };
}

/** The findings about a custody certificate, apart from those about its seal. */
type CheckedCustody = {
  readonly claims: readonly Claim[];
  /** Null when the certificate's evidence can't be read. */
  readonly facts: CustodyFacts | null;
  /**
   * True if the certificate was compared with a genuine document of another signing, and no claim about the certificate
   * itself or the page's record fails.
   */
  readonly isOfAnotherFile: boolean;
  /**
   * The name of the dropped PDF that differs from the document named in the certificate. Null if they match, if no PDF
   * was compared, and if a claim about the certificate itself or the page's record fails.
   */
  readonly unmatched: string | null;
};

type Context = ProofContext & { readonly config: VerifyConfig };

/** Judges a custody certificate. */
export async function checkCustody(
  certificate: NamedBytes,
  { envelope, documents }: ReadCustody,
  context: Context,
): Promise<CheckedCustody> {
  const [document = null] = documents;
  const custody = await verifyCustody(certificate.bytes, document?.bytes ?? null, context);
  const { claims, isSound, isOfAnotherFile } = custody;
  const record = await custodyRecordClaim(certificate, envelope, context.config);
  const isOfRecord = record.every(({ state }) => state !== "fails");
  const isUnmatched = claims.some(({ name, state }) => name === "document_hash" && state === "fails");
  return {
    claims: [...claims, ...record],
    isOfAnotherFile: isOfAnotherFile && isOfRecord,
    unmatched: document && isUnmatched && isSound && isOfRecord ? document.name : null,
    facts: envelope && {
      orderCode: envelope.orderCode,
      signers: envelope.signers.map(({ name }) => name),
      documentSha256: envelope.document.sealedSha256,
    },
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

/** The PDFs that begin with the document named in the certificate. A notarized document begins with the signed one. */
async function namedBy({ document }: EnvelopeEvidence, pdfs: readonly NamedBytes[]): Promise<NamedBytes[]> {
  const found: NamedBytes[] = [];
  for (const file of pdfs)
    if ((await hashOfBeginning(file, document.bytes)) === document.sealedSha256) found.push(file);
  return found.sort((one, other) => one.bytes.length - other.bytes.length);
}

/**
 * A PDF to compare with a certificate although it isn't the named document, so that the result shows the mismatch. It
 * is the only PDF, or the only one of the named length.
 */
function changedDocumentOf(
  { document }: EnvelopeEvidence,
  others: readonly NamedBytes[],
  isOnly: boolean,
): NamedBytes[] {
  const alike = isOnly ? others : others.filter(({ bytes }) => bytes.length === document.bytes);
  return alike.length === 1 ? [...alike] : [];
}

type Beginnings = { readonly ends: ReadonlySet<number>; readonly hashes: Map<number, Promise<string>> };
const beginnings = new WeakMap<NamedBytes, Promise<Beginnings>>();

/**
 * The SHA-256 of a file's first `bytes` bytes. Null unless the file or one of its signatures ends there, as every
 * sealed document does. This limits how often the page hashes a file, even if it is compared with many certificates.
 */
async function hashOfBeginning(file: NamedBytes, bytes: number): Promise<string | null> {
  const pending = beginnings.get(file) ?? beginningsOf(file);
  beginnings.set(file, pending);
  const { ends, hashes } = await pending;
  if (!ends.has(bytes)) return null;
  const sha256 = hashes.get(bytes) ?? sha256Hex(file.bytes.subarray(0, bytes));
  hashes.set(bytes, sha256);
  return sha256;
}

async function beginningsOf({ bytes }: NamedBytes): Promise<Beginnings> {
  const signatures = await signaturesByEnd(bytes);
  return {
    ends: new Set([bytes.length, ...(signatures instanceof EvidenceError ? [] : signatures.keys())]),
    hashes: new Map(),
  };
}

/** A claim that a custody certificate matches the record on the page. Returns no claim on a page without a record. */
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
 * A claim that says which document of a closing the file is. It uses the manifests of the page's room, and those of the
 * valid closing certificates that were dropped with the file. Returns no claim without a manifest.
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
