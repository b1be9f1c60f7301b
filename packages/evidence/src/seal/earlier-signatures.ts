import type { Claim } from "../claim.ts";
import { claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import { type ChangeLevel, changesSince, permits } from "../pdf/changes.ts";
import type { PdfDocument } from "../pdf/document.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import type { RangedSignature } from "../pdf/structure.ts";
import type { Certificate } from "../x509/certificate.ts";
import { type PadesVerification, verifyPades } from "./pades.ts";

export type EarlierClaimName = "revision_covered" | "signature_valid" | "later_changes_permitted";

/** A signature that was in the document before it was sealed: a finding, on which the seal's verdict does not rest. */
export interface EarlierSignature {
  readonly claims: readonly Claim<EarlierClaimName>[];
  readonly pades: PadesVerification | null;
  /** End of the revision that it covers; null when its /ByteRange is not usable. */
  readonly revisionEnd: number | null;
  /** What later revisions did, at most. */
  readonly laterChanges: ChangeLevel | null;
  /** /P of a certification. */
  readonly docMdp: 1 | 2 | 3 | null;
}

const MAX_SIGNATURES = 64;

/**
 * Verifies the signatures other than the seal, each over its own revision, and classifies what came later.
 *
 * @throws EvidenceError `limit` when there are more than 64
 */
export async function verifyEarlierSignatures(input: {
  readonly document: PdfDocument;
  readonly signatures: readonly RangedSignature[];
  readonly tsaAnchors: readonly Certificate[];
  readonly at: number;
  readonly crypto: EvidenceCrypto;
}): Promise<EarlierSignature[]> {
  if (input.signatures.length > MAX_SIGNATURES) throw new EvidenceError("limit", "There are too many signatures");
  const { document, tsaAnchors, at, crypto } = input;
  const results: EarlierSignature[] = [];
  for (const signature of input.signatures) {
    const { byteRange, dictionary } = signature;
    const docMdp = signature.docMdp ?? null;
    if (!byteRange.ok) {
      const why = `The signature does not cover a revision (${byteRange.problem}).`;
      const claims = [{ name: "revision_covered", state: "fails", why }] as const;
      results.push({ claims, pades: null, revisionEnd: null, laterChanges: null, docMdp });
      continue;
    }
    const { range } = byteRange;
    const pades = await verifyPades({ dictionary, range, sealAnchors: [], tsaAnchors, at, crypto });
    const revision = await revisionOf(document, signature, range.end);
    const laterChanges = revision === null ? null : changesSince(document, revision);
    results.push({
      claims: [
        claim(
          "revision_covered",
          revision !== null,
          `The signature covers the first ${range.end} bytes, which are a revision of their own.`,
          "The bytes that the signature covers are no revision that holds it.",
        ),
        claim(
          "signature_valid",
          pades.valid,
          "The signature is valid over the bytes it covers. Who made it was not checked.",
          `${failedWhy(pades) ?? pades.problem ?? "The signature is not valid"}.`,
        ),
        laterChangesClaim(laterChanges, signature.docMdp),
      ],
      pades,
      revisionEnd: range.end,
      laterChanges,
      docMdp,
    });
  }
  return results;
}

/** The revision that ends where the signature's range ends, when that revision's own form holds the signature. */
async function revisionOf(document: PdfDocument, signature: RangedSignature, end: number): Promise<PdfDocument | null> {
  try {
    const revision = await openUnlocked(document.bytes.subarray(0, end), document.budget);
    return findSignatures(revision).some(({ start }) => start === signature.start) ? revision : null;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function laterChangesClaim(level: ChangeLevel | null, docMdp: 1 | 2 | 3 | undefined): Claim<EarlierClaimName> {
  const name = "later_changes_permitted";
  if (level === null) return { name, state: "unchecked", why: "There is no revision to compare with." };
  return claim(
    name,
    permits(docMdp ?? 3, level),
    `Later revisions changed: ${level}.`,
    docMdp === undefined
      ? "Later revisions changed more than signatures, form values and annotations."
      : `The certification allows changes of level ${docMdp}, and later revisions changed: ${level}.`,
  );
}

function failedWhy({ claims, timeStamps }: PadesVerification): string | undefined {
  return [...claims, ...timeStamps.flatMap((one) => one.claims)].find(({ state }) => state === "fails")?.why;
}
