import { type Claim, claim } from "../claim.ts";
import { parseSignedData } from "../cms/signed-data.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { attachedFile } from "../pdf/attachment.ts";
import { openDocument } from "../pdf/document.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { withRanges } from "../pdf/structure.ts";
import { readSealPurpose } from "../seal/closing-certificate.ts";
import { isOfAnOrder, type SealPurpose } from "../seal/purpose.ts";
import { type ProofContext, type ProofVerification, verifyProof } from "../seal/verify-proof.ts";
import type { Certificate } from "../x509/certificate.ts";
import { type ActClaimName, verifyActs } from "./act-claims.ts";
import { signaturesByEnd } from "./act-signatures.ts";
import { type EnvelopeEvidence, envelopeLimits } from "./schema.ts";
import { type SignedDocumentClaimName, verifySignedDocument } from "./signed-document.ts";
import { type EnvelopeClaimName, verifyEnvelope } from "./verify-envelope.ts";

/** The attachment name of an envelope's evidence in its custody certificate. */
export const envelopeAttachmentName = "envelope.json";

/** The unverified contents of a custody certificate. */
export type CustodyCertificate = {
  /** The attached evidence; null without an attachment named `envelope.json`. */
  readonly envelope: Uint8Array | null;
  /**
   * The purpose of the signature that covers the whole file. Null unless there is exactly one such signature and it
   * states a known purpose.
   */
  readonly purpose: SealPurpose | null;
};

/**
 * Reads a custody certificate without verifying it.
 * @throws EvidenceError `pdf`, `limit` or `unsupported` when the file cannot be read
 */
export async function readCustodyCertificate(bytes: Uint8Array): Promise<CustodyCertificate> {
  return {
    envelope: attachedFile(openDocument(bytes), envelopeAttachmentName, envelopeLimits.bytes),
    purpose: await readSealPurpose(bytes),
  };
}

export type CustodyClaimName =
  | "custody_purpose"
  | "custody_environment"
  | EnvelopeClaimName
  | SignedDocumentClaimName
  | ActClaimName
  | "document_seal"
  | "document_signatures"
  | "document_continues";

export type CustodyVerification = {
  readonly envelope: EnvelopeEvidence | null;
  readonly claims: readonly Claim<CustodyClaimName>[];
  /** The result for the sealed document; null when it was not given, or the envelope is unreadable. */
  readonly document: ProofVerification | null;
  /**
   * True if no claim about the certificate's purpose and envelope fails. Claims about the document may still fail, and
   * the certificate's own seal is not judged here.
   */
  readonly isSound: boolean;
  /**
   * True if the document is genuine but from another signing, and the certificate is sound. The claims about the
   * document then fail, although nobody changed anything.
   */
  readonly isOfAnotherFile: boolean;
};

/** The sentences for people when a genuine certificate is about another file than the given document. */
export const anotherFileWords = {
  title: "This certificate belongs to another file",
  text: "Nothing in it has changed, but it is not about the document that was chosen with it.",
} as const;

/**
 * Verifies a custody certificate's statements about its envelope. If a document is given (the sealed document, or a
 * notarized document that begins with it), also verifies the statements about the document. `verifyProof` verifies the
 * seal of the certificate itself.
 *
 * @param at the instant of the verification, epoch ms
 */
export async function verifyCustody(
  certificate: Uint8Array,
  document: Uint8Array | null,
  { trust, at, crypto }: ProofContext,
): Promise<CustodyVerification> {
  const read = await tryRead(certificate);
  if (read instanceof EvidenceError || read.envelope === null) {
    const why = read instanceof EvidenceError ? `It can't be read: ${read.message}.` : "No envelope.json is attached.";
    const claims = [{ name: "envelope_readable", state: "fails", why }] as const;
    return { envelope: null, claims, document: null, isSound: false, isOfAnotherFile: false };
  }
  const { envelope, claims } = await verifyEnvelope(read.envelope);
  const ownClaims = [...purposeClaims(read.purpose, envelope), ...claims];
  const isSound = ownClaims.every(({ state }) => state !== "fails");
  if (document === null || envelope === null)
    return { envelope, claims: [...ownClaims, documentMissing], document: null, isSound, isOfAnotherFile: false };
  const whole = await verifyProof(document, trust, at, { crypto });
  // Archival time stamps may follow the sealed file. They are left out here.
  const sealed = document.subarray(0, whole.sealedBytes);
  const signed = signedPart(envelope, sealed, whole);
  const proof = signed === sealed ? whole : await verifyProof(signed, trust, at, { crypto });
  const isNamed = (await sha256Hex(signed)) === envelope.document.sealedSha256;
  const signatures = await signaturesByEnd(signed);
  const sealCertificates = certificatesIn(certificate);
  return {
    envelope,
    claims: [
      ...ownClaims,
      ...(isNamed && signed.length < document.length ? [continues(whole, signed.length)] : []),
      ...(await verifySignedDocument(envelope, signed, signatures)),
      ...(await verifyActs({ envelope, proof, signatures, sealCertificates, trust, at, crypto })),
      documentSeal(proof, envelope),
      documentSignatures(proof, envelope),
    ],
    document: whole,
    isSound,
    isOfAnotherFile:
      isSound &&
      isSealedForOrder(whole) &&
      (await sha256Hex(document.subarray(0, envelope.document.bytes))) !== envelope.document.sealedSha256,
  };
}

