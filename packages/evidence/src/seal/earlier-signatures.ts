import type { Claim } from "../claim.ts";
import { claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import { type ChangeLevel, laterChanges, lockPermission } from "../pdf/changes/changes.ts";
import type { PdfDocument } from "../pdf/document.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { type RangedSignature, withRanges } from "../pdf/structure.ts";
import type { Certificate } from "../x509/certificate.ts";
import { claimedTimeOf } from "./claimed-time.ts";
import { judgeEach } from "./judged-signatures.ts";
import type { PadesVerification } from "./pades.ts";
import { isClosedBehind, laterChangesClaim, sealFormOf, VANISHED } from "./permitted-changes.ts";
import { lockInItsState, vanishedSignatures } from "./vanished-signatures.ts";
import type { SealTrust } from "./verify-seal.ts";

export type EarlierClaimName = "signature_present" | "revision_covered" | "signature_valid" | "later_changes_permitted";

/**
 * A signature that is older than the seal. The verdict on the seal depends on this signature only in two cases: the
 * signature restricts later changes (/P), or is a trusted seal of the service.
 */
export interface EarlierSignature {
  readonly claims: readonly Claim<EarlierClaimName>[];
  readonly pades: PadesVerification | null;
  /** The time in the signature dictionary, epoch ms. It is only the signer's own statement. */
  readonly claimedTime: number | null;
  /** End of the revision that the signature covers; null when its /ByteRange is unusable. */
  readonly revisionEnd: number | null;
  /**
   * The most serious change in later revisions. Also `other` if a later revision can't be compared, or removed the
   * signature. Null when the /ByteRange is unusable, or the signature's dictionary is in an object stream.
   */
  readonly laterChanges: ChangeLevel | null;
  /** The stricter of the permissions (/P) in the signature's certification and in its lock; null without either. */
  readonly docMdp: 1 | 2 | 3 | null;
  /** True if the signature is a trusted seal of the service that makes the document final. */
  readonly closes: boolean;
  /** True if the signature claims to be a signer's act, even if a later revision removed it. */
  readonly isAct: boolean;
}

const MAX_SIGNATURES = 64;

/**
 * Verifies every signature except the seal, each over its own revision. Also classifies the changes after that
 * revision. Includes signatures that a later revision removed.
 *
 * @param signatures the signatures of the document, including the seal
 * @param seal the signature that covers the whole file
 * @throws EvidenceError `limit` when there are more than 64
 */
export async function verifyEarlierSignatures(input: {
  readonly document: PdfDocument;
  readonly signatures: readonly RangedSignature[];
  readonly seal: RangedSignature | null;
  readonly trust: SealTrust;
  readonly at: number;
  readonly crypto: EvidenceCrypto;
}): Promise<EarlierSignature[]> {
  const { document } = input;
  const others = input.signatures.filter((signature) => signature !== input.seal);
  const present = withRanges(document, others, "foreign");
  const vanished = await vanishedSignatures(document, input.signatures, MAX_SIGNATURES - present.length);
  const all = [...present, ...vanished].sort((one, other) => (one.start ?? -1) - (other.start ?? -1));
  if (all.length > MAX_SIGNATURES) throw new EvidenceError("limit", `more than ${MAX_SIGNATURES} signatures`);
  const comparable = all.flatMap((signature) => {
    const { byteRange, start, dictionary } = signature;
    return byteRange.ok && start !== undefined ? [{ signature, dictionary, start, end: byteRange.range.end }] : [];
  });
  const compared = laterChanges(document, comparable);
  const changes = new Map(comparable.map(({ signature }, index) => [signature, compared[index]]));
  const locks = new Map<RangedSignature, 1 | 2 | 3 | null>();
  for (const { signature, end } of comparable) {
    const later = changes.get(signature);
    // The signature's locks apply even if later revisions can't be compared with the signed revision.
    locks.set(
      signature,
      later?.covered
        ? later.lockPermission
        : strictest(await lockInItsState(document, signature, end), lockPermission(document, signature)),
    );
  }
  const judged = await judgeEach(document, all, changes, input);
  const seals = [...judged.values()].flatMap(({ own }) => own ?? []);
  const last = input.seal === null ? null : sealFormOf(input.seal.dictionary);
  // The signature that covers the whole file is treated as a seal here, even if it is not trusted. Other claims report
  // whether it is trusted.
  if (last !== null && input.seal?.start !== undefined) {
    seals.push({ start: input.seal.start, revision: 0, purpose: last });
  }
  return all.map((signature) => {
    const { byteRange, dictionary } = signature;
    const later = changes.get(signature);
    const gone = vanished.includes(signature);
    const docMdp = strictest(signature.docMdp ?? null, locks.get(signature) ?? null);
    const { pades = null, own = null } = judged.get(signature) ?? {};
    const isAct = dictionary.entries.has("SSSActSha256");
    if (!byteRange.ok || pades === null) {
      const problem = byteRange.ok ? "it is not judged" : byteRange.problem;
      const why = `The signature does not cover a revision (${problem}).`;
      const claims = [{ name: "revision_covered", state: "fails", why }] as const;
      return { claims, pades, claimedTime: null, revisionEnd: null, laterChanges: null, docMdp, closes: false, isAct };
    }
    const permission = docMdp ?? inherited(signature, all);
    const closed = own === null || later === undefined || isClosedBehind(own, later, seals, permission);
    return {
      claims: [
        ...(gone ? [VANISHED] : []),
        coverageClaim(byteRange.range.end, gone || later?.covered === true),
        signatureClaim(pades),
        laterChangesClaim(gone, later, permission, closed, isAct),
      ],
      pades,
      claimedTime: claimedTimeOf(dictionary),
      revisionEnd: byteRange.range.end,
      laterChanges: gone ? "other" : (later?.level ?? null),
      docMdp,
      closes: own !== null,
      isAct,
    };
  });
}

/**
 * Verifies every signature of a PDF over its own revision, and classifies the changes after it. Treats no signature
 * as a seal.
 *
 * @param at the instant of the verification, epoch ms
 * @throws EvidenceError for an unreadable file, or one with more than 64 signatures
 */
export async function verifySignatures(
  bytes: Uint8Array,
  tsaAnchors: readonly Certificate[],
  at: number,
  crypto: EvidenceCrypto,
): Promise<EarlierSignature[]> {
  const document = await openUnlocked(bytes);
  const signatures = withRanges(document, findSignatures(document));
  return verifyEarlierSignatures({
    document,
    signatures,
    seal: null,
    trust: { sealAnchors: [], tsaAnchors },
    at,
    crypto,
  });
}

function strictest(one: 1 | 2 | 3 | null, other: 1 | 2 | 3 | null): 1 | 2 | 3 | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/**
 * The permission (/P) that a signature without its own /P inherits. It is 3 (annotations are permitted) when an earlier
 * signature certified the document with /P 3; otherwise null.
 */
function inherited(signature: RangedSignature, all: readonly RangedSignature[]): 3 | null {
  const certified = all.find(({ docMdp }) => docMdp !== undefined);
  return certified?.docMdp === 3 && (certified.start ?? 0) < (signature.start ?? 0) ? 3 : null;
}

function coverageClaim(end: number, covered: boolean): Claim<EarlierClaimName> {
  return claim(
    "revision_covered",
    covered,
    `The signature covers the first ${end} bytes, which are a revision of their own.`,
    "The bytes that the signature covers are not a revision that contains it.",
  );
}

function signatureClaim(pades: PadesVerification): Claim<EarlierClaimName> {
  if (pades.outdated !== null) {
    const why = `It was made with ${pades.outdated}, which is old and proves nothing any more: it was not judged.`;
    return { name: "signature_valid", state: "unchecked", why };
  }
  return claim(
    "signature_valid",
    pades.valid,
    "The signature is valid over the bytes it covers. Who made it was not checked.",
    `${failedWhy(pades) ?? pades.problem ?? "The signature is not valid"}.`,
  );
}

function failedWhy({ claims, timeStamps }: PadesVerification): string | undefined {
  return [...claims, ...timeStamps.flatMap((one) => one.claims)].find(({ state }) => state === "fails")?.why;
}
