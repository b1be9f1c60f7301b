import { type Claim, claim } from "@signsealship/evidence/claim";
import { sha256Hex } from "@signsealship/evidence/digest";
import {
  type EnvelopeEvidence,
  parseEnvelope,
  readCustodyCertificate,
  verifyCustody,
} from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type ManifestDocument, parseManifest } from "@signsealship/evidence/manifest";
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
  for (const other of others) if ((await sha256Hex(other.bytes)) === document.sealedSha256) return other;
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
 * Whether the room of the page has a sealed document; nothing on other pages. It lowers no verdict: manifests name neither notarized
 * documents nor those that were sealed later.
 */
export function roomDocumentClaim(
  { sealedSha256, docSha256 }: Pick<ProofVerification, "sealedSha256" | "docSha256">,
  { closing }: VerifyConfig,
): Claim<"document_of_this_room">[] {
  if (!closing) return [];
  const name = "document_of_this_room";
  const isListed = documentsOf(closing).some(
    (document) => document.sealedSha256 === sealedSha256 || (docSha256 !== null && document.sealedSha256 === docSha256),
  );
  return isListed
    ? [{ name, state: "holds", why: "The closing passport on this page names this document." }]
    : [{ name, state: "unchecked", why: "The closing passport on this page does not name this file." }];
}

const documentsOf = ({ versions }: ClosingConfig): readonly ManifestDocument[] =>
  versions.flatMap(({ manifest }) => {
    if (manifest === null) return [];
    try {
      return parseManifest(new TextEncoder().encode(manifest)).documents;
    } catch (error) {
      if (error instanceof EvidenceError) return [];
      throw error;
    }
  });