const isSealedForOrder = ({ verdict, seal }: ProofVerification): boolean =>
  verdict === "verified" && isOfAnOrder(seal?.purpose);

/**
 * Verifies that a trusted seal covers all bytes after the signed file. The seal's certificate must be trusted, because
 * anybody can make a seal. Archival time stamps need no test here: `sealedBytes` already excludes the trusted ones.
 */
function continues({ verdict, sealedBytes }: ProofVerification, signed: number): Claim<CustodyClaimName> {
  const name = "document_continues";
  const begins = "The document begins with the signed file that is named, and";
  if (sealedBytes === signed)
    return { name, state: "holds", why: `${begins} only archival time stamps and metadata follow it.` };
  return verdict === "verified"
    ? { name, state: "holds", why: `${begins} the service sealed all of it as notarized.` }
    : {
        name,
        state: "unchecked",
        why: `${begins} a seal says that all of it was notarized. Nobody trusted made that seal.`,
      };
}

/**
 * Returns the part of a sealed file that is compared with the envelope. A notarized document begins with the signed
 * document. So if the seal is an intact notarization seal of the envelope's environment, the part is the signed
 * document. Otherwise the part is the whole file.
 *
 * The seal may be untrusted: the claim `document_continues` reports whether it is trusted.
 */
function signedPart(
  { document: { bytes }, environment }: EnvelopeEvidence,
  document: Uint8Array,
  { verdict, seal }: ProofVerification,
): Uint8Array {
  const isNotarized =
    (verdict === "verified" || verdict === "intact") &&
    seal?.purpose?.kind === "notarized" &&
    seal.purpose.environment === environment;
  return isNotarized ? document.subarray(0, bytes) : document;
}

async function tryRead(certificate: Uint8Array): Promise<CustodyCertificate | EvidenceError> {
  try {
    return await readCustodyCertificate(certificate);
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

/**
 * The certificates in the signatures of a custody certificate; none if the file or one of the signatures cannot be
 * parsed.
 */
function certificatesIn(bytes: Uint8Array): readonly Certificate[] {
  try {
    const document = openDocument(bytes);
    return withRanges(document, findSignatures(document)).flatMap(({ byteRange }) =>
      byteRange.ok ? parseSignedData(byteRange.range.contents).certificates : [],
    );
  } catch (error) {
    if (error instanceof EvidenceError) return [];
    throw error;
  }
}

function purposeClaims(purpose: SealPurpose | null, envelope: EnvelopeEvidence | null): Claim<CustodyClaimName>[] {
  const purposeClaim = claim(
    "custody_purpose",
    purpose?.kind === "custody",
    "The seal says that it was made for a custody certificate.",
    "The seal does not say that it was made for a custody certificate: anybody may have had this document sealed.",
  );
  if (envelope === null) return [purposeClaim];
  const same = purpose?.environment === envelope.environment;
  const good = `The seal and the envelope are of the ${envelope.environment} environment.`;
  return [
    purposeClaim,
    claim("custody_environment", same, good, "The seal and the envelope are not of one environment."),
  ];
}

const documentMissing: Claim<CustodyClaimName> = {
  name: "document_hash",
  state: "unchecked",
  why: "The sealed document was not given: whether it bears these acts is not checked.",
};

function documentSeal({ verdict, seal }: ProofVerification, { environment }: EnvelopeEvidence) {
  const asMeant = seal?.purpose?.kind === "signed" && seal.purpose.environment === environment;
  return claim(
    "document_seal",
    (verdict === "verified" || verdict === "intact") && asMeant,
    "The document's own seal is genuine, and says that it was made for a signed document.",
    "The document bears no genuine seal that was made for a signed document of this environment.",
  );
}

/** Verifies that the signature of each act is intact, and that the signature permits the later changes. */
function documentSignatures({ earlierSignatures }: ProofVerification, { revisions }: EnvelopeEvidence) {
  const fault = revisions.find(({ kind, bytes }) => {
    const ending = earlierSignatures.filter(({ revisionEnd }) => revisionEnd === bytes);
    return kind === "signed" && !(ending.length === 1 && ending[0]?.claims.every(({ state }) => state === "holds"));
  });
  return claim(
    "document_signatures",
    fault === undefined,
    "The signature of each act is intact, and what came after it was permitted.",
    `The signature over revision ${fault?.number} is not genuine, or was followed by changes that it does not permit.`,
  );
}
