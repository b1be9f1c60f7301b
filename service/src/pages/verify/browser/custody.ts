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
import { type ProofVerification, readSealPurpose } from "@signsealship/evidence/seal";
import type { ClosingConfig, VerifyConfig } from "./config.ts";
import type { NamedBytes } from "./files.ts";
import type { CustodyFacts } from "./outcome.ts";

/** Whether a PDF was sealed as a custody certificate, before anything of it is verified. */
export async function isCustodyCertificate({ bytes }: NamedBytes): Promise<boolean> {
  try {
    return (await readSealPurpose(bytes))?.kind === "custody";
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

/** The facts about a custody certificate in addition to its seal. */
type CheckedCustody = {
  readonly claims: readonly Claim[];
  /** Null where its evidence can't be read. */
  readonly facts: CustodyFacts | null;
  /** The dropped PDF that it was compared with. */
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
  const { claims } = await verifyCustody(certificate.bytes, document?.bytes ?? null, context);
  const record = await custodyRecordClaim(certificate, envelope, context.config);
  return {
    claims: [...claims, ...record],
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

/** Finds the named one of several PDFs; one that came alone is compared, whatever it is. */
async function documentOf({ document }: EnvelopeEvidence, others: readonly NamedBytes[]): Promise<NamedBytes | null> {
  // A notarized document begins with the signed one.
  for (const other of others)
    if ((await sha256Hex(other.bytes.subarray(0, document.bytes))) === document.sealedSha256) return other;
  const [only, another] = others;
  return another ? null : (only ?? null);
}

/** Whether a custody certificate belongs to the record that the page shows; nothing on a page without a record. */
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
    return [claim(name, isListed, good, "The closing passport on this page does not name this custody certificate.")];
  }
  if (!proof) return [];
  return [{ name, state: "fails", why: "The record on this page is of a sealed document, and not of this signing." }];
}

/**
 * Which document of a closing a file is: of the room of the page, or of the closing certificates that were chosen with it and passed.
 * It lowers no verdict: a version does not name documents that were sealed later.
 */
export function roomDocumentClaim(
  { sealedSha256, docSha256 }: Pick<ProofVerification, "sealedSha256" | "docSha256">,
  { closing }: VerifyConfig,
  chosen: readonly Manifest[],
): Claim<"document_of_this_room">[] {
  const manifests = [...(closing ? manifestsOf(closing) : []), ...chosen];
  if (manifests.length === 0) return [];
  const name = "document_of_this_room";
  const hashes = [sealedSha256, ...(docSha256 === null ? [] : [docSha256])];
  const words = manifests.toReversed().flatMap((manifest) => wordsIn(manifest, hashes) ?? []);
  const which = closing ? "The closing passport on this page" : "The closing certificate that was chosen with it";
  return words[0] === undefined
    ? [{ name, state: "unchecked", why: `${which} does not name this file.` }]
    : [{ name, state: "holds", why: words[0] }];
}

const files = [
  ["notarizedSha256", "the notarized file"],
  ["sealedSha256", "the signed file"],
  ["originalSha256", "the file as it was uploaded"],
] as const;

/** "Document 1 of 3 of closing 2026-1187 (Warranty deed): the notarized file."; null for another file. */
function wordsIn({ documents, passport }: Manifest, hashes: readonly string[]): string | null {
  for (const [index, document] of documents.entries())
    for (const [member, file] of files) {
      if (!hashes.includes(document[member] ?? "")) continue;
      const of = `Document ${index + 1} of ${documents.length} of closing ${passport.reference ?? passport.roomName}`;
      return `${of}${document.label === null ? "" : ` (${document.label})`}: ${file}.`;
    }
  return null;
}

/** The manifests that are readable, as a page or files have them. */
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
