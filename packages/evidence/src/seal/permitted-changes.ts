import { type Claim, claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { isWithin, type LaterChanges, permits } from "../pdf/changes/changes.ts";
import type { PdfDictionary } from "../pdf/values.ts";
import { verifyChain } from "../x509/chain.ts";
import { claimedTimeOf } from "./claimed-time.ts";
import type { PadesVerification } from "./pades.ts";
import { type SealPurpose, sealPurposeOf } from "./purpose.ts";
import { retirementClaims } from "./retirement.ts";
import type { SealTrust } from "./verify-seal.ts";

/** A seal of the service in a document, with a certificate that the caller trusts. */
export type OwnSeal = {
  /** Offset of the seal's object. */
  readonly start: number;
  /** The index of the seal's revision, counted from the newest, which is 0; -1 when unknown. */
  readonly revision: number;
  readonly purpose: SealPurpose;
};

/**
 * The purpose that a signature dictionary states, if it is written like the service's seals; otherwise null. Doesn't
 * decide on trust.
 */
export function sealFormOf(dictionary: PdfDictionary): SealPurpose | null {
  return dictionary.entries.has("SSSOriginalLength") ? sealPurposeOf(dictionary) : null;
}

/**
 * True if the certificate of a valid signature is a trusted seal certificate. When the signature was made, the
 * certificate must have been valid and not retired. That time is the proven time. If no time is proven, it is the time
 * that the signature states.
 */
export async function isTrustedSeal(
  dictionary: PdfDictionary,
  { valid, certificate: leaf, certificates: intermediates, timeStamps }: PadesVerification,
  { sealAnchors: anchors, retired = [] }: SealTrust,
  at: number,
  crypto: EvidenceCrypto,
): Promise<boolean> {
  if (!valid || leaf === null || leaf.isSigners || anchors.length === 0) return false;
  const times = timeStamps.flatMap(({ trusted, genTime }) => (trusted && genTime !== null ? [genTime] : []));
  const provenTime = times.length === 0 ? null : Math.min(...times);
  const claimedTime = claimedTimeOf(dictionary);
  const instant = provenTime ?? claimedTime ?? at;
  const chain = await verifyChain({ leaf, intermediates, anchors, at: instant, purpose: "documentSigning", crypto });
  if (!chain.valid) return false;
  const path = [leaf, ...intermediates, ...chain.path];
  const instants = { provenTime, stampedTime: provenTime, claimedTime };
  return !retirementClaims(path, retired, instants).some(({ state }) => state === "fails");
}

/**
 * `signed_elsewhere` has the same effect as `signed`. An operator can record a document that was signed elsewhere. The
 * order then continues as if the document had been signed in the service.
 */
const isOfSigners = ({ kind }: SealPurpose): boolean => kind === "signed" || kind === "signed_elsewhere";
const isOfNotary = ({ kind }: SealPurpose): boolean => kind === "notarized" || kind === "notarized_elsewhere";

/**
 * True if the changes after a seal of the service are permitted in a final document: validation data, time stamps, and
 * more invisible seals of the service. After a seal over signers' acts, the order's notary may also make the changes
 * that `permission` allows, up to a seal for the notarization.
 *
 * @param seals all seals of the service in the document
 * @param permission the strictest permission (/P) that the seal itself states or inherits
 */
export function isClosedBehind(
  { revision, purpose }: OwnSeal,
  later: LaterChanges,
  seals: readonly OwnSeal[],
  permission: 1 | 2 | 3 | null,
): boolean {
  const ends = seals.filter(
    (one) =>
      isOfSigners(purpose) &&
      isOfNotary(one.purpose) &&
      one.purpose.environment === purpose.environment &&
      one.revision < revision,
  );
  const end = Math.max(-1, ...ends.map((one) => one.revision));
  const starts: ReadonlySet<number | undefined> = new Set(seals.map(({ start }) => start));
  return later.revisions.every(({ level, invisible }, index) => {
    const isNotary = end >= 0 && revision - 1 - index >= end;
    if (isNotary) return permits(permission, level);
    const areSeals = level === "invisible" && invisible.every((start) => starts.has(start));
    return areSeals || isWithin(level, "validation");
  });
}

export const VANISHED = {
  name: "signature_present",
  state: "fails",
  why: "A later revision took the signature away.",
} as const;

const SHOWS = "Something that shows was added after this signature.";

const PERMITTED = {
  1: "no changes",
  2: "form values and signatures in the fields that are there",
  3: "form values, signatures and annotations",
} as const;

/**
 * Makes the claim that a signature permits the changes of later revisions.
 *
 * @param gone whether a later revision removed the signature
 * @param permission the strictest permission that the signature states or inherits
 * @param closed whether all of these changes are permitted in a final document
 * @param isAct whether the signature is a signer's act, after which nobody may fill a read-only field
 */
export function laterChangesClaim(
  gone: boolean,
  later: LaterChanges | undefined,
  permission: 1 | 2 | 3 | null,
  closed: boolean,
  isAct: boolean,
): Claim<"later_changes_permitted"> {
  const name = "later_changes_permitted";
  if (gone) return { ...VANISHED, name };
  if (later === undefined) return { name, state: "unchecked", why: "There is no revision to compare with." };
  if (!later.covered)
    return { name, state: "fails", why: "There is no revision that later ones could be compared with." };
  const { lockedField, readOnlyField } = later;
  if (lockedField !== null) {
    const what = lockedField === "" ? "what all fields are drawn by" : `the field "${lockedField}"`;
    return { name, state: "fails", why: `A later revision changed ${what}, which the signature locks.` };
  }
  if (isAct && readOnlyField !== null) {
    return { name, state: "fails", why: `A later revision changed the read-only field "${readOnlyField}".` };
  }
  if (!closed) {
    const why = `The document was sealed as finished, and later revisions did more than add invisible seals of the service or time stamps: ${later.level}.`;
    return { name, state: "fails", why };
  }
  return claim(
    name,
    permits(permission, later.level),
    `Later revisions changed: ${later.level}.${isWithin(later.level, "forms") ? "" : ` ${SHOWS}`}`,
    permission === null
      ? `Later revisions changed more than form values and signatures: ${later.level}.`
      : `The signature permits ${PERMITTED[permission]} (level ${permission}), and later revisions changed: ${later.level}.`,
  );
}
