import { toHex } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import type { CarriedClaimName, LogClaimName, TrustedLog } from "../log/log.ts";
import type { BlockHeaders } from "../ots/verify.ts";
import type { SignedRange } from "../pdf/byte-range.ts";
import type { PdfDocument } from "../pdf/document.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import {
  coveringFile,
  originalBoundary,
  type RangedSignature,
  structureProblem,
  whyNotCovered,
  withRanges,
} from "../pdf/structure.ts";
import type { TimeStampVerification } from "../rfc3161/verify.ts";
import type { Certificate } from "../x509/certificate.ts";
import { type ArchivalClaimName, archivalClaim, archivedLength } from "./archival.ts";
import type { CheckpointClaimName } from "./checkpoint-anchors.ts";
import { type DetachedClaimName, type DetachedEvidence, earliest, verifyDetached } from "./detached-evidence.ts";
import { type EarlierSignature, verifyEarlierSignatures } from "./earlier-signatures.ts";
import { verifyCarriedIn, verifyLogged } from "./logged-seal.ts";
import { verifyPades } from "./pades.ts";
import { type ProofStatement, proofStatement } from "./proof-statement.ts";
import { isOfAnOrder, sealPurposeOf } from "./purpose.ts";
import { type SealClaimName, type SealTrust, type SealVerification, verifySeal } from "./verify-seal.ts";

/**
 * The verdict on a sealed PDF.
 *
 * - `verified`: the seal covers the whole file, is intact and states a known purpose, and its certificate is trusted
 *   and was valid.
 * - `intact`: the same, but no trusted seal certificate was given (anyone could have made the seal), or the purpose is
 *   unknown.
 * - `not_verified`: a claim fails.
 * - `unsigned`: a PDF without any signature.
 * - `not_a_pdf`: no PDF header.
 */
export type ProofVerdict = "verified" | "intact" | "not_verified" | "unsigned" | "not_a_pdf";

export type ProofClaimName =
  | "pdf_readable"
  | "whole_file_covered"
  | "signature_structure"
  | SealClaimName
  | "original_document_hash"
  | "certification_respected"
  | DetachedClaimName
  | LogClaimName
  | CheckpointClaimName
  | CarriedClaimName
  | ArchivalClaimName;

export interface ProofTrust extends SealTrust {
  /** Authorities that issue certificates to signers. Certificate authorities among `sealAnchors` also count. */
  readonly signerAnchors?: readonly Certificate[];
  /** Bitcoin block headers that the caller trusts, by height. */
  readonly blockHeaders?: BlockHeaders;
  /** The transparency logs whose checkpoints the caller trusts. */
  readonly logs?: readonly TrustedLog[];
}

/** The settings that all verifications of one run share. */
export type ProofContext = {
  readonly trust: ProofTrust;
  /** The instant of the verification, epoch ms. */
  readonly at: number;
  readonly crypto: EvidenceCrypto;
};

export interface ProofVerification {
  readonly verdict: ProofVerdict;
  readonly claims: readonly Claim<ProofClaimName>[];
  /** The number of bytes that are verified: the whole file without the archival time stamps at its end. */
  readonly sealedBytes: number;
  /** Lowercase hex SHA-256 of the first `sealedBytes` bytes. */
  readonly sealedSha256: string;
  /** Lowercase hex SHA-256 of the original document; null unless a seal validly states where that document ends. */
  readonly docSha256: string | null;
  /** The signature that covers the whole file; null unless there is exactly one. */
  readonly seal: SealVerification | null;
  /**
   * The signatures that are older than the seal, each verified over its own revision. Apart from archival time stamps,
   * the verdict depends on them only through the claim `certification_respected`.
   */
  readonly earlierSignatures: readonly EarlierSignature[];
  /** The result for the time-stamp token that was given separately from the file. */
  readonly separateTimeStamp: TimeStampVerification | null;
  /** The claims of the detached `.ots` proof. */
  readonly anchoring: readonly Claim[];
  readonly statement: ProofStatement;
}

const MUST_HOLD: readonly ProofClaimName[] = [
  "pdf_readable",
  "whole_file_covered",
  "signature_structure",
  "document_unchanged_since_seal",
  "seal_signature_valid",
  "seal_place",
  "seal_certificate_valid_at_time",
];

