import { equalBytes } from "../bytes.ts";
import type { Claim } from "../claim.ts";
import type { Certificate } from "../x509/certificate.ts";

/** Why a certificate is retired: the reasons of RFC 5280, section 5.3.1, that fit a seal's, with hyphens. */
export const retirementReasons = [
  "unspecified",
  "key-compromise",
  "ca-compromise",
  "affiliation-changed",
  "superseded",
  "cessation-of-operation",
  "privilege-withdrawn",
] as const;

/** A certificate whose seals count no longer from an instant on. */
export type RetiredCertificate = {
  readonly certificate: Certificate;
  /** Epoch ms. */
  readonly retiredAt: number;
  /** One of `retirementReasons`; any other text counts like a compromise. */
  readonly reason: string;
};

/** For these nobody else is thought to have the key: a seal of unproven time is not refused. */
const KEY_STAYS_SAFE: ReadonlySet<string> = new Set(["superseded", "affiliation-changed", "cessation-of-operation"]);

/** Whether a certificate was retired for a reason that leaves its key to its owner alone. */
export const keyStaysSafe = (reason: string): boolean => KEY_STAYS_SAFE.has(reason);

/** Certificates of one key are all worth nothing once others have it. */
const isRetired =
  (certificate: Certificate) =>
  ({ certificate: retired, reason }: RetiredCertificate): boolean =>
    equalBytes(retired.der, certificate.der) || (!keyStaysSafe(reason) && equalBytes(retired.spki, certificate.spki));

/**
 * What retirement makes of a seal; nothing where its certificates are not retired. Only a time that a trusted authority
 * stamped can save a seal: its own word on the time counts against it alone.
 *
 * @param path the seal's own certificate, and those above it
 * @param provenTime the earliest time of a trusted token in the seal, epoch ms; null for none
 * @param claimedTime what the seal itself says of its time, epoch ms; null where it says nothing that can be read
 */
export function retirementClaims(
  path: readonly Certificate[],
  retired: readonly RetiredCertificate[],
  provenTime: number | null,
  claimedTime: number | null,
): Claim<"seal_certificate_not_retired">[] {
  const found = path.flatMap((certificate) => retired.filter(isRetired(certificate)));
  const claims = found.map((one) => retirementClaim(one, provenTime, claimedTime));
  const worst =
    claims.find(({ state }) => state === "fails") ?? claims.find(({ state }) => state === "unchecked") ?? claims[0];
  return worst === undefined ? [] : [worst];
}

function retirementClaim(
  { retiredAt, reason }: RetiredCertificate,
  provenTime: number | null,
  claimedTime: number | null,
): Claim<"seal_certificate_not_retired"> {
  const name = "seal_certificate_not_retired";
  const retirement = `The certificate was retired on ${new Date(retiredAt).toISOString()} (${reason})`;
  if (provenTime !== null && provenTime < retiredAt) {
    return { name, state: "holds", why: `${retirement}. A trusted time stamp proves that the seal is older.` };
  }
  if (provenTime !== null) {
    return { name, state: "fails", why: `${retirement}, and the seal was first stamped after that.` };
  }
  if (!keyStaysSafe(reason)) {
    return { name, state: "fails", why: `${retirement}, and no trusted time stamp proves that the seal is older.` };
  }
  if (claimedTime !== null && claimedTime >= retiredAt) {
    return { name, state: "fails", why: `${retirement}, and the seal itself says that it was made after that.` };
  }
  return {
    name,
    state: "unchecked",
    why: `${retirement}. No trusted time stamp tells whether the seal is older; its key was not said to be stolen.`,
  };
}