/**
 * Verifies a sealed PDF, and its detached evidence. Failures are claims, never exceptions. If the document of an order
 * ends with archival time stamps, the result is about the sealed file before them, with the claim
 * `archival_time_stamp`.
 *
 * @param bytes the whole file
 * @param trust the certificates that the caller trusts
 * @param at the instant of the verification, epoch ms
 * @param options `crypto` the cryptography library; `detached` expected hashes, a time-stamp token, an `.ots` proof, a
 * log proof
 * @throws EvidenceError `ots` for a block header in `trust` that is not 80 bytes
 */
export async function verifyProof(
  bytes: Uint8Array,
  trust: ProofTrust,
  at: number,
  options: Options,
): Promise<ProofVerification> {
  const whole = await verifyWhole(bytes, trust, at, options);
  const length = archivedLength(whole);
  if (length === null) return whole;
  const sealed = await verifyWhole(bytes.subarray(0, length), trust, at, options);
  if (sealed.verdict !== "verified" || !isOfAnOrder(sealed.seal?.purpose)) return whole;
  return { ...sealed, claims: [...sealed.claims, archivalClaim(whole, length)] };
}

type Options = { readonly crypto: EvidenceCrypto; readonly detached?: DetachedEvidence };

/** Verifies a file. Its seal is the signature that covers the whole file. */
async function verifyWhole(
  bytes: Uint8Array,
  trust: ProofTrust,
  at: number,
  options: Options,
): Promise<ProofVerification> {
  const { crypto } = options;
  const reading = await readSealed(bytes);
  const { document, signatures, found } = reading;
  const messages: Uint8Array[][] = [[bytes]];
  const boundary = found === null ? null : originalBoundary(found.document, found.signature);
  if (found !== null) messages.push([...found.range.signedBytes]);
  if (boundary?.kind === "length") messages.push([bytes.subarray(0, boundary.length)]);
  const [sealedSha256 = new Uint8Array(0), signedSha256, docSha256 = null] = await crypto.digests("SHA-256", messages);

  const { sealAnchors, tsaAnchors } = trust;
  const sealed = found === null ? null : { dictionary: found.signature.dictionary, range: found.range };
  const pades =
    sealed === null || signedSha256 === undefined
      ? null
      : await verifyPades({
          ...sealed,
          sealAnchors,
          tsaAnchors,
          at,
          crypto,
          rangeDigest: { hash: "SHA-256", value: signedSha256 },
        });
  const earlier =
    document === null ? [] : await earlierOf(document, signatures, found?.signature ?? null, trust, at, crypto);
  const detached = await verifyDetached({
    evidence: options.detached ?? {},
    sealedSha256,
    docSha256,
    signatureValue: pades?.valid ? pades.signatureValue : null,
    tsaAnchors,
    blockHeaders: trust.blockHeaders ?? new Map(),
    at,
    crypto,
  });
  const purpose = sealed === null ? null : sealPurposeOf(sealed.dictionary);
  const logged = await verifyLogged({ bytes, sealedSha256, purpose }, options.detached ?? {}, trust, { at, crypto });
  const detachedTime = earliest([detached.provenTime, logged.provenTime]);
  const carried = sealed === null ? [] : await verifyCarriedIn(sealed.dictionary, logged, trust.logs ?? []);
  const judged = { trust, detachedTime, at, crypto };
  const seal = sealed === null || pades === null ? null : await verifySeal({ ...sealed, pades, ...judged });
  const claims: Claim<ProofClaimName>[] = [
    ...reading.claims,
    ...(seal?.claims ?? []),
    ...(boundary === null ? [] : [documentHashClaim(boundary, docSha256)]),
    ...(earlier instanceof EvidenceError ? [unjudgedClaim(earlier)] : certificationClaims(earlier)),
    ...detached.claims,
    ...logged.claims,
    ...carried,
  ];
  return {
    verdict: reading.verdict ?? verdictOf(claims),
    claims,
    sealedBytes: bytes.length,
    sealedSha256: toHex(sealedSha256),
    docSha256: docSha256 === null ? null : toHex(docSha256),
    seal,
    earlierSignatures: earlier instanceof EvidenceError ? [] : earlier,
    separateTimeStamp: detached.timeStamp,
    anchoring: detached.anchoring,
    statement: proofStatement(claims, found?.signature.dictionary.entries.has("M") ?? false),
  };
}

function verdictOf(claims: readonly Claim<ProofClaimName>[]): ProofVerdict {
  const state = (name: ProofClaimName) => claims.find((one) => one.name === name)?.state;
  // The purpose may come from a newer version of the format, so an unknown purpose does not make the bytes
  // unverifiable.
  if (claims.some((one) => one.state === "fails" && one.name !== "seal_purpose")) return "not_verified";
  if (MUST_HOLD.some((name) => state(name) !== "holds")) return "not_verified";
  const isTrusted = state("seal_certificate_trusted") === "holds" && state("seal_purpose") === "holds";
  return isTrusted ? "verified" : "intact";
}

interface Reading {
  /** The verdict if it needs no claims; null when the claims determine it. */
  readonly verdict: "unsigned" | "not_a_pdf" | null;
  readonly document: PdfDocument | null;
  readonly signatures: readonly RangedSignature[];
  /** The only signature that covers the whole file. */
  readonly found: {
    readonly document: PdfDocument;
    readonly signature: RangedSignature;
    readonly range: SignedRange;
  } | null;
  readonly claims: readonly Claim<ProofClaimName>[];
}

async function readSealed(bytes: Uint8Array): Promise<Reading> {
  const nothing = { verdict: null, document: null, signatures: [], found: null } as const;
  let document: PdfDocument;
  let signatures: readonly RangedSignature[];
  try {
    document = await openUnlocked(bytes);
    signatures = withRanges(document, findSignatures(document));
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    const claims = [
      { name: "pdf_readable", state: "fails", why: `The PDF cannot be read: ${error.message}.` },
    ] as const;
    return { ...nothing, verdict: error.message === "no PDF header" ? "not_a_pdf" : null, claims };
  }
  const readable = { name: "pdf_readable", state: "holds", why: "The PDF's structure can be read." } as const;
  const [signature, another] = coveringFile(bytes.length, signatures);
  if (signature === undefined || another !== undefined || !signature.byteRange.ok) {
    const why = whyNotCovered(bytes.length, signatures);
    const claims = [readable, { name: "whole_file_covered", state: "fails", why }] as const;
    return { ...nothing, verdict: signatures.length === 0 ? "unsigned" : null, document, signatures, claims };
  }
  const { range } = signature.byteRange;
  const problem = structureProblem(document, signature, range, signatures);
  return {
    verdict: null,
    document,
    signatures,
    found: { document, signature, range },
    claims: [
      readable,
      {
        name: "whole_file_covered",
        state: "holds",
        why: `One signature covers all ${bytes.length} bytes but its own value.`,
      },
      claim("signature_structure", problem === null, "The signature sits at the end of the file.", `${problem}.`),
    ],
  };
}

async function earlierOf(
  document: PdfDocument,
  signatures: readonly RangedSignature[],
  seal: RangedSignature | null,
  trust: ProofTrust,
  at: number,
  crypto: EvidenceCrypto,
): Promise<EarlierSignature[] | EvidenceError> {
  try {
    return await verifyEarlierSignatures({ document, signatures, seal, trust, at, crypto });
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

/** Makes a failed claim for unreadable signatures. The document must not be treated like one without signatures. */
function unjudgedClaim(error: EvidenceError): Claim<ProofClaimName> {
  return { name: "certification_respected", state: "fails", why: `Its signatures were not judged: ${error.message}.` };
}

function certificationClaims(earlier: readonly EarlierSignature[]): Claim<ProofClaimName>[] {
  return earlier.flatMap(({ docMdp, closes, claims }) => {
    const changes = claims.find(({ name }) => name === "later_changes_permitted");
    if (docMdp === null && !closes) return [];
    const why = changes?.why ?? "The certification signature does not cover a revision.";
    return [{ name: "certification_respected", state: changes?.state ?? "unchecked", why }];
  });
}

function documentHashClaim(
  boundary: ReturnType<typeof originalBoundary>,
  docSha256: Uint8Array | null,
): Claim<ProofClaimName> {
  const name = "original_document_hash";
  if (boundary.kind === "wrong") return { name, state: "fails", why: `${boundary.why}.` };
  if (boundary.kind === "not-stated" || docSha256 === null) {
    return { name, state: "unchecked", why: "The seal does not say where the document as handed in ended." };
  }
  return {
    name,
    state: "holds",
    why: `The first ${boundary.length} bytes are the document: SHA-256 ${toHex(docSha256)}.`,
  };
}
